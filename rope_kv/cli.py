"""The command rope-kv: what can be given, and what becomes of it.

Exit status: 0 for PASS, 1 for any other verdict on an implementation, 2 for misuse or a fault
of our own.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from . import __version__, checking, commands, hunting, options, threads
from .console import Misuse
from .grading import arguments as grading
from .power.forms import FORMS as POWER_FORMS
from .reports.forms import FORMS, Form
from .testing.plain import one_line

PROFILES = ("grade", "dev", "ci", "hunt")
SPEC_HELP = "file.py, file.py:name, a module, or module:name"
RECORD_HELP = (
    "keep each smallest counterexample as a file in DIR "
    "(default: regressions/, where the current folder has one)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    threads.use_one()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # Closed by the shell: there is nobody to tell.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
        sys.stdout.flush()
    except Misuse as misuse:
        print(f"rope-kv: {one_line(str(misuse))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python must not complain when it closes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except OSError as error:
        where = one_line(str(error.filename)) if error.filename else "the output"
        print(f"rope-kv: cannot use {where}: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except KeyboardInterrupt:
        print("rope-kv: interrupted", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"rope-kv: {_fault(error)}", file=sys.stderr)
        return 2
    return status


def _fault(error: Exception) -> str:
    """Return what a fault of our own is, and where, in one line to report."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}"
    said = one_line(f"{type(error).__name__}: {error}")
    return f"a fault of rope_kv, please report it: {said} ({where})"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rope-kv",
        description="Find the bug in an implementation of rotary position embeddings (RoPE) "
        "and of a KV cache.",
    )
    parser.add_argument("--version", action="version", version=f"rope_kv {__version__}")
    names = parser.add_subparsers(metavar="COMMAND", required=True)

    def command(
        name: str, run: Callable[[argparse.Namespace], int], help: str
    ) -> argparse.ArgumentParser:
        sub = names.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        sub.set_defaults(run=run)
        return sub

    check = command(
        "check", checking.check, "say whether an implementation is right, and what is wrong"
    )
    check.add_argument("implementation", metavar="IMPL", help=SPEC_HELP)
    check.add_argument("--profile", choices=PROFILES, default="grade", help="how long to search")
    amount = check.add_mutually_exclusive_group()
    amount.add_argument("-q", "--quiet", action="store_true", help="print the last lines alone")
    amount.add_argument(
        "-v", "--verbose", action="store_true", help="print a line for each property, as they come"
    )
    _add_against(check)
    _add_reports(check)
    _add_record(check)
    _add_isolation(check)

    replay = command("replay", commands.replay, "run stored counterexamples, and nothing else")
    replay.add_argument(
        "places",
        metavar="FILE_OR_DIR",
        nargs="*",
        type=Path,
        help="counterexamples (default: regressions/, or those that rope_kv brings along)",
    )
    replay.add_argument("--impl", metavar="IMPL", default="rope_kv", help=SPEC_HELP)
    options.add_against(replay.add_argument)
    _add_isolation(replay)

    grade = command("grade", _grade, "check what a whole class handed in, and write all reports")
    grading.add_options(grade)

    _add_hunt(command)

    _add_power(command)

    new = command("new", commands.new, "write a file to start from: three functions to fill in")
    new.add_argument("file", metavar="FILE", type=Path)

    command("properties", commands.properties, "list the properties: law, and what each catches")

    command("adapters", commands.adapters, "list real libraries that can be checked by a name")

    trap = command("traps", commands.traps, "list known mistakes, or print one as a file to try")
    trap.add_argument("name", metavar="NAME", nargs="?")
    trap.add_argument("--path", action="store_true", help="print where the file is")
    return parser


def _grade(given: argparse.Namespace) -> int:
    from .grading import command

    return command.run(given)


def _power(given: argparse.Namespace) -> int:
    from .power import command

    return command.run(given)


def _add_power(command: Callable[..., argparse.ArgumentParser]) -> None:
    power = command("power", _power, "measure which property catches which known mistake")
    power.add_argument("traps", metavar="TRAP", nargs="*", help="those to try (default: all)")
    power.add_argument(
        "--stored",
        action="store_true",
        help="show what was measured of this version; to measure all takes half an hour",
    )
    power.add_argument(
        "-v", "--verbose", action="store_true", help="name all traps, and what finds each"
    )
    power.add_argument(
        "--jobs",
        type=options.jobs,
        metavar="N",
        help="how many traps at a time (default: the cores)",
    )
    _add_forms(power, POWER_FORMS)


def _add_forms(to: argparse._ActionsContainer, forms: tuple[Form, ...]) -> None:
    for form in forms:
        to.add_argument(f"--{form.name}", metavar="FILE", help=form.help)


def _add_hunt(command: Callable[..., argparse.ArgumentParser]) -> None:
    hunt = command("hunt", hunting.hunt, "search an implementation for hours, and keep every find")
    hunt.add_argument("implementation", metavar="IMPL", help=SPEC_HELP)
    hunt.add_argument(
        "--for",
        dest="duration",
        type=options.duration,
        default=math.inf,
        metavar="TIME",
        help="how long: 8h, 90m, 2h30m, 45s or a number of seconds (default: until Ctrl-C, which "
        "ends it with a summary at any time)",
    )
    hunt.add_argument(
        "--only", metavar="WORD", help="search the properties whose name contains WORD alone"
    )
    hunt.add_argument(
        "--record",
        metavar="DIR",
        type=options.folder,
        help="keep each smallest counterexample as a file in DIR, at once (default: regressions/, "
        "where the current folder has one, else hunted/NAME/)",
    )
    hunt.add_argument(
        "--database",
        metavar="FOLDER_OR_URL",
        type=_named,
        help="where the state of the search is kept, to go on with and to share: a folder, or a "
        "Redis server as redis://host:6379/0 (default: .hypothesis/hunt/)",
    )
    _add_against(hunt)
    _add_isolation(hunt)


def _add_against(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("an old version", "guard a refactor: IMPL is the new one")
    options.add_against(group.add_argument)
    group.add_argument(
        "--laws",
        choices=("all", "none"),
        default="all",
        help="check the usual properties too, or the agreement with the old version alone",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "reports",
        "each to a new file or over an older report of its form, and to nothing else; one may go "
        "to standard output, which is -, and is alone there",
    )
    _add_forms(group, FORMS)
    group.add_argument(
        "--points",
        metavar="FILE",
        type=Path,
        help="what --gradescope gives points for: JSON, names of functions or properties, and "
        "numbers (default: rope_freqs 2, apply_rope 4, decode_incremental 4)",
    )


def _add_record(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--record", metavar="DIR", type=options.folder, help=RECORD_HELP)
    group.add_argument("--no-record", action="store_true", help="keep no counterexample")


def _add_isolation(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("isolation", "a file runs isolated; a module in process")
    options.add_where(group.add_mutually_exclusive_group().add_argument)
    options.add_limits(group.add_argument)


def _named(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of a folder, or a URL, is missing")
    return text
