"""The levels of isolation, each one stronger than the one before."""

from typing import Literal

Level = Literal["process", "kernel", "bwrap"]
LEVELS: tuple[Level, ...] = ("process", "kernel", "bwrap")
