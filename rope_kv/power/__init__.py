"""Power: which property catches which known mistake, and what it adds to the others."""
