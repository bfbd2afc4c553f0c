"""The folder of a class: whatever ends a run, nothing is lost, done twice or read half written."""

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import quick_checks

from rope_kv.grading.store import Store, StoreError, facts_of
from rope_kv.grading.work import Settings, digest_of

pytest.importorskip("fcntl", reason="rope-kv grade needs a system with flock")

HERE = Path(__file__).parent
OUTCOME = quick_checks.check(b"PASS by ada", Settings())
RECORD = f"state/done/{OUTCOME.digest}.jsonl"


@pytest.fixture
def store(tmp_path):
    """A class that is open."""
    store = Store(tmp_path / "out")
    with store.opened(Settings(), resume=False):
        yield store


def begun(folder):
    """A class in which something was done, that nobody uses now."""
    store = Store(folder)
    with store.opened(Settings(), resume=False):
        store.keep(OUTCOME)
    return folder


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def refused(folder, settings=None, resume=True):
    """The sentence with which a folder is refused; nothing in it is touched."""
    before = contents(folder) if folder.is_dir() else None
    with pytest.raises(StoreError) as error, Store(folder).opened(settings or Settings(), resume):
        raise AssertionError("the folder was opened")
    assert (contents(folder) if folder.is_dir() else None) == before
    return str(error.value).replace(str(folder), "OUT")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """What was seen of runs that were killed, and the folder where they all are."""
    scratch = tmp_path_factory.mktemp("killed")
    source = quick_checks.write_class(scratch / "class")
    command = [sys.executable, HERE / "killing.py", source, scratch]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert (told.returncode, told.stderr) == (0, "")
    return scratch, [json.loads(line) for line in told.stdout.splitlines()]


def test_killed_at_any_moment_a_class_goes_on_as_if_it_had_not_been(killed):
    scratch, told = killed
    *runs, undisturbed = [one for one in told if one["way"] == "at_every_moment"]
    # Settings, 5 records, 18 reports, 2 tables and the overview: each is opened and named.
    assert len(runs) > 2 * (1 + 5 + 18 + 3)
    assert {one["ended"] for one in runs} == {-signal.SIGKILL}
    assert undisturbed["ended"] == 0
    expected = quick_checks.snapshot(scratch / undisturbed["out"])
    assert len(expected) == 21
    for one in (*runs, undisturbed):
        assert (one["half"], one["again"], one["resumed"], one["unfinished"]) == ([], [], 0, 0)
        assert quick_checks.snapshot(scratch / one["out"]) == expected


def test_killed_again_and_again_a_class_still_comes_to_its_end(killed):
    scratch, told = killed
    *runs, last = [one for one in told if one["way"] == "again_and_again"]
    assert len(runs) > 5
    assert {one["ended"] for one in runs} == {-signal.SIGKILL}
    assert last["ended"] == 0
    assert [one["half"] for one in (*runs, last)] == [[]] * (len(runs) + 1)
    assert quick_checks.snapshot(scratch / "again") == quick_checks.snapshot(scratch / "at-1")
    checked = (scratch / "again.log").read_text(encoding="utf-8").split()
    # One that was killed before it was written down is checked again; there are not many.
    assert set(checked) == {digest_of(text.encode()) for text in quick_checks.CLASS.values()}


def test_what_was_kept_is_found_again(store):
    store.keep(OUTCOME)
    assert store.outcome(OUTCOME.digest) == OUTCOME
    assert store.is_done(OUTCOME.digest)
    assert not store.is_done(digest_of(b"another"))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: b"",
        lambda record: record[:-1],
        lambda record: record[: len(record) // 2],
        lambda record: record[:64],
        lambda record: bytes(len(record)),
        lambda record: record.replace(b"PASS", b"FAIL", 1),
        lambda record: record + b" ",
        lambda record: b"\xff" + record,
        lambda record: record.partition(b"\n")[2],
        lambda record: digest_of(b"[]").encode() + b"\n[]",
        lambda record: digest_of(b"{}").encode() + b"\n{}",
        lambda record: digest_of(b"[" * 9).encode() + b"\n" + b"[" * 9,
    ],
)
def test_a_record_that_is_not_whole_does_not_count(store, spoil):
    store.keep(OUTCOME)
    path = store.folder / RECORD
    path.write_bytes(spoil(path.read_bytes()))
    assert not store.is_done(OUTCOME.digest)
    store.keep(OUTCOME)
    assert store.outcome(OUTCOME.digest) == OUTCOME


def test_the_record_of_another_file_does_not_count(store):
    store.keep(OUTCOME)
    other = digest_of(b"another")
    (store.folder / RECORD).rename(store.folder / RECORD.replace(OUTCOME.digest, other))
    assert not store.is_done(other)


def test_a_record_is_on_the_disk_before_it_has_its_name(store, monkeypatch):
    told = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor):
        told.append("folder" if os.path.isdir(f"/dev/fd/{descriptor}") else "file")
        sync(descriptor)

    def named(source, target):
        told.append("name")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", named)
    store.keep(OUTCOME)
    assert told == ["file", "name", "folder"]


def test_a_full_disk_gives_a_sentence_and_no_record(store, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError) as error:
            store.keep(OUTCOME)
    assert str(error.value) == (
        f"cannot write {store.folder / RECORD}: No space left on device; what was done is kept, "
        "and --resume goes on with it"
    )
    assert not store.is_done(OUTCOME.digest)
    store.keep(OUTCOME)
    assert store.is_done(OUTCOME.digest)


def test_what_is_in_the_way_of_a_report_gives_a_sentence(store):
    (store.reports / "ada.txt").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"cannot write .*ada.txt: Is a directory; what was done"):
        store.write(store.reports / "ada.txt", "a report")
    with pytest.raises(StoreError, match=r"cannot remove .*ada.txt: "):
        store.remove(store.reports / "ada.txt")


