"""Parts that several rooms show."""
