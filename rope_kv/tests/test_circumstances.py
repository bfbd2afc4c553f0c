"""The commands, and pytest, where little is as usual: each in a process of its own."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rope_kv
from rope_kv import properties, regressions
from rope_kv.cli import main
from rope_kv.reports import text
from rope_kv.sandbox import kernel

PACKAGE = Path(rope_kv.__file__).parent
ODD_NAME = "ein Wég, 回転 & co"
# Python takes an ASCII locale for UTF-8 unless it is told not to.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
# Wrong in what all else needs, so that a check of it is short.
WRONG = "import numpy as np\n\n\ndef rope_freqs(d, base=1e4):\n    return np.ones(d // 2)\n"
ONE_CASE = "pair-i-turns-by-base"


def run(*arguments, cwd, without=(), at=PACKAGE.parent, preexec=None, **variables):
    """Run a module with a warning for an error, and nothing said but on standard output."""
    environment = {k: v for k, v in os.environ.items() if k not in ("CI", *without)}
    environment |= {"PYTHONWARNINGS": "error", "PYTHONPATH": str(at), **variables}
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        preexec_fn=preexec,
    )
    assert done.stderr == b"", done.stderr.decode(errors="replace")
    return done.returncode, done.stdout


def write_wrong(folder, name="wrong.py"):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(WRONG, encoding="utf-8")
    return folder


@pytest.mark.skipif(
    not (str(PACKAGE) + np.__file__).isascii(),
    reason="a locale of ASCII has no letters for the path of numpy, which cannot be imported, "
    "or of an editable install, which Python before 3.13 cannot find",
)
def test_where_there_is_only_ascii_every_report_is_written_and_every_case_kept(tmp_path):
    folder = write_wrong(tmp_path / ODD_NAME, "lösung №1.py")
    forms = ("json", "junit", "gradescope", "check50", "markdown", "html")
    named = [part for form in forms for part in (f"--{form}", f"{form} é")]
    status, out = run(
        "rope_kv", "check", "lösung №1.py", *named, "--record", "é", cwd=folder, **ASCII
    )
    assert status == 1
    assert out.decode("ascii").splitlines()[0].startswith("rope_kv 0.1.0 * l\\xdcc3\\xdcb6sung")
    assert b"law        theta_i = base^" in out
    for form in forms:
        assert "theta" not in (folder / f"{form} é").read_text(encoding="utf-8")
    kept = next((folder / "é").glob(f"{ONE_CASE}*"))
    assert json.loads(kept.read_text(encoding="utf-8"))["found"]["against"] == (
        "l\\xdcc3\\xdcb6sung \\xdce2\\xdc84\\xdc961.py"
    )
    arguments = ("-q", "-k", ONE_CASE.replace("-", "_"), "--pyargs", "rope_kv.properties")
    status, out = run(
        "pytest", "-p", "rope_kv.pytest_plugin", *arguments, "--impl", "lösung №1.py",
        cwd=folder, **ASCII,
    )  # fmt: skip
    assert (status, b"law        theta_i = base^" in out) == (1, True), out.decode("ascii")


def a_checkout(folder):
    """A folder that has what a checkout has, but for what nobody asks of it here."""
    pyproject = PACKAGE.parent / "pyproject.toml"
    if not pyproject.exists():
        pytest.skip("rope_kv is installed from a wheel: there is no checkout to copy")
    folder.mkdir()
    shutil.copy(pyproject, folder)
    leave_out = shutil.ignore_patterns("__pycache__", "tests", "known")
    for source, name in (
        (PACKAGE, "rope_kv"),
        (Path(properties.__file__).parent, "properties"),
        (Path(regressions.__file__).parent, "regressions"),
    ):
        shutil.copytree(source, folder / name, ignore=leave_out)
    return write_wrong(folder)


def powerless():
    """Take from root what lets it write where nobody may."""
    kernel.drop_root(["/this/is/nowhere"])


@pytest.fixture
def read_only(tmp_path):
    """Give a checkout in which nothing can be written."""
    folder = a_checkout(tmp_path / "checkout")
    modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(stat.S_IMODE(mode) & 0o555)
    yield folder
    for path, mode in modes.items():
        path.chmod(stat.S_IMODE(mode))


def test_a_read_only_checkout_is_enough_for_pytest(read_only):
    # The warnings are those of pyproject.toml: pytest itself warns that it cannot keep its cache.
    arguments = ("pytest", "-q", "-k", ONE_CASE.replace("-", "_"), "properties", "regressions")
    for impl, wanted in (("rope_kv", 0), ("wrong.py", 1)):
        status, out = run(
            *arguments, "--impl", impl,
            cwd=read_only, at=read_only, preexec=powerless, PYTHONWARNINGS="",
        )  # fmt: skip
        assert status == wanted, out.decode()
        assert (b" 0 broken" in out) == (wanted == 0)


def test_a_read_only_checkout_keeps_no_case_and_nobody_from_a_verdict(read_only):
    status, out = run(
        "rope_kv", "check", "wrong.py", cwd=read_only, at=read_only, preexec=powerless
    )
    assert status == 1
    assert b"rope_freqs          broken" in out
    assert b"--record DIR keeps each smallest case" in out


def test_a_checkout_may_have_any_name(tmp_path):
    folder = a_checkout(tmp_path / ODD_NAME)
    status, out = run(
        "pytest", "-q", "-k", ONE_CASE.replace("-", "_"), "properties", cwd=folder, at=folder
    )
    assert (status, b"1 held, 0 broken" in out) == (0, True), out.decode()
    for how in ("--isolate", "--no-isolate"):
        case = next((folder / "regressions").glob(f"{ONE_CASE}*")).relative_to(folder)
        status, out = run(
            "rope_kv", "replay", str(case), "--impl", "wrong.py", how, cwd=folder, at=folder
        )
        assert (status, b"wrong.py: 0 held, 1 broken of 1" in out) == (1, True)


@pytest.mark.parametrize("home", [{}, {"HOME": "/nowhere/at all"}])
def test_no_home_folder_is_needed(tmp_path, home):
    write_wrong(tmp_path)
    status, out = run(
        "rope_kv", "check", "wrong.py", "--html", "page", cwd=tmp_path, without=("HOME",), **home
    )
    assert (status, b"rope_freqs          broken" in out) == (1, True)
    assert (tmp_path / "page").exists()


def test_a_report_fits_into_40_columns(tmp_path, monkeypatch):
    terminals = pytest.importorskip("terminals", reason="there is no pty on this system")
    write_wrong(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = terminals.Terminal(40)
    monkeypatch.setattr(sys, "stdout", terminal.file)
    assert main(["check", "wrong.py", "--no-isolate"]) == 1
    lines = terminal.written().splitlines()
    assert "rope_freqs          broken   " in " ".join(lines)
    for line in lines:
        is_one_word = " " not in line[text.LABEL :].strip()  # such as a name: none is broken
        assert len(line) < 40 or is_one_word, line
