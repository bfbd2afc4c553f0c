"""Runs rope-kv grade again and again, killed a little later each time: killing.py CLASS SCRATCH.

A moment is just before a file is opened to be written, takes its name, or a folder goes away.
Each line of the output is what was seen of one run that was killed and then resumed, in JSON. All
runs are forks of one process, which has imported what takes long.
"""

import json
import os
import signal
import sys
import traceback
from pathlib import Path

import quick_checks

from rope_kv import cli
from rope_kv.grading import command, grade, overview, work
from rope_kv.grading.store import Store
from rope_kv.reports import document, gradescope, html, text

IMPORTED = (command, grade, overview, document, gradescope, html, text)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def run(source, out, log, kill_at=0):
    """Grade the class in a process of its own, killed at some moment; return how it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 70
    try:
        if kill_at:
            sys.addaudithook(_killer(str(out), kill_at))
        work.check, work.check_reference = _logging(log), quick_checks.check_reference
        arguments = ["grade", str(source), "--out", str(out), "--resume", "--quiet"]
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        status = cli.main([*arguments, "--executor", "quick_checks:one_thread"])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _killer(out, moment):
    seen = 0

    def hook(event, arguments):
        nonlocal seen
        if event == "open":
            is_one = bool(arguments[2] & WRITING) and str(arguments[0]).startswith(out)
        else:
            is_one = event in ("os.rename", "os.rmdir")
        seen += is_one
        if is_one and seen == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    return hook


def _logging(log):
    def check(source, settings, expected=None):
        with open(log, "a", encoding="utf-8") as file:
            file.write(work.digest_of(source) + "\n")
        return quick_checks.check(source, settings)

    return check


def half_written(out):
    """The files with a name of their own that cannot be read to their ends."""
    done = [path.stem for path in (out / "state/done").glob("*")]
    half = [digest for digest in done if Store(out).outcome(digest) is None]
    reports = [*out.glob("reports/*.json"), *out.glob("state/*.json")]
    half += [path.name for path in reports if not _is_json(path.read_text(encoding="utf-8"))]
    for path in (*out.glob("reports/*.html"), *out.glob("index.html")):
        if not path.read_text(encoding="utf-8").endswith("</html>\n"):
            half.append(path.name)
    return half


def _is_json(content):
    try:
        json.loads(content)
    except ValueError:
        return False
    return True


def logged(log):
    return log.read_text(encoding="utf-8").split() if log.exists() else []


def at_every_moment(source, scratch):
    moment, killed = 1, True
    while killed:
        out, log = scratch / f"at-{moment}", scratch / f"at-{moment}.log"
        ended = run(source, out, log, moment)
        killed = ended == -signal.SIGKILL
        half = half_written(out)
        done = {path.stem for path in (out / "state/done").glob("*")}
        before = len(logged(log))
        status = run(source, out, log)
        again = done.intersection(logged(log)[before:])
        yield {
            "ended": ended,
            "half": half,
            "again": sorted(again),
            "resumed": status,
            **facts(out),
        }
        moment += 1


def again_and_again(source, scratch):
    out, log = scratch / "again", scratch / "again.log"
    for moment in range(4, 400, 4):
        ended = run(source, out, log, moment)
        half = half_written(out)
        yield {"ended": ended, "half": half, **facts(out)}
        if ended != -signal.SIGKILL:
            return


def facts(out):
    return {"out": out.name, "unfinished": len(list(out.glob("state/unfinished/*")))}


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    # What is imported and cached here is so in each fork.
    grade.stored_cases([])
    quick_checks.check(b"PASS", work.Settings())
    for way in (at_every_moment, again_and_again):
        for seen in way(Path(sys.argv[1]), Path(sys.argv[2])):
            print(json.dumps({"way": way.__name__, **seen}), flush=True)
