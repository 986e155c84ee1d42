"""The laws of e-Gov: fetched, checked, kept in a folder, and taken into a corpus."""
