"""Writing a file so that no reader ever sees half of it."""

import os
from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write the content to a file beside, which then takes the name."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(content, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
