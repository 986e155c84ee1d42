"""Reading: the tree of a corpus, type-ahead over its laws, two provisions side by side."""
