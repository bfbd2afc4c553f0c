"""The properties: what every implementation must obey, by subject, in reading order."""

SUBJECTS = (
    "frequencies",
    "rotation",
    "relative_position",
    "decoding",
    "projection_calls",
    "purity",
    "repeated_calls",
    # The library contract: each property of these says what must be declared for it.
    "layouts",
    "precision",
    "limits",
    "heads",
    "windows",
    "scaling",
    "sessions",
    "capacity",
    "batches",
)
