"""Going to a place by its name: what is typed is found while it is typed."""
