"""Japanese statutes: citations, names of laws, references between provisions."""
