"""The properties: what every implementation must obey, by subject, in reading order."""

SUBJECTS = (
    "frequencies",
    "rotation",
    "relative_position",
    "decoding",
    "projection_calls",
    "purity",
    "repeated_calls",
)
