"""Reading: the source pane with links and ties, and the Read screen with the tree."""
