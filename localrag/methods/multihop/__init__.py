"""Ways of answering questions that take several steps, after papers on multi-hop questions."""
