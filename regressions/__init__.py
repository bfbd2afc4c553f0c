"""Counterexamples: one JSON file each, and the test that replays them."""
