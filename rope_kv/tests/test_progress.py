"""What is seen of a check while it runs, and that nothing of it stays."""

import io

import pytest
import verdicts

import rope_kv
from rope_kv.progress import ChangingLine, Lines, line
from rope_kv.testing.loading import load
from rope_kv.testing.profiles import PROFILES, Profile
from rope_kv.testing.property import properties_for
from rope_kv.testing.verdict import Result

terminals = pytest.importorskip("terminals", reason="there is no pty on this system")


@pytest.fixture
def quick(monkeypatch):
    """Make the profile grade a short one, where what is found does not matter."""
    monkeypatch.setitem(PROFILES, "grade", Profile("grade", 2, attempts=5, patience=1.0))


def test_check_says_what_starts_and_then_what_came_of_it(quick):
    told = []
    verdict = rope_kv.check(rope_kv, starting=told.append, progress=told.append)
    titles = [prop.title for prop in properties_for(load("rope_kv").capabilities)]
    assert told[::2] == [*titles, "a second look at what is broken"]
    assert told[1::2] == list(verdict.results)


@pytest.mark.parametrize("width", [20, 40, 200])
def test_the_line_says_what_runs_and_is_gone_at_the_end(width):
    terminal = terminals.Terminal(width)
    shown = ChangingLine(terminal.file, len(verdicts.BY_NAME))
    for result in verdicts.passed().results:
        shown.starts(result.property.title)
        shown.ends(result)
    shown.starts("a second look at what is broken")
    shown.over()
    written = terminal.written()
    assert "\r1 of 54: frequenci" in written
    assert "\r54 of 54: a second" in written
    for count in range(len(written)):
        if written[count] == "\r":
            (seen,) = terminals.lines(written[:count], width)
            assert len(seen) < width
    assert terminals.lines(written, width) == [""]
    if width == 200:
        assert "\r8 of 54: each adjacent pair turns by its own angle" in written


def test_a_line_that_was_never_shown_leaves_nothing():
    unused = io.StringIO()
    ChangingLine(unused, 54).over()
    assert unused.getvalue() == ""


def test_a_terminal_that_does_not_know_its_width_is_as_wide_as_most():
    terminal = io.StringIO()
    shown = ChangingLine(terminal, 1)
    shown.starts("x" * 200)
    shown.over()
    assert terminals.lines(terminal.getvalue(), 80) == [""]


def test_a_line_a_property_has_its_outcome_its_cases_its_error_and_its_seconds():
    told = []
    shown = Lines(told.append)
    shown.starts("anything")
    for result in (
        verdicts.held(verdicts.FIRST),
        verdicts.broken(verdicts.TURNS, worst_ratio=3.8e15),
        verdicts.broken(verdicts.ADVICE, "calls", "row 1 was touched before row 0 was finished"),
        verdicts.held(verdicts.EQUALS, because="apply_rope", message="wrong only because it is"),
    ):
        shown.ends(result)
    shown.over()
    assert [" ".join(text.split()) for text in told] == [
        "held 60 cases 0.05 s error 0.1 × bound rope_freqs · "
        "the first pair turns by one radian per token",
        "broken 52 cases 0.10 s error 3.8e+15 × bound apply_rope · "
        "each adjacent pair turns by its own angle",
        "advice 52 cases 0.10 s decode_incremental · "
        "each step is finished before the next row is touched",
        "held 60 cases 0.05 s error 0.1 × bound decode_incremental · "
        "incremental decoding equals the full forward (wrong only because it is)",
    ]


def test_why_a_property_was_not_run_is_told_in_one_harmless_line():
    prop = verdicts.BY_NAME[verdicts.FIRST]
    told = line(Result(prop, "not_run", message="late\n\x1b[31m"))
    assert told.startswith("not run ")
    assert told.endswith("(late \\x1b[31m)")
