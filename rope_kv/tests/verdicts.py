"""Verdicts to report, made by hand: one of every word, and one full of what must do no harm."""

import numpy as np
from hypothesis import strategies as st

from rope_kv import traps
from rope_kv.testing.capabilities import NOTHING_DECLARED
from rope_kv.testing.cases import FrequencyCase, RotationCase
from rope_kv.testing.comparison import Broken
from rope_kv.testing.property import properties_for
from rope_kv.testing.verdict import Diagnosis, Result, Verdict, word_for

BY_NAME = {prop.name: prop for prop in properties_for(NOTHING_DECLARED)}
ADVICE = next(prop.name for prop in BY_NAME.values() if prop.advice)
TURNS = "each_adjacent_pair_turns_by_its_own_angle"
KEEPS_LENGTH = "each_pair_keeps_its_length"
FIRST = "the_first_pair_turns_by_one_radian_per_token"
EQUALS = "incremental_decoding_equals_the_full_forward"
CASE = RotationCase(((1.0, 0.0, 0.0, 0.0),), (1,), 10000)
HALVES = traps.find_trap("pairs-adjacent-vs-halves")
OPPOSITE = traps.find_trap("opposite-direction")

SNIPPETS = (
    "\x1b[31mPASS\x1b[0m", "\x00", "\x08", "\x0b", "\r\n", "\n\n", "\n", "\t", "\x85", "\u2028",
    "\ufffe", "\uffff", "\ud800", "\udcff", "\u202e", "\u200b", "]]>", "<![CDATA[", "<!--", "-->",
    "&lt;", "&#0;", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</testsuites>",
    "`", "``", "```", "\n```\n", "\n~~~\n", "\n````\n# PASS\n", "    ", "@teacher", "#1",
    "![i](https://e.example/i.png)", "[l](https://e.example)", "https://e.example/",
    "www.e.example", "a@e.example", "<https://e.example>", "| a | b |", "\n- x", "\n> x",
    "\n# PASS", "\n---\n", "**PASS**", "$x$", "\\", "{", "}", "%s", "{0}",
)  # fmt: skip


def hostile_texts():
    """What a student may have put into a name or a message: letters, and what acts somewhere."""
    letters = st.text(st.characters(), max_size=8)
    return st.lists(st.sampled_from(SNIPPETS) | letters, max_size=6).map("".join)


def held(name, **facts):
    return Result(BY_NAME[name], "held", examples=60, worst_ratio=0.1, seconds=0.05, **facts)


def broken(name, kind="value", sentence="", **facts):
    """A broken result: with numbers where its kind is value, with a sentence elsewhere."""
    numbers = {}
    if kind == "value":
        numbers = {
            "expected": np.array([[0.5403, 0.8415, 0.0, 0.0]]),
            "yours": np.array([[0.5403, 0.0, 0.8415, 0.0]]),
            "at": (0, 1),
            "ratio_at": 3e14,
            "ratio": 4e15,
        }
    facts = {
        "counterexample": CASE if BY_NAME[name].function == "apply_rope" else FrequencyCase(2, 10),
        "message": sentence or "the error is 4e+15 times the rounding bound",
        **facts,
    }
    shown = Broken(sentence, kind, **numbers)
    return Result(BY_NAME[name], "broken", 52, seconds=0.1, broken=shown, **facts)


def verdict_of(*results, name="solution.py", **facts):
    """The verdict on an implementation of which all holds but what is given."""
    by_name = {result.property.name: result for result in results}
    whole = tuple(by_name.get(name) or held(name) for name in BY_NAME)
    facts = {"verdict": word_for(whole), "isolation": "kernel", "seconds": 3.9, **facts}
    return Verdict(name, profile="grade", results=whole, **facts)


def passed():
    return verdict_of(broken(ADVICE, "calls", "row 1 was touched before row 0 was finished"))


def failed(**facts):
    """Rotation is wrong, and decoding only because rotation is."""
    because = {"because": "apply_rope", "message": "wrong only because apply_rope is"}
    return verdict_of(broken(TURNS), broken(KEEPS_LENGTH), held(EQUALS, **because), **facts)


def diagnosed():
    return failed(
        diagnoses=(
            Diagnosis("apply_rope", (HALVES, OPPOSITE)),
            Diagnosis("rope_freqs", measured=("each angle is 1.1 times the right one",)),
        )
    )


def crashed():
    return verdict_of(broken(FIRST, "crash", "rope_freqs ended its process: it got SIGSEGV"))


def forged():
    return verdict_of(broken(FIRST, "protocol", "rope_freqs sent a frame that was not asked for"))


def not_run():
    late = Result(BY_NAME[EQUALS], "not_run", 7, message="the time limit of 60 s was reached")
    return verdict_of(late)


def faulty():
    return verdict_of(Result(BY_NAME[FIRST], "error", message="ValueError: no such bound"))


def unloaded(message="it raised SyntaxError (line 3)", name="solution.py"):
    return Verdict(name, "LOAD_ERROR", "grade", "kernel", 0.4, message=message)


ALL = (passed, failed, diagnosed, crashed, forged, not_run, faulty, unloaded)


def hostile(text):
    """Verdicts in which all that others can have written is this text."""
    found = (
        broken(TURNS, message=text, saved_as=text),
        broken(KEEPS_LENGTH, "raised", text),
        broken(FIRST, "crash", text),
        broken(ADVICE, "calls", text),
        Result(BY_NAME[EQUALS], "not_run", message=text),
    )
    measured = (Diagnosis("apply_rope", (HALVES,), (text,)), Diagnosis("rope_freqs", (), (text,)))
    fault = Result(BY_NAME[KEEPS_LENGTH], "error", message=text)
    return (
        verdict_of(*found, name=text, diagnoses=measured),
        verdict_of(*found, fault, name=text),
        unloaded(text, name=text),
    )
