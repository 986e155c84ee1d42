"""Documents and passages: their values, the readers that make them, the store that keeps them."""
