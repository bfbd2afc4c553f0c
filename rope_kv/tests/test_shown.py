"""Which broken properties are shown in full, and which only by their titles."""

import pytest

from rope_kv.testing.comparison import Broken
from rope_kv.testing.property import all_properties
from rope_kv.testing.shown import SAME_REASONS, shown
from rope_kv.testing.verdict import Result

ROTATION = [prop for prop in all_properties() if prop.function == "apply_rope" and not prop.widens]
DECODING = next(prop for prop in all_properties() if prop.function == "decode_incremental")


def broken(prop, sentence, kind):
    return Result(prop, "broken", message=sentence, broken=Broken(sentence, kind))


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        (
            "hang",
            "apply_rope has not returned after 2 s",
            "apply_rope has not returned after 0.5 s",
        ),
        ("endless", "it projected more than 132 times", "it projected more than 208 times"),
        ("raised", "IndexError: out of range", "IndexError: out of range"),
    ],
)
def test_what_ends_a_function_in_the_same_way_is_shown_once(kind, first, second):
    one, two = broken(ROTATION[0], first, kind), broken(ROTATION[1], second, kind)
    other = broken(DECODING, first, kind)
    assert shown([one, two, other]) == ((one, other), {SAME_REASONS: (two,)})


def test_other_numbers_and_another_exception_are_shown_as_well():
    for kind in ("value", "raised"):
        one, two = broken(ROTATION[0], "this", kind), broken(ROTATION[1], "that", kind)
        assert shown([one, two]) == ((one, two), {})
