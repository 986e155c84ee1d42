"""Characters, numerals, dates and notes: what every other room reads and shows."""