def test_no_link_is_followed_that_was_put_where_files_are_written(store, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for place in ("state/unfinished/index.html", "index.html"):
        (store.folder / place).symlink_to(precious)
    store.write(store.folder / "index.html", "a page")
    assert precious.read_text() == "precious"
    assert not (store.folder / "index.html").is_symlink()


@pytest.mark.parametrize("place", ["state", "state/done", "state/unfinished", "reports"])
def test_a_class_in_which_a_folder_is_a_link_is_left_alone(tmp_path, place):
    out = tmp_path / "out"
    with Store(out).opened(Settings(), resume=False):
        (out / "reports").mkdir()
    (out / place).rename(tmp_path / "elsewhere")
    (out / place).symlink_to(tmp_path / "elsewhere")
    assert refused(out) == (
        f"OUT/{place} is a symbolic link, which is not followed: choose another folder for --out"
    )


def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    (tmp_path / "out/state").mkdir(parents=True)
    (tmp_path / "out/state/lock").symlink_to(tmp_path / "made")
    opened = Store(tmp_path / "out").opened(Settings(), resume=False)
    with pytest.raises(StoreError, match=r"cannot write .*/state/lock: "), opened:
        raise AssertionError("the folder was opened")
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        {"thesis.txt": "precious"},
        {".git/HEAD": "ref"},
        {"state/terraform": "precious"},
        {"state/done/ada.json": "{}"},
        {"state/unfinished/poem.txt": "precious"},
        {"state/settings.json": '{"theme": "dark"}', "state/unfinished/poem.txt": "precious"},
        {"state/settings.json": "[]"},
    ],
)
def test_a_folder_that_is_not_ours_is_not_touched(tmp_path, files, resume):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    assert refused(tmp_path, resume=resume) == (
        "OUT is not empty, and holds no class: choose another folder for --out"
    )


def test_a_file_is_no_folder_of_a_class(tmp_path):
    (tmp_path / "out").write_text("precious")
    assert refused(tmp_path / "out") == "OUT is not a folder: choose another name for --out"
    assert refused(tmp_path / "out/below") == "cannot make OUT: Not a directory"


def test_an_empty_folder_and_one_that_was_hardly_begun_are_taken(tmp_path):
    for name in ("out/state/done", "out/state/unfinished"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "out/state/lock").touch()
    (tmp_path / "out/state/unfinished/settings.json").write_text('{"half')
    for _ in range(2):
        with Store(tmp_path / "out").opened(Settings(), resume=True):
            assert os.listdir(tmp_path / "out/state/unfinished") == []


def test_a_class_in_which_nothing_was_done_may_have_other_settings(tmp_path):
    for profile in ("grade", "ci"):
        with Store(tmp_path).opened(Settings(profile=profile), resume=False):
            pass
    assert json.loads((tmp_path / "state/settings.json").read_text())["profile"] == "ci"


def test_a_class_is_gone_on_with_only_where_that_is_asked_for(tmp_path):
    assert refused(begun(tmp_path), resume=False) == (
        "OUT holds a class already: add --resume to go on with it, or choose another folder"
    )


def test_two_at_once_do_not_use_one_folder(store):
    assert refused(store.folder) == (
        "OUT is in use by another rope-kv grade: wait until it has ended"
    )


def test_who_was_overtaken_by_another_run_takes_nothing_over(tmp_path, monkeypatch):
    out, make = tmp_path / "out", Store._make

    def overtaken(self):
        monkeypatch.setattr(Store, "_make", make)
        begun(out)

    monkeypatch.setattr(Store, "_make", overtaken)
    opened = Store(out).opened(Settings(), resume=False)
    with pytest.raises(StoreError, match="holds a class already"), opened:
        raise AssertionError("the folder was opened")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (Settings(profile="ci"), "--profile grade, and this is with --profile ci"),
        (Settings(call_timeout=5.0), "--call-timeout 2.0, and this is with --call-timeout 5.0"),
        (
            Settings(time_limit=9.0),
            "no --each-time-limit, and this is with --each-time-limit 9.0",
        ),
        (
            Settings(require_isolation="kernel"),
            "no --require-isolation, and this is with --require-isolation kernel",
        ),
        (Settings(memory=256), "--memory 512, and this is with --memory 256"),
        (Settings(pictures=True), "no --pictures, and this is with --pictures"),
        (Settings(points=(("apply_rope", 4.0),)), "other --points"),
        (Settings(first=("{}",)), "other --first"),
    ],
)
def test_other_settings_are_not_mixed_into_a_class(tmp_path, settings, said):
    begun(tmp_path)
    assert refused(tmp_path, settings) == (
        f"OUT was begun with {said}: results of both would be mixed; go on with the same, or "
        "choose another folder for --out"
    )


@pytest.mark.parametrize("name", ["rope_kv", "hypothesis", "numpy", "python"])
def test_other_versions_are_not_mixed_into_a_class(tmp_path, name):
    begun(tmp_path)
    path = tmp_path / "state/settings.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {name: "0.0.1 \x1b[31m"}))
    now = facts_of(Settings())[name]
    assert refused(tmp_path).startswith(
        f"OUT was begun with {name} 0.0.1 \\x1b[31m, and this is with {name} {now}: "
    )


def test_settings_that_cannot_be_read_give_a_sentence(tmp_path):
    begun(tmp_path)
    (tmp_path / "state/settings.json").write_text('{"schema')
    assert refused(tmp_path) == (
        "OUT/state/settings.json cannot be read: choose another folder for --out"
    )
