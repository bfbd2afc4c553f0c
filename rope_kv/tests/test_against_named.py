"""--against: how an old version is named, and what is refused in one sentence."""

import subprocess
from pathlib import Path

import pytest
from refactored import OLD, prepare, run, written

from rope_kv import check
from rope_kv.testing.loading import SpecError


@pytest.fixture(autouse=True)
def _prepared(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)


@pytest.fixture
def repository(tmp_path):
    """A repository with two commits of attention.py: before and after a wrong refactor."""

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for source in ("old", "preallocated_stale"):
        (tmp_path / "lib").mkdir(exist_ok=True)
        written("lib/attention.py", source=source)
        git("add", ".")
        git("commit", "-q", "-m", source)
    return tmp_path


@pytest.mark.parametrize("isolate", ["--isolate", "--no-isolate"])
def test_an_old_version_may_be_that_of_a_commit(capsys, repository, isolate):
    new = "lib/attention.py"
    again = ("--laws", "none", "--quiet", isolate)
    status, out, _ = run(capsys, "check", new, "--against", f"git:HEAD~1:{new}", *again)
    assert status == 1
    assert f"1 broken, 10 not checked, against git:HEAD~1:{new}" in out
    status, out, _ = run(capsys, "check", new, "--against", f"git:HEAD:{new}", *again)
    assert status == 0
    assert f"0 broken, 10 not checked, against git:HEAD:{new}" in out


def test_the_path_of_a_commit_is_seen_from_here_and_the_file_may_be_gone(
    capsys, repository, monkeypatch
):
    monkeypatch.chdir("lib")
    Path("attention.py").rename("moved.py")
    given = ("check", "moved.py", "--against", "git:HEAD:attention.py", "--laws", "none", "-q")
    assert run(capsys, *given, "--no-isolate")[0] == 0


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("git:nowhere:lib/attention.py", "git knows no revision 'nowhere' in "),
        ("git:--help:lib/attention.py", "git knows no revision '--help' in "),
        ("git:HEAD:lib/other.py", "there is no file lib/other.py at HEAD: "),
        ("git:HEAD~1", "cannot tell what 'git:HEAD~1' is: give git:REV:path/to/file.py"),
        ("git:HEAD:/attention.py", "attention.py is in no git repository: name an old file"),
    ],
)
def test_what_git_has_not_is_said_in_one_sentence(capsys, repository, spec, sentence):
    status, out, err = run(capsys, "check", "lib/attention.py", "--against", spec)
    assert (status, out) == (2, "")
    assert err.startswith("rope-kv: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_where_there_is_no_git_that_is_said(capsys, repository, monkeypatch):
    monkeypatch.setenv("PATH", "")
    # Not isolated: that bwrap is not found either would be remembered, in all tests after.
    given = ("--no-isolate", "--against", "git:HEAD:lib/attention.py")
    status, _, err = run(capsys, "check", "lib/attention.py", *given)
    assert status == 2
    assert "there is no git here: install it, or name an old file" in err


# What makes no sense.


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (('"rope_freqs": False', '"layout": "half"'), "layout is 'half' in the new version and "),
        (('"rope_freqs": False', '"dtype": "float32"'), "dtype is 'float32' in the new version"),
        (("import numpy as np", "import nothing_of_the_kind"), "the old version cannot be"),
    ],
)
def test_an_old_version_that_cannot_be_compared_with_is_refused(capsys, change, sentence):
    other = written("other.py", change)
    pair = (other, OLD) if "new version" in sentence else (OLD, other)
    status, out, err = run(capsys, "check", pair[0], "--against", pair[1])
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    with pytest.raises(SpecError, match=sentence):
        check(pair[0], against=pair[1])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--exact",), "--exact is for the comparison with an old version: add --against"),
        (("--laws", "none"), "--laws none is for the comparison with an old version"),
        (("--against", OLD, "--gradescope", "out.json"), "--against gives no marks"),
        (("--against", "nothing.py"), "there is no file nothing.py"),
    ],
)
def test_options_that_make_no_sense_are_refused(capsys, arguments, sentence):
    status, _, err = run(capsys, "check", OLD, *arguments)
    assert status == 2
    assert sentence in err


def test_arguments_that_make_no_sense_are_refused():
    for more in ({"exact": True}, {"laws": "none"}, {"laws": "some", "against": OLD}):
        with pytest.raises(ValueError, match=r"give against|laws must be one of"):
            check(OLD, **more)
