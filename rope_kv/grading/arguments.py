"""What the command grade can be given."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import options


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what grade takes."""
    parser.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        nargs="+",
        help=".py files, a folder of them, a folder with a folder for each student, a pattern, a "
        "CSV with the columns name and path, or what Moodle or Gradescope exports, unpacked",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=options.folder,
        required=True,
        help="where all goes: a new folder",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the class in DIR: what was done is not done again",
    )
    parser.add_argument(
        "--file",
        metavar="NAME",
        type=_name,
        help="which file to check where a student has several",
    )
    parser.add_argument(
        "--time-limit",
        type=options.duration,
        metavar="TIME",
        help="begin no file after that time: seconds, or as 90m or 2h (default: none)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print the last lines alone")
    group = parser.add_argument_group("who does the work")
    group.add_argument(
        "--jobs",
        type=options.jobs,
        metavar="N",
        help="how many files at a time (default: the cores)",
    )
    group.add_argument(
        "--executor",
        metavar="WHO",
        help="dask://HOST:PORT, or module:name of a concurrent.futures.Executor or of a function "
        "that makes one (default: processes here)",
    )
    group = parser.add_argument_group("counterexamples")
    group.add_argument(
        "--harvest",
        metavar="DIR",
        type=options.folder,
        help="keep each distinct counterexample of the class as a file in DIR",
    )
    group.add_argument(
        "--first",
        metavar="FILE_OR_DIR",
        type=Path,
        action="append",
        default=[],
        help="try these stored counterexamples on each file before any case is drawn",
    )
    group = parser.add_argument_group("what decides a verdict")
    group.add_argument(
        "--profile", choices=("grade", "ci"), default="grade", help="how long to search"
    )
    group.add_argument(
        "--points",
        metavar="FILE",
        type=Path,
        help="what gives points: JSON, names of functions or properties, and numbers "
        "(default: rope_freqs 2, apply_rope 4, decode_incremental 4)",
    )
    group.add_argument(
        "--pictures",
        action="store_true",
        help="draw pictures in the HTML reports; needs matplotlib, and takes longer",
    )
    options.add_each(group.add_argument)


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name of a file is missing")
    return text
