"""What the pictures show is what the code does, wherever it runs."""

import contextlib
import types
from dataclasses import replace

import numpy as np
import pytest

import rope_kv
from rope_kv import traps
from rope_kv.sandbox.client import open_file
from rope_kv.testing import calls
from rope_kv.testing import scene as scenes
from rope_kv.testing.attention import attention
from rope_kv.testing.budget import Budget
from rope_kv.testing.cases import DecodeCase, RotationCase
from rope_kv.testing.check import check
from rope_kv.testing.comparison import Broken
from rope_kv.testing.loading import load
from rope_kv.testing.precision import POSITIONS, precision
from rope_kv.testing.property import all_properties
from rope_kv.testing.scene import Projection, Scene, scene
from rope_kv.testing.shown import shown
from rope_kv.testing.verdict import Result

BY_NAME = {prop.name: prop for prop in all_properties()}
EQUAL_ROWS = DecodeCase(((0.0, 0.0),) * 6, 10000, 0)
ANY_ROWS = DecodeCase(((1.0, -0.5, 0.25, 2.0), (0.0, 1.0, 0.0, 0.0), (3.0, 1.0, 1.0, 1.0)), 10, 3)


@contextlib.contextmanager
def opened(path):
    """Give what is in a file in this process, and isolated."""
    isolated = open_file(path)
    try:
        yield load(str(path)), isolated
    finally:
        isolated.close()


def trap(name):
    return traps.find_trap(name).path


def seen(impl, case):
    """What an implementation is seen to attend to in a case."""
    return attention(impl, case, calls.decode(impl, case))


def broken(name, case, kind="value"):
    """A result that says that a case breaks a property."""
    return Result(BY_NAME[name], "broken", counterexample=case, broken=Broken("", kind))


@pytest.mark.parametrize("case", [EQUAL_ROWS, ANY_ROWS, DecodeCase(((1.0, 0.0),), 10000, 1)])
def test_a_right_decode_attends_as_it_should(case):
    with opened(traps.FOLDER / "_model.py") as both:
        for impl in (*both, load(rope_kv)):
            found = seen(impl, case)
            np.testing.assert_allclose(found.yours, found.expected, rtol=1e-12, atol=1e-300)
            np.testing.assert_allclose(found.yours.sum(axis=1), 1)


def test_a_window_of_four_gives_nothing_to_older_tokens_equal_rows_or_not():
    cases = (EQUAL_ROWS, DecodeCase(tuple((float(t), 1.0) for t in range(6)), 10000, 2))
    with opened(trap("window-of-four")) as both:
        for case in cases:
            here, there = (seen(impl, case) for impl in both)
            np.testing.assert_array_equal(here.yours, there.yours)
            outside = np.tri(6, k=-4) > 0
            assert outside.sum() == 3
            assert np.all(here.yours[outside] == 0)
            assert np.all(here.expected[outside] > 0)
            np.testing.assert_allclose(here.yours.sum(axis=1), 1)


def test_a_token_that_is_left_out_has_no_weight():
    case = DecodeCase(((0.0, 0.0), (0.0, 0.0), (1.0, 0.0)), 10000, 0)
    with opened(trap("repeated-token-not-stored")) as both:
        for impl in both:
            assert np.all(seen(impl, case).yours[:, 1] == 0)


@pytest.mark.parametrize(
    "name",
    ["values-rotated", "value-from-key-projection", "output-not-projected", "residual-added"],
)
def test_what_does_not_follow_from_weights_is_not_said_to(name):
    case = DecodeCase(((1.0, 0.5), (-1.0, 2.0), (0.5, 0.5)), 10000, 1)
    assert seen(load(str(trap(name))), case) is None


def test_a_long_history_is_not_measured_token_by_token():
    assert seen(load(rope_kv), DecodeCase(((1.0, 0.0),) * 100, 10000, 0)) is None


def test_the_calls_are_those_that_were_made():
    case = DecodeCase(((0.0, 0.0),) * 3, 10000, 0)
    with opened(trap("recompute-keys")) as both:
        for impl in both:
            work = scene(impl, broken("project_k_sees_each_row_once_in_order", case, "calls")).work
            names = ["project_q", "project_k", "project_v", "project_out"]
            assert work.projections == tuple(
                Projection(name, (step + 1 if name == "project_k" else 1, 2))
                for step in range(3)
                for name in names
            )
            assert work.rows("project_k") == [1, 2, 3]
            assert not work.is_one_row_a_step


def test_calls_that_are_as_they_should_be_are_shown_only_where_calls_are_broken():
    impl = load(rope_kv)
    name = "incremental_decoding_equals_the_full_forward"
    assert scene(impl, broken(name, ANY_ROWS)).work is None
    assert scene(impl, broken(name, ANY_ROWS, "calls")).work.is_one_row_a_step


