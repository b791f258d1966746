"""What a newcomer sees first: sample documents, the pipeline over them, and two-clock questions."""
