"""From files to a searchable corpus: add documents, build indexes, update laws, remove."""
