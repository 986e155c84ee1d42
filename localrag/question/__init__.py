"""What a question says besides its words: what it asks for, in which words of the law."""
