"""Grading: what a whole class handed in, checked one by one, and what came of it."""
