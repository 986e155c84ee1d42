"""From files to a searchable corpus: adding documents, building indexes."""
