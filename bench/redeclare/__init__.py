"""What does it cost to find out late that a relation is unique?"""
