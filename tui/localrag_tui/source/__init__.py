"""The source pane: a document at its quotation, its references as links, what is tied to it."""
