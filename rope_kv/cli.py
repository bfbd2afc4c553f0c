"""The command rope-kv.

Exit status: 0 for PASS, 1 for any other verdict on an implementation, 2 for misuse or a fault
of our own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from . import __version__, traps

if TYPE_CHECKING:
    from .testing.verdict import Result

PROFILES = ("grade", "dev", "ci", "hunt")
SPEC_HELP = "file.py, file.py:name, a module, or module:name"
RECORD_HELP = (
    "keep each smallest counterexample as a file in DIR "
    "(default: regressions/, where the current folder has one)"
)


class Misuse(Exception):  # noqa: N818 - not an error of the program
    """What was asked for cannot be done; the message says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    # One thread is faster for small matrices, and the same on every machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # Closed by the shell: there is nobody to tell.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except Misuse as misuse:
        print(f"rope-kv: {misuse}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        where = f" {error.filename}" if error.filename else " the output"
        print(f"rope-kv: cannot use{where}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        print("rope-kv: interrupted", file=sys.stderr)
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rope-kv",
        description="Find the bug in an implementation of rotary position embeddings (RoPE) "
        "and of a KV cache.",
    )
    parser.add_argument("--version", action="version", version=f"rope_kv {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        sub.set_defaults(run=run)
        return sub

    check = command("check", _check, "say whether an implementation is right, and what is wrong")
    check.add_argument("implementation", metavar="IMPL", help=SPEC_HELP)
    check.add_argument("--profile", choices=PROFILES, default="grade", help="how long to search")
    check.add_argument(
        "--json",
        metavar="FILE",
        help="write the verdict as JSON, to a new file or over an older verdict; - is stdout",
    )
    _add_record(check)

    replay = command("replay", _replay, "run stored counterexamples, and nothing else")
    replay.add_argument(
        "places",
        metavar="FILE_OR_DIR",
        nargs="*",
        type=Path,
        help="counterexamples (default: regressions/, or those that rope_kv brings along)",
    )
    replay.add_argument("--impl", metavar="IMPL", default="rope_kv", help=SPEC_HELP)

    new = command("new", _new, "write a file to start from: three functions to fill in")
    new.add_argument("file", metavar="FILE", type=Path)

    command("properties", _properties, "list the properties: law, and what each catches")

    trap = command("traps", _traps, "list known mistakes, or print one as a file to try")
    trap.add_argument("name", metavar="NAME", nargs="?")
    trap.add_argument("--path", action="store_true", help="print where the file is")
    return parser


def _add_record(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--record", metavar="DIR", type=_folder, help=RECORD_HELP)
    group.add_argument("--no-record", action="store_true", help="keep no counterexample")


def _check(options: argparse.Namespace) -> int:
    from .reports import text
    from .reports.document import document
    from .testing.check import check
    from .testing.counterexample import where_to_record
    from .testing.loading import SpecError

    record = where_to_record(options.record, options.no_record)
    if options.json is not None:
        _refuse_to_overwrite(options.json)
    to_stdout = options.json == "-"
    if not to_stdout:
        _print(text.heading(options.implementation, options.profile, __version__))
    keeps_nothing = options.profile in ("grade", "ci")
    try:
        with _no_hypothesis_files() if keeps_nothing else contextlib.nullcontext():
            verdict = check(options.implementation, profile=options.profile, record=record)
    except SpecError as error:
        raise Misuse(str(error)) from None
    if options.json:
        _write_json(options.json, document(verdict))
    if not to_stdout:
        _print("\n" + text.report(verdict, options.implementation))
        if verdict.verdict == "FAIL" and record is None and not options.no_record:
            _print("      --record DIR keeps each smallest case as a file to replay")
    if verdict.verdict == "GRADER_ERROR":
        print(text.errors(verdict), file=sys.stderr)
        return 2
    return 0 if verdict else 1


def _replay(options: argparse.Namespace) -> int:
    from .reports import text
    from .testing.counterexample import CounterexampleError, files_in, load, stored
    from .testing.loading import LoadError, SpecError
    from .testing.loading import load as load_implementation
    from .testing.search import replay

    for place in options.places:
        if not place.exists():
            raise Misuse(f"there is no {place}")
    files = files_in(options.places or [stored()])
    if not files:
        raise Misuse(f"no counterexample in {', '.join(map(str, options.places)) or stored()}")
    try:
        impl = load_implementation(options.impl)
        examples = [load(path) for path in files]
    except (SpecError, CounterexampleError) as error:
        raise Misuse(str(error)) from None
    except LoadError as error:
        _print(f"LOAD_ERROR  {error}")
        return 1
    outcomes = []
    for example in examples:
        result: Result = replay(example.property, impl, example.case)
        outcomes.append(result.outcome)
        if result.outcome == "broken":
            _print(text.failure(result, options.impl))
            _print(f"  {'stored in':<11}{example.path}\n")
        elif result.outcome == "error":
            print(f"{example.path}: {result.message}", file=sys.stderr)
    broken = outcomes.count("broken")
    _print(f"{options.impl}: {outcomes.count('held')} held, {broken} broken of {len(outcomes)}")
    if "error" in outcomes:
        return 2
    return 1 if broken else 0


def _new(options: argparse.Namespace) -> int:
    if options.file.suffix != ".py":
        raise Misuse(f"the name of the new file must end in .py, found {str(options.file)!r}")
    skeleton = (Path(__file__).parent / "skeleton.py").read_text(encoding="utf-8")
    try:
        with options.file.open("x", encoding="utf-8") as file:
            file.write(skeleton)
    except FileExistsError:
        raise Misuse(f"{options.file} exists already: choose another name") from None
    except OSError as error:
        raise Misuse(f"cannot write {options.file}: {error.strerror}") from None
    command = shlex.join(["rope-kv", "check", str(options.file)])
    _print(f"{options.file}: fill in the three functions, then  {command}")
    return 0


def _properties(options: argparse.Namespace) -> int:
    from .reports import text
    from .testing.property import all_properties

    subject = ""
    for prop in all_properties():
        if prop.subject != subject:
            subject = prop.subject
            _print(f"\n{subject.replace('_', ' ')}\n")
        _print(text.property_line(prop))
    return 0


def _traps(options: argparse.Namespace) -> int:
    if options.name is None:
        if options.path:
            raise Misuse("--path needs the NAME of a trap; `rope-kv traps` lists them")
        for trap in traps.all_traps():
            _print(f"{trap.name:<32} {trap.slip}")
        return 0
    try:
        trap = traps.find_trap(options.name)
    except traps.NoTrapError:
        raise Misuse(f"there is no trap {options.name!r}: `rope-kv traps` lists them") from None
    _print(str(trap.path) if options.path else trap.path.read_text(encoding="utf-8").rstrip())
    return 0


def _folder(name: str) -> Path:
    if not name:
        raise argparse.ArgumentTypeError("the name of a folder is missing")
    path = Path(name)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{name} is not a folder")
    return path


def _refuse_to_overwrite(target: str) -> None:
    """Raise Misuse where the verdict would take the place of anything but an older verdict."""
    path = Path(target)
    if target == "-" or (target and not path.exists() and path.parent.is_dir()):
        return
    if not target or not path.is_file():
        raise Misuse(f"cannot write {target!r}: it is not a file in a folder that exists")
    try:
        older = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        older = None
    if not isinstance(older, dict) or not str(older.get("schema")).startswith("rope-kv/verdict/"):
        raise Misuse(f"{target} exists and is no verdict: choose another name")


def _write_json(target: str, document: dict[str, object]) -> None:
    content = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    if target == "-":
        _print(content)
        return
    path = Path(target)
    # Written beside and renamed, so that no reader ever sees half a file.
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_text(content + "\n", encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def _no_hypothesis_files() -> Iterator[None]:
    """Keep Hypothesis from leaving a folder behind, where a profile uses nothing of it.

    It gives up on a folder that cannot be made, without a word.
    """
    from hypothesis.configuration import set_hypothesis_home_dir

    set_hypothesis_home_dir(Path(os.devnull) / "hypothesis")
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)


def _print(line: str, stream: TextIO | None = None) -> None:
    """Print a line; in ASCII where the terminal has nothing else."""
    stream = stream or sys.stdout
    try:
        line.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        from .reports.text import ascii_only

        line = ascii_only(line)
    print(line, file=stream)
