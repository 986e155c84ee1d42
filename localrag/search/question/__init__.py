"""What a question says, before any search."""
