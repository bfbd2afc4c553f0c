"""The file of library_file.py, changed here and there, in this process and isolated."""

import contextlib
from pathlib import Path

from rope_kv.sandbox.client import open_file
from rope_kv.sandbox.submission import Limits
from rope_kv.testing.loading import load

LIBRARY = (Path(__file__).parent / "library_file.py").read_text(encoding="utf-8")


@contextlib.contextmanager
def opening(folder):
    """Give a function that opens the library in this process and isolated.

    `added` is written below it, and of `replacements` each old text is there once.
    """
    with contextlib.ExitStack() as opened:
        count = 0

        def open_both(added="", replacements=(), level=None, **limits):
            nonlocal count
            count += 1
            source = LIBRARY
            for old, new in replacements:
                assert source.count(old) == 1
                source = source.replace(old, new)
            path = folder / f"file{count}.py"
            path.write_text(source + "\n\n" + added, encoding="utf-8")
            isolated = open_file(path, level=level, limits=Limits(**limits))
            opened.callback(isolated.close)
            return load(path), isolated

        yield open_both


def method(name, body, *, of="Session"):
    """Return what gives sessions, or batches, another method."""
    return f"class {of}({of}):\n    def {name}:\n        {body}\n"


def feed(statement):
    """Return what makes `feed` do something before."""
    return method("feed(self, rows)", f"{statement}\n        return super().feed(rows)")
