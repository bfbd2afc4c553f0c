"""Rows of a class, made by hand: as many as are wanted, and one full of what must do no harm."""

from rope_kv.grading.rows import Row
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.implementation import FUNCTIONS
from rope_kv.testing.property import properties_for

PROPERTIES = properties_for(NOTHING_DECLARED)
HALVES = ("pairs-adjacent-vs-halves",)
UNTOLD = ("recompute-all", "recompute-keys")
HOSTILE = (
    "<script>parent.told.textContent = document.body.remove()</script>",
    '"><img src=x onerror="document.body.remove()">',
    "\u202egnp.exe \u2067 \x1b[31m",
    "x" * 300,
    "😀👩‍👩‍👧‍👦 عمر 李雷",
    "javascript:alert(1)",
    "</style><style>body{display:none}</style>",
)


def passed(name, **facts):
    outcomes = {prop.name: "held" for prop in PROPERTIES}
    functions = dict.fromkeys(FUNCTIONS, "held")
    facts = {"points": 10.0, "report": f"reports/{name}", **facts}
    return Row(name, f"{name}.py", "PASS", functions=functions, outcomes=outcomes, **facts)


def failed(name, function="apply_rope", verdict="FAIL", looks_like=HALVES, **facts):
    row = passed(name)
    outcomes = {
        prop.name: "broken" if prop.function == function else "held" for prop in PROPERTIES
    }
    return row._replace(
        verdict=verdict,
        functions={**row.functions, function: "broken"},
        looks_like={function: looks_like} if looks_like else {},
        outcomes=outcomes,
        **{"points": 6.0, **facts},
    )


def missing(name):
    return Row(name, "", "MISSING", message="no .py file in the folder: it is empty")


def of_size(number):
    """A class with some of everything, each name once."""
    makers = (
        passed,
        failed,
        lambda name: failed(name, "decode_incremental", looks_like=UNTOLD, points=4.5),
        lambda name: failed(name, verdict="TIMEOUT", looks_like=(), message="no answer in 2 s"),
        missing,
    )
    return [makers[i % len(makers)](f"student {i}") for i in range(number)]


def hostile():
    """A class whose every word is meant to do harm."""
    return [
        failed(name, looks_like=(name,), message=name, report=name)._replace(
            file=name, identical=tuple(other for other in HOSTILE if other != name)
        )
        for name in HOSTILE
    ]
