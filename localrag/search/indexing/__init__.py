"""Makes the indexes of a corpus and says whether they are current."""
