"""A terminal for tests: what is written to it, and what is to be seen there in the end."""

import contextlib
import fcntl
import os
import pty
import struct
import termios
import threading


class Terminal:
    """A terminal of some width: `file` is written to, and `written` holds all that was."""

    def __init__(self, width):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        self.file = open(theirs, "w", encoding="utf-8")  # noqa: SIM115 - closed by `written`
        self.width = width
        self._bytes = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        # The end of a terminal that nobody writes to any more is an error on Linux.
        with contextlib.suppress(OSError):
            while part := os.read(self._ours, 4096):
                self._bytes += part

    def written(self):
        """All that was written, once nobody writes any more."""
        self.file.close()
        self._reader.join()
        os.close(self._ours)
        return self._bytes.decode("utf-8").replace("\r\n", "\n")


def lines(written, width):
    """The lines that are seen after all was written, as a terminal shows them; none is wrapped."""
    shown, column = [[]], 0
    for letter in written:
        assert letter in "\r\n" or letter.isprintable(), f"{letter!r} is an escape"
        if letter == "\n":
            shown.append([])
        if letter in "\r\n":
            column = 0
            continue
        shown[-1][column : column + 1] = [letter]
        column += 1
        assert column < width, "the last column is used"
    return ["".join(line).rstrip() for line in shown]
