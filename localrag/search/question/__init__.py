"""What a question says by itself, before anything is looked up."""
