"""Questions over a whole collection, after PR3: meta knowledge summaries, synthetic questions."""
