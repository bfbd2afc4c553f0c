"""The command that starts a zygote: with little of this environment, seeing little of the disk."""

from __future__ import annotations

import json
import os
import sys
import sysconfig
from pathlib import Path

import numpy as np

from .. import threads
from .levels import Level

PACKAGE = Path(__file__).resolve().parent.parent

_ENVIRONMENT = {
    "PATH": os.defpath,
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # The order of a set is the same in every run.
    **dict.fromkeys(threads.NAMES, "1"),
}
# What decides how numpy computes, and so the last bits of an answer, is the same on both sides.
_NUMERIC = ("OPENBLAS_", "MKL_", "BLIS_", "NVPL_", "NPY_")
# The package is not imported but stands in: only what the zygote asks for is loaded from it.
BEGIN = """
import sys, types, json
facts = json.loads(sys.argv[1])
package = types.ModuleType("rope_kv")
package.__path__ = [facts.pop("package")]
sys.modules["rope_kv"] = package
where = facts.pop("numpy")
sys.path.append(where)
import numpy
sys.path.remove(where)
from rope_kv.sandbox.zygote import main
main(**facts)
"""


def environment() -> dict[str, str]:
    """Return the environment of a zygote."""
    numeric = {name: os.environ[name] for name in os.environ if name.startswith(_NUMERIC)}
    return numeric | _ENVIRONMENT


def command(level: Level, descriptor: int, memory: int) -> list[str]:
    """Return the command that starts a zygote."""
    packages = Path(np.__file__).parent.parent
    numpy_folders = [packages / "numpy", packages / "numpy.libs"]
    library = Path(sysconfig.get_path("stdlib"))
    facts = {
        "package": str(PACKAGE),
        "numpy": str(packages),
        "descriptor": descriptor,
        "level": level,
        "memory": memory,
        "readable": [str(path) for path in (*_standard_library(library), *numpy_folders)],
        "needed": [str(library / "os.py"), np.__file__],
    }
    # Not -I: it would ignore PYTHONHASHSEED. The rest of the environment is ours already.
    python = os.path.realpath(sys.executable)
    words = [python, "-P", "-s", "-S", "-B", "-c", BEGIN, json.dumps(facts)]
    if level != "bwrap":
        return words
    visible = [
        Path("/usr"), Path("/lib"), Path("/lib64"), Path("/etc/ld.so.cache"),
        Path(python), Path(sys.base_prefix, "lib"), library, *numpy_folders,
        PACKAGE / "sandbox", PACKAGE / "testing",
    ]  # fmt: skip
    binds = [word for path in visible for word in ("--ro-bind-try", str(path), str(path))]
    # Not --die-with-parent: that is when the thread ends which started it. A zygote ends when its
    # control socket is closed.
    return [
        "bwrap", "--unshare-all", "--new-session", "--cap-drop", "ALL",
        "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *binds, "--chdir", "/",
        "--", *words,
    ]  # fmt: skip


def _standard_library(library: Path) -> list[Path]:
    """Return what makes up the standard library, without the packages that were installed."""
    folders = {library, Path(sysconfig.get_path("platstdlib"))}
    return [
        path
        for folder in folders
        if folder.is_dir()
        for path in folder.iterdir()
        if path.name not in ("site-packages", "dist-packages")
    ]
