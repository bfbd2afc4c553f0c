"""The forms of a report: what each is asked for with, what makes it, how its files are known.

A form is one entry of FORMS: the command line has an option for each. Nothing is imported here
that takes long.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple


class Form(NamedTuple):
    """One form of a report: the option --NAME FILE, and the function that makes it.

    `made_by` is "module:function" in this package. `takes` are the options that the function is
    given beside the verdict. `noun` is what a file of this form is called in a sentence, and
    `is_own` says whether a text is such a file. One that is written `always` is there even if no
    verdict could be come to. `appended_to` is the environment variable that names a file which
    others write to as well. One `with_pictures` shows what has to be measured for it. One
    `with_marks` is for the exercise, whatever is declared.
    """

    name: str
    help: str
    made_by: str
    noun: str
    is_own: Callable[[str], bool]
    takes: tuple[str, ...] = ()
    always: bool = False
    appended_to: str = ""
    with_pictures: bool = False
    with_marks: bool = False

    def make(self, verdict: Any, options: dict[str, Any]) -> str:
        """Return the document, as it is written."""
        module, _, function = self.made_by.partition(":")
        made = getattr(importlib.import_module(f".{module}", __package__), function)
        document = made(verdict, **{name: options[name] for name in self.takes})
        if isinstance(document, str):
            return document
        return json.dumps(document, indent=1, allow_nan=False) + "\n"


def is_json(*path: str, begins: str) -> Callable[[str], bool]:
    """Return whether a text is a JSON object with a string at `path` that begins so."""

    def is_own(text: str) -> bool:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return False
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return isinstance(found, str) and found.startswith(begins)

    return is_own


def is_text(pattern: str) -> Callable[[str], bool]:
    """Return whether a text is as the pattern says, from its beginning to its end."""
    return lambda text: re.fullmatch(pattern, text.strip(), re.S) is not None


FORMS = (
    Form(
        "json",
        "the verdict as JSON, schema rope-kv/verdict/1",
        "document:document",
        "verdict",
        is_json("schema", begins="rope-kv/verdict/"),
    ),
    Form(
        "junit",
        "JUnit XML, for CI systems",
        "junit:junit",
        "JUnit report of rope_kv",
        is_text(r'<\?xml [^>]*\?>\s*<testsuites name="rope_kv".*</testsuites>'),
        takes=("spec",),
    ),
    Form(
        "gradescope",
        "results.json for Gradescope; it is written whatever happens",
        "gradescope:gradescope",
        "Gradescope result of rope_kv",
        is_json("extra_data", "schema", begins="rope-kv/gradescope/"),
        takes=("points", "spec"),
        always=True,
        with_marks=True,
    ),
    Form(
        "check50",
        "JSON in the form of check50",
        "check50:check50",
        "check50 result of rope_kv",
        is_json("slug", begins="rope_kv"),
        takes=("spec",),
        with_marks=True,
    ),
    Form(
        "markdown",
        "Markdown for a pull request; added to the file that GITHUB_STEP_SUMMARY names",
        "markdown:markdown",
        "Markdown report of rope_kv",
        is_text(r"<!-- rope-kv/markdown/\d+ -->.*<!-- rope-kv/markdown/\d+ end -->"),
        takes=("spec",),
        appended_to="GITHUB_STEP_SUMMARY",
    ),
    Form(
        "html",
        "a page to look at, with pictures where matplotlib is installed",
        "html:page",
        "HTML report of rope_kv",
        is_text(r"<!DOCTYPE html>.*<title>[^<]* · rope_kv</title>.*</html>"),
        takes=("spec",),
        with_pictures=True,
    ),
)
