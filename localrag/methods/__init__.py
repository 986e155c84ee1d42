"""Published ways to answer, one file each, and the contract they share."""
