"""The forms of the power table as a file: the command has an option for each."""

from ..reports.forms import Form, is_json, is_text
from .table import FORM

FORMS = (
    Form(
        "json",
        "the table as JSON",
        "power:document",
        "power table",
        is_json("form", begins=FORM),
    ),
    Form(
        "markdown",
        "the table in short as Markdown",
        "power:summary",
        "power table",
        is_text(r"- Caught: .*\| subject \|.*\|"),
    ),
    Form(
        "html",
        "a page to look at",
        "power_page:page",
        "page of a power table",
        is_text(r"<!DOCTYPE html>.*<title>power · rope_kv</title>.*</html>"),
    ),
)
