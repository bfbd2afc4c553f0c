"""A file with sessions and batches is judged, isolated, as it is in this process."""

import pytest
from libraries import feed, method, opening

from rope_kv.sandbox import process
from rope_kv.sandbox.levels import LEVELS
from rope_kv.testing.budget import Budget
from rope_kv.testing.profiles import Profile
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import search

QUICK = Profile("quick", examples=8, attempts=20, patience=20.0)
PROPERTIES = {prop.name: prop for prop in all_properties()}


@pytest.fixture
def both(tmp_path):
    """Give a function that opens the library in this process and isolated."""
    with opening(tmp_path) as open_both:
        yield open_both


def found(impl, names):
    """Return what is seen of some properties: outcomes, cases, sentences and numbers."""
    results = [search(PROPERTIES[name], impl, QUICK, Budget()) for name in names]
    return [
        (
            *(r.property.name, r.outcome, r.counterexample, r.message, r.because, r.replays),
            None if r.broken is None or r.broken.yours is None else r.broken.yours.tolist(),
        )
        for r in results
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_a_right_file_with_every_part_is_right_at_every_level(both, level):
    try:
        here, there = both(level=level)
    except process.SandboxError:
        pytest.skip(f"the level {level} does not work here")
    functions = ("start", "start_batch", "paths", "convert_layout")
    names = [
        prop.name
        for prop in all_properties()
        if prop.function in functions and not prop.lacking(here.capabilities)
    ]
    assert len(names) > 25
    assert there.capabilities == here.capabilities
    seen = found(there, names)
    assert {outcome for _, outcome, *_ in seen} == {"held"}, seen
    if level == "process":
        assert seen == found(here, names)


CHUNKS = "any_chunks_give_what_the_whole_gives"
PROGRAMS = "any_program_gives_what_its_tokens_give"
OWNERS = "rows_that_were_fed_are_their_owners_again"
CROPS = "after_a_crop_only_the_first_tokens_were_seen"
OUTSIDE = "a_crop_below_0_or_beyond_the_tokens_is_refused"
FORKS = "a_fork_and_its_origin_go_their_own_ways"
RESETS = "after_a_reset_nothing_was_seen"
LENGTH = "the_length_is_the_number_of_tokens_seen"
APART = "sessions_of_one_decoder_do_not_see_each_other"
DECODER = "a_session_leaves_its_decoder_unchanged"
ONCE = "each_row_that_is_fed_is_projected_once"
BATCH = "each_row_of_a_batch_is_that_sequence_alone"
REORDERED = "reordered_rows_go_on_from_their_histories"
PATHS = "every_path_gives_what_decoding_gives"
DECODING = "incremental_decoding_equals_the_full_forward"
PAIRS = "a_converted_row_has_the_same_pairs"

KEEPS_VIEWS = "Plain = Session\n" + method(
    "feed(self, rows)",
    """self.rows = [*getattr(self, "rows", []), rows]
        whole = Plain(self.decoder, None).feed(np.concatenate(self.rows))
        return whole[len(whole) - len(rows) :]""",
).replace("Plain(", "start.__globals__['Plain'](")
USES_ITS_RESULT = method(
    "feed(self, rows)",
    """if hasattr(self, "last") and not np.array_equal(self.last, self.before):
            return np.zeros(rows.shape)
        self.last = super().feed(rows)
        self.before = self.last.copy()
        return self.last""",
)
IS_ALWAYS_THE_SAME = """
Plain, one = start, {}
def start(decoder, *, capacity=None):
    session = one.setdefault(0, Plain(decoder))
    session.decoder, session.count = decoder, 0
    session.keys = session.values = np.zeros((40, decoder.kv_heads * decoder.head_dim))
    return session
"""
LIES = [
    "float(self.count)", "None", "10**400", "-(10**30)", "True", "np.array([self.count])",
    "self.count + 1", "'two'", "1 / 0", "self.no", "[]", "np.float64(self.count)",
]  # fmt: skip


def gives(expression):
    """Return what makes `feed` return something else."""
    return (
        "return decoder.project_out(out)",
        f"out = decoder.project_out(out); return {expression}",
    )


def batch_gives(expression):
    """Return what makes `feed` of a batch return something else."""
    return "        return fed\n", f"        return {expression}\n"


WRONG = [
    # What is kept, shared or forgotten.
    (KEEPS_VIEWS, [], OWNERS),
    (USES_ITS_RESULT, [], OWNERS),
    (IS_ALWAYS_THE_SAME, [], APART),
    ("", [("self.count = length", "pass")], CROPS),
    ("", [("self.count = length", "pass")], PROGRAMS),
    ("", [("0 <= length <= self.count", "length < 99")], OUTSIDE),
    ("", [("self.keys.copy(), self.values.copy()", "self.keys, self.values")], FORKS),
    ("", [("other = Session(self.decoder, self.capacity)", "other = self")], FORKS),
    ("", [("other.count = self.count", "return None")], FORKS),
    ("", [("def reset(self)", "def clear(self)")], RESETS),
    ("", [("return Session(decoder, capacity)", "return None")], CHUNKS),
    ("", [("end > self.capacity", "end > 9")], "tokens_beyond_the_capacity_are_refused"),
    (
        "",
        [("np.arange(position + 1)", "np.arange(max(position + 1, self.capacity or 0))")],
        "slots_that_hold_no_token_are_never_read",
    ),
    ("", [("self.sessions[index].fork()", "self.sessions[index]")], REORDERED),
    # What is done to arguments and to the decoder.
    (feed("rows *= 2"), [], OWNERS),
    (feed("rows *= 2"), [], CHUNKS),
    (feed("self.decoder.note = 1"), [], DECODER),
    (feed("self.decoder.window = 1"), [], DECODER),
    (feed("self.decoder.window = 1"), [], CHUNKS),
    (feed("len(rows) and self.decoder.forward_full(rows)"), [], ONCE),
    (feed("self.decoder.project_k(rows[:1])"), [], ONCE),
    (feed("len(rows) and self.decoder.project_k(rows[:, :1])"), [], ONCE),
    (
        "",
        [("    d = x.shape[1]\n    order", "    x[0] = 0\n    d = x.shape[1]\n    order")],
        PAIRS,
    ),
    # What is returned.
    *(
        ("", [gives(expression)], CHUNKS)
        for expression in ("None", "out[0]", "rows", "np.float32(out)", "1 / 0", "[out, out]")
    ),
    *(
        ("", [batch_gives(expression)], BATCH)
        for expression in (
            *("None", "1 / 0", "fed[:1]", "[*fed, 1]", "[None, *fed][: len(fed)]", "fed[::-1]"),
            *("np.array(fed, dtype=object)", "np.concatenate(fed)", "{0: fed}"),
        )
    ),
    *((method("length(self)", f"return {lie}"), [], LENGTH) for lie in LIES),
    ("", [("return x[:, order]", "return x[:, order[::-1]]")], PAIRS),
    # What is not there.
    ("del decode_incremental\n", [gives("None")], DECODING),
    ("del decode_incremental, start\n", [], DECODING),
    ("del prefill\n", [], PATHS),
    ("", [("start(decoder).feed(x)", "start(decoder).feed(x[::-1])")], PATHS),
]
# What is not as usual, and right.
RIGHT = [
    (feed("rows.flags.writeable = False"), [], OWNERS),
    ("", [gives("out.tolist()")], CHUNKS),
    ("", [gives("list(out)")], OWNERS),
    ("", [gives("out[np.newaxis]")], CHUNKS),
    ("", [batch_gives("tuple(fed)")], BATCH),
    ("", [batch_gives("[part.tolist() for part in fed]")], BATCH),
    (method("length(self)", "return np.int32(self.count)"), [], LENGTH),
    (method("length(self)", "return self.count"), [("@property\n    def", "def")], LENGTH),
    (KEEPS_VIEWS, [], CHUNKS),
    ("del decode_incremental\n", [], DECODING),
    *(
        (f"capabilities['dtype'] = {dtype!r}\n", [], name)
        for dtype in ("float32", "float16")
        for name in (CHUNKS, OWNERS, BATCH, PATHS, PAIRS)
    ),
]


LINEAR = "    return 1.0 / base ** (np.arange(0, d, 2) / d)\n"
SCALED = [
    *("linear_scaling_divides_every_frequency", "scaled_rotation_turns_by_scaled_angles"),
    *("scaled_chunks_give_what_the_whole_gives", PROGRAMS),
]


@pytest.mark.parametrize("factor", ["factor", "original_max_position"])
def test_a_scaling_is_seen_as_in_this_process(both, factor):
    theta = LINEAR.replace("return", "theta =")
    divided = f"    return theta / (scaling.get({factor!r}, 9) if scaling else 1)\n"
    declared = "capabilities['scaling'] = ['linear']\n"
    here, there = both(declared, [(LINEAR, theta + divided)])
    seen = found(there, SCALED)
    assert seen == found(here, SCALED)
    assert {outcome for _, outcome, *_ in seen} == {"held"} or factor != "factor"
    assert "broken" not in [outcome for _, outcome, *_ in seen[2:]]


@pytest.mark.parametrize(("added", "replacements", "name"), WRONG)
def test_a_wrong_file_is_seen_as_in_this_process(both, added, replacements, name):
    here, there = both(added, replacements)
    seen = found(there, [name])
    assert seen == found(here, [name])
    assert seen[0][1] == "broken"


@pytest.mark.parametrize(("added", "replacements", "name"), RIGHT)
def test_a_right_file_is_right_however_it_is_written(both, added, replacements, name):
    here, there = both(added, replacements)
    seen = found(there, [name])
    assert seen == found(here, [name])
    assert seen[0][1] == "held", seen


def test_sessions_batches_and_paths_are_not_blamed_for_a_wrong_rotation(both):
    names = [CHUNKS, BATCH, PATHS]
    here, there = both("", [("angles = np.outer(positions,", "angles = 2 * np.outer(positions,")])
    seen = found(there, names)
    assert seen == found(here, names)
    assert [because for *_, because, _, _ in seen[:2]] == ["apply_rope"] * 2
