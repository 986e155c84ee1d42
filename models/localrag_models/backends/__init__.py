"""Back ends: one module or folder per runtime, each imported only where it is used."""
