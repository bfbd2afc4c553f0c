"""The machinery that turns an implementation into a verdict."""
