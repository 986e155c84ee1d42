"""Japanese statutes as such: citations, names of laws, references between provisions."""
