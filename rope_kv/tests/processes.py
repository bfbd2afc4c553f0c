"""The processes of this machine, as the kernel shows them."""

import time
from pathlib import Path

PROC = Path("/proc/self/stat")


def _facts(pid):
    """The state, the parent and the start of a process; its name may hold anything."""
    fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    return fields[0], int(fields[1]), fields[19]


def alive():
    """The parent of each process that has not ended, by its pid and when it was started."""
    found = {}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            try:
                state, parent, start = _facts(path.name)
            except OSError:  # It has just ended.
                continue
            if state not in "ZX":
                found[int(path.name), start] = parent
    return found


def below(pid):
    """All processes that come from this one."""
    parents, pids, found = alive(), [pid], set()
    for one in pids:  # It grows as children are found.
        children = {key for key, parent in parents.items() if parent == one}
        found |= children
        pids += [child for child, _ in children]
    return found


def until(condition, seconds=60):
    """Wait for a condition and return what it came to; give up where it does not come."""
    end = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return value