def test_the_calls_before_an_exception_are_shown():
    def decode_incremental(decoder, x_embedded):
        decoder.project_q(x_embedded[:1])
        raise ZeroDivisionError

    impl = load(types.SimpleNamespace(decode_incremental=decode_incremental))
    name = "incremental_decoding_equals_the_full_forward"
    found = scene(impl, broken(name, ANY_ROWS, "raised"))
    assert found.work.projections == (Projection("project_q", (1, 4)),)
    assert found.attention is None


def test_a_rotation_is_shown_where_it_is_wrong_and_only_there():
    case = RotationCase(((1.0, 0.0, 0.0, 0.0),), (1,), 10000)
    name = "each_adjacent_pair_turns_by_its_own_angle"
    with opened(trap("pairs-adjacent-vs-halves")) as both:
        one, other = (scene(impl, broken(name, case)).turn for impl in both)
    np.testing.assert_array_equal(one.yours, other.yours)
    cos, sin = np.cos(1), np.sin(1)
    np.testing.assert_allclose(one.yours, [[cos, 0, sin, 0]])
    np.testing.assert_allclose(one.expected, [[cos, sin, 0, 0]])
    assert scene(load(rope_kv), broken(name, case)).turn is None


def test_the_error_of_single_precision_falls_against_a_bound_that_grows():
    here = precision(load(str(trap("angles-in-float32"))), 2, 10000)
    assert here.positions == POSITIONS
    assert here.ratios[0] == 0
    assert here.ratios[1] > 1e6
    assert 1 < here.ratios[-1] < 1e3
    right = precision(load(rope_kv), 2, 10000)
    assert max(right.ratios) < 1


def test_a_position_without_an_answer_is_not_a_number():
    with opened(trap("table-of-2048-ends")) as both:
        one, other = (precision(impl, 2, 10000) for impl in both)
    np.testing.assert_array_equal(one.ratios, other.ratios)
    answered = [p for p, r in zip(one.positions, one.ratios, strict=True) if not np.isnan(r)]
    assert answered == [p for p in POSITIONS if p < 2048]
    nothing = types.SimpleNamespace(apply_rope=lambda *_: None)
    assert precision(load(nothing), 2, 10000) is None


@pytest.mark.parametrize("kind", ["crash", "hang", "attack", "protocol", "missing"])
def test_what_ends_a_process_is_not_done_again_for_a_picture(kind):
    def decode_incremental(decoder, x_embedded):
        raise AssertionError("called")

    impl = load(types.SimpleNamespace(decode_incremental=decode_incremental))
    name = "incremental_decoding_equals_the_full_forward"
    assert scene(impl, broken(name, ANY_ROWS, kind)) == Scene()
    by_history = replace(broken(name, ANY_ROWS), replays=False)
    assert scene(impl, by_history) == Scene()


@pytest.mark.parametrize("error", [ValueError, RecursionError, SystemExit, MemoryError])
def test_whatever_the_code_does_there_is_a_scene(error):
    def fails(*arguments, **named):
        raise error("no")

    impl = load(types.SimpleNamespace(apply_rope=fails, decode_incremental=fails))
    for prop in all_properties():
        for case in prop.examples or (ANY_ROWS, RotationCase(((1.0, 0.0),), (3,), 10000)):
            found = scene(impl, broken(prop.name, case, "raised"))
            assert (found.turn, found.precision, found.attention) == (None, None, None)


def test_only_what_is_shown_in_full_has_a_scene_and_no_more_than_a_few():
    name = "each_adjacent_pair_turns_by_its_own_angle"
    case = RotationCase(((1.0, 0.0, 0.0, 0.0),), (1,), 10000)
    same = [replace(broken(name, case), property=prop) for prop in all_properties()
            if prop.function == "apply_rope"]  # fmt: skip
    impl = load(str(trap("pairs-adjacent-vs-halves")))
    found = scenes.with_scenes(same, shown(same).in_full, impl, Budget())
    having = [result for result in found if result.scene is not None]
    assert len(having) == scenes.MOST_SCENES
    assert [result.scene.precision is not None for result in having] == [True] + [False] * 5
    titles = {r.property.name for rs in shown(same).by_title.values() for r in rs}
    assert titles
    assert not titles & {result.property.name for result in having}


def test_no_time_is_spent_that_is_not_left():
    name = "each_adjacent_pair_turns_by_its_own_angle"
    result = broken(name, RotationCase(((1.0, 0.0),), (1,), 10000))
    impl = load(str(trap("opposite-direction")))
    spent = Budget(seconds=-1.0)
    (found,) = scenes.with_scenes([result], [result], impl, spent)
    assert found.scene == Scene()


def test_check_has_scenes_only_where_pictures_are_asked_for_and_the_same_verdict():
    plain = check(trap("cache-off-by-one"), isolation="none")
    pictured = check(trap("cache-off-by-one"), isolation="none", pictures=True)
    assert all(result.scene is None for result in plain.results)
    assert str(plain).split("  (")[0] == str(pictured).split("  (")[0]
    in_full = shown(pictured.results).in_full
    assert in_full
    for result in pictured.results:
        assert (result.scene is not None) == (result in in_full)
    assert in_full[0].scene.attention is not None
