"""The analysis of a question by its wording, against the subjects and predicates of the store."""
