"""The properties: what every implementation must obey, by subject, in reading order."""

# The exercise, and all that is asked of a file which declares nothing.
EXERCISE = (
    "frequencies",
    "rotation",
    "relative_position",
    "decoding",
    "projection_calls",
    "purity",
    "repeated_calls",
)
SUBJECTS = (
    *EXERCISE,
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
# What a new version has in common with an old one, where one is named with --against.
COMPARING = ("agreement", "agreement_of_sessions")
