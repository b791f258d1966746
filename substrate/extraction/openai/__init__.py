"""The parts of the model extractor: what is asked, how a reply is read, and what of it the passage bears out."""
