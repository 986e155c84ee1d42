"""Search: a corpus searched without asking, as one types, and each stage's ranking side by side."""
