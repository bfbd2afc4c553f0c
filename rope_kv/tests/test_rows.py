"""The table and the lines of a class: whole, the same each time, and harmless."""

import csv
import io
import json

import pytest
import verdicts
from hypothesis import given
from hypothesis import strategies as st

from rope_kv.grading.rows import COLUMNS, Row, csv_text, jsonl_text
from rope_kv.testing.implementation import FUNCTIONS

PASSED = Row("ada", "ada.py", "PASS", functions=dict.fromkeys(FUNCTIONS, "held"), points=10.0)
FAILED = Row(
    "bob",
    "bob.py",
    "FAIL",
    message='found ",", and\nmore',
    functions={"rope_freqs": "held", "apply_rope": "broken", "decode_incremental": "not_run"},
    looks_like={"apply_rope": ("pairs-adjacent-vs-halves", "components-swapped")},
    outcomes={"each_pair_keeps_its_length": "held", "zero_is_the_identity": "broken"},
    identical=("cy", "di"),
    points=0.1 + 0.2,
    report="reports/bob",
)
NONE = Row("cy", "", "MISSING", message="no .py file in the folder: it is empty")


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_the_table_has_a_line_for_each_student_and_says_what_came_of_them():
    ada, bob, cy = read(csv_text([PASSED, FAILED, NONE]))
    assert tuple(ada) == COLUMNS
    assert (ada["name"], ada["verdict"], ada["points"]) == ("ada", "PASS", "10")
    assert [ada[name] for name in FUNCTIONS] == ["held"] * 3
    assert bob == {
        "name": "bob",
        "file": "bob.py",
        "verdict": "FAIL",
        "points": "0.3",
        "rope_freqs": "held",
        "apply_rope": "broken",
        "decode_incremental": "not run",
        "looks like": "apply_rope: pairs-adjacent-vs-halves or components-swapped",
        "broken properties": "zero is the identity",
        "identical to": "cy; di",
        "message": 'found ",", and more',
    }
    assert cy["points"] == cy["rope_freqs"] == ""


def test_the_table_is_written_as_rfc_4180_says():
    text = csv_text([FAILED])
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n") == 2
    assert '"found "","", and more"' in text


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'=1"),
        ("\r=1", "'=1"),
        (" =1", "'=1"),
        ("＝1", "'＝1"),
        ("a=1", "a=1"),
        ("\x00=1", "\\x00=1"),
    ],
)
def test_no_cell_is_a_formula(name, cell):
    row = Row(name, name, "FAIL", message=name, identical=(name,))
    (found,) = read(csv_text([row]))
    assert {found[column] for column in ("name", "file", "message", "identical to")} == {cell}


def test_negative_points_stay_a_number():
    assert read(csv_text([PASSED._replace(points=-2.5)]))[0]["points"] == "-2.5"


def test_the_lines_have_every_field_in_the_same_order():
    for row in (PASSED, FAILED, NONE):
        (line,) = jsonl_text([row]).splitlines()
        found = json.loads(line)
        assert tuple(found) == Row._fields
        assert found["looks_like"] == {name: list(of) for name, of in row.looks_like.items()}
        assert Row(**{**found, "looks_like": row.looks_like, "identical": row.identical}) == row


def test_points_that_are_no_number_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        jsonl_text([PASSED._replace(points=float("nan"))])


def test_nothing_at_all_is_a_table_without_lines():
    assert read(csv_text([])) == []
    assert jsonl_text([]) == ""


@given(said=st.lists(verdicts.hostile_texts(), min_size=5, max_size=5))
def test_whatever_students_write_stays_in_its_cell(said):
    name, file, message, other, trap = said
    row = Row(name, file, "FAIL", message, looks_like={"apply_rope": (trap,)}, identical=(other,))
    text = csv_text([row, PASSED])
    _, ada = read(text)
    assert ada["name"] == "ada"
    assert len(text.split("\r\n")) == 4
    assert all(letter.isprintable() or letter in "\r\n" for letter in text)
    text.encode()
    first, second = jsonl_text([row, PASSED]).splitlines()
    assert json.loads(first)["name"] == name
    assert json.loads(second)["name"] == "ada"
    assert first.isascii()
