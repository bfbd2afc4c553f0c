"""Sessions and batches in another process: what goes to and fro, and what is not believed."""

import contextlib
import gc

import numpy as np
import pytest
from libraries import feed, method, opening

from rope_kv.decoder import Decoder
from rope_kv.sandbox import call, process, wire
from rope_kv.testing import blame
from rope_kv.testing.budget import Budget
from rope_kv.testing.comparison import Broken, matrix
from rope_kv.testing.profiles import Profile
from rope_kv.testing.property import all_properties
from rope_kv.testing.search import search
from rope_kv.testing.trace import TracedDecoder

X = np.random.RandomState(0).rand(6, 4)
X.flags.writeable = False


@pytest.fixture
def both(tmp_path):
    """Give a function that opens the library in this process and isolated."""
    with opening(tmp_path) as open_both:
        yield open_both


def started(impl, width=4, **settings):
    """Return a decoder that has some settings, and a session of it."""
    decoder = TracedDecoder(Decoder(width, seed=1, **settings))
    return decoder, impl.start(decoder)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"base": 500.5, "heads": 4, "kv_heads": 2, "head_dim": 6, "rotary_dim": 2},
        {"window": 2, "sinks": 1, "scaling": {"rule": "longrope", "short_factor": [1.0, 2.5]}},
    ],
)
def test_a_decoder_has_its_settings_and_weights_of_their_shapes(both, settings):
    names = ("base", "width", "heads", "kv_heads", "head_dim", "rotary_dim", "scaling", "window")
    facts = (
        f"[repr(getattr(self.decoder, n)) for n in {(*names, 'sinks')}], "
        "[getattr(self.decoder, n).shape for n in ('Wq', 'Wk', 'Wv', 'Wo')]"
    )
    sentences = []
    for impl in both(feed(f"raise ValueError({facts})")):
        with pytest.raises(Broken) as broken:
            started(impl, **settings)[1].feed(X)
        sentences.append(broken.value.sentence)
    assert sentences[0] == sentences[1]


@pytest.mark.parametrize(
    "statement",
    ["del decoder.Wo", "decoder.Wv[0] = 0", "decoder.scaling['factor'] = 2", "decoder.sinks += 1",
     "decoder.scaling['list'] = np.ones(2)", "decoder.heads = 2", "decoder.new = 1"],
)  # fmt: skip
def test_what_a_session_does_to_its_decoder_shows(both, statement):
    for impl in both(feed(f"decoder = self.decoder; {statement}")):
        decoder, session = started(impl, scaling={"rule": "linear", "factor": 4.0, "list": [1.0]})
        with contextlib.suppress(Broken):
            session.feed(X[:1])
        with contextlib.suppress(ValueError):  # Of what cannot be compared in this process.
            assert decoder.changed() in statement


def test_projections_are_recorded_as_in_this_process(both):
    asks = (
        "project = self.decoder.project_q\n"
        "        for part in (rows, rows[1:2], rows[:0], rows[1:], rows.tolist()): project(part)\n"
        "        rows[0, 0] += 1; project(rows)"
    )
    records = []
    for impl in both(feed(asks)):
        decoder, session = started(impl, heads=2, kv_heads=1, head_dim=6)
        answers = [session.feed(X[:2].copy()), session.fork().feed(X[2:5].copy())]
        decoder.calls.append(("path", impl.path("prefill", decoder, X.copy())))
        answers.append(impl.decode_incremental(decoder, X[:3].copy()))
        calls = [(name, np.shape(rows), np.array(rows).tobytes()) for name, rows in decoder.calls]
        records.append([calls, [answer.tobytes() for answer in answers]])
    assert records[0] == records[1]


def test_what_is_usual_is_asked_of_no_one(both, monkeypatch):
    _, there = both()
    asked = []
    real = call.Call._answer
    monkeypatch.setattr(
        call.Call, "_answer", lambda self, *items: (asked.append(items[2]), real(self, *items))
    )
    decoder, session = started(there)
    for rows in (X[:1], X[1:4], X[4:]):
        session.feed(rows)
    assert asked == []
    assert [rows.shape for rows in decoder.rows_given("project_out")] == [(1, 4), (3, 4), (2, 4)]
    session.feed(np.ones((600, 4)))
    assert asked == [3]  # Too long to be told afterwards.
    assert decoder.rows_given("project_out")[-1].shape == (600, 4)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rows_of_less_precision_arrive_and_return_as_they_are(both, dtype):
    declared = f"capabilities |= dict(dtype={dtype!r})\n"
    source = declared + feed("return self.decoder.project_out(self.decoder.project_q(rows))")
    answers = []
    for impl in both(source):
        assert impl.capabilities.dtype == dtype
        decoder = TracedDecoder(Decoder(4, seed=1), dtype)
        session, batch = impl.start(decoder), impl.start_batch(decoder, 2)
        answers.append([session.feed(X[:3].astype(dtype)), *batch.feed([X.astype(dtype)] * 2)])
        answers[-1].append(impl.convert_layout(X.astype(dtype), "interleaved", "half"))
    for one, other in zip(*answers, strict=True):
        assert one.dtype == other.dtype == dtype
        assert one.tobytes() == other.tobytes()


def test_arrays_in_lists_are_the_arrays_themselves(both):
    body = "rows[1][0] = 7; rows.append(rows[0]); return rows[:2] + rows"
    for impl in both(method("feed(self, rows)", body, of="Batch")):
        batch = impl.start_batch(TracedDecoder(Decoder(4)), 2)
        one, other = np.zeros((1, 4)), np.zeros((2, 4))[::-1]
        found = batch.feed([one, other])
        assert [part is one for part in found] == [True, False, True, False, True]
        assert found[1] is other
        assert other[0, 0] == 7


def test_what_is_written_into_an_array_that_is_let_go_of_is_seen_in_views_of_it(both):
    keeps = "self.rows = [*getattr(self, 'rows', []), rows]; return np.concatenate(self.rows)"
    for impl in both(method("feed(self, rows)", keeps)):
        _, session = started(impl)
        rows = X[:2].copy()
        first = session.feed(rows)
        rows[...], first[...] = 0, 5
        del rows, first
        assert session.feed(np.ones((1, 4))).sum(axis=1).tolist() == [0, 0, 4]


def test_sessions_that_are_gone_here_are_gone_there(both):
    added = (
        "import weakref\nlive = weakref.WeakSet()\n"
        "class Session(Session):\n    def __init__(self, *given):\n"
        "        super().__init__(*given)\n        live.add(self)\n"
        "    length = property(lambda self: len(live))\n"
    )
    _, there = both(added)
    _, session = started(there)
    others = [session.fork() for _ in range(5)]
    assert session.length == 6
    others.clear()
    gc.collect()
    assert session.length == 1


def test_there_are_only_so_many_sessions_at_once(both, monkeypatch):
    monkeypatch.setattr(call, "MOST_STARTED", 3)
    _, there = both()
    _, session = started(there)
    others = [session.fork(), session.fork()]
    with pytest.raises(Broken, match="fork: 3 sessions live already"):
        session.fork()
    others.pop()
    assert session.fork().length == 0


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("feed", [X]), ("fork", []), ("crop", [0]), ("reset", []), ("fill_unused", [0.0])],
)
def test_what_ends_a_process_or_never_returns_is_said_and_is_over(both, name, arguments):
    ends = "self.decoder.base == 2 and __import__('os')._exit(3)\n        while True: pass"
    _, there = both(method(f"{name}(self, *given)", ends), call_timeout=0.3)
    for base, kind, sentence in (
        (2, "crash", f"{name} ended its process: it ended with exit status 3"),
        (3, "hang", f"{name} has not returned after 0.3 s"),
    ):
        _, session = started(there, base=base)
        _, other = started(there, base=base)
        with pytest.raises(Broken, match=sentence) as broken:
            getattr(session, name)(*arguments)
        assert broken.value.kind == kind
        for stale in (session, other):
            with pytest.raises(Broken, match="what a process had started that is over") as broken:
                stale.feed(X)
            assert broken.value.kind == "protocol"
    assert there.apply_rope(X, list(range(6))).shape == X.shape


@pytest.mark.parametrize("body", ["while True: pass", "__import__('os')._exit(0)"])
def test_a_property_of_what_ends_its_process_comes_to_an_end(both, body):
    _, there = both(method("fork(self)", body), call_timeout=0.2)
    kind = "crash" if "exit" in body else "hang"
    name, quick = "a_fork_and_its_origin_go_their_own_ways", Profile("quick", 8, 20, 20.0)
    (prop,) = (prop for prop in all_properties() if prop.name == name)
    result = search(prop, there, quick, Budget())
    assert (result.outcome, result.broken.kind) == ("broken", kind)
    assert "fork" in str(result.counterexample)


def test_a_lower_function_stays_replaced_in_later_calls(both):
    wrong = ("    y = np.array(x, dtype=float)\n", "    y = np.array(x, dtype=float) * 0\n")
    here, there = both("", [wrong])
    for name in ("rope_freqs", "apply_rope"):
        answers = []
        for impl in (here, there):
            right = impl.with_replaced(name, blame.right_one(name, impl))
            _, session = started(right, heads=2, kv_heads=1, head_dim=4, rotary_dim=2)
            answers.append([session.feed(X[:2]), session.fork().feed(X[2:])])
        for one, other in zip(*answers, strict=True):
            assert one.tobytes() == other.tobytes()
        whole = Decoder(4, seed=1, heads=2, kv_heads=1, head_dim=4, rotary_dim=2).forward_full(X)
        assert np.allclose(np.concatenate(answers[0]), whole) == (name == "apply_rope")


def test_a_scaling_reaches_the_right_function_by_name(both):
    seen = []

    def apply_rope(x, positions, base=10000, *, rotary_dim=None, scaling=None):
        seen.append((rotary_dim, scaling))
        return np.array(x)

    scaling = {"rule": "longrope", "factor": 4, "original_max_position": 8, "length": 9}
    scaling |= {"short_factor": [1.0, 2.0], "long_factor": [3.0, 4.5]}
    settings = {"head_dim": 4, "rotary_dim": 2, "scaling": scaling}
    as_arrays = "{n: np.array(v) if n != 'rule' else v for n, v in decoder.scaling.items()}"
    for given in ("decoder.scaling", as_arrays):
        _, there = both("", [("decoder.scaling}", f"{given}}}")])
        _, session = started(there.with_replaced("apply_rope", apply_rope), **settings)
        session.feed(X)
        assert seen == [(2, scaling)] * 2
        seen.clear()


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"rule": "x" * 41}, "up to 40 letters"),
        ({"factor": 10**19}, "holds numbers"),
        ({"factor": {"rule": 1}}, "holds numbers"),
        ({"factor": 1j}, "holds numbers"),
        ({"list": [0.0] * 5000}, "up to 4096 numbers"),
        ({"list": [0.0] * 50000}, "which is too many"),
        ({"list": [[1.0]]}, "holds numbers"),
        ({"list": ["x"]}, "holds numbers"),
        ({str(n): n for n in range(17)}, "up to 16 entries"),
        ([1, 2], "TypeError"),
        (3, "TypeError"),
        ("linear", "TypeError"),
    ],
)
def test_a_scaling_that_makes_no_sense_is_refused(both, given, refused):
    _, there = both(feed(f"apply_rope(rows, range(len(rows)), scaling={given!r})"))
    right = there.with_replaced("apply_rope", blame.right_one("apply_rope", there))
    with pytest.raises(Broken, match=refused) as broken:
        started(right)[1].feed(X)
    assert broken.value.kind == "raised"


@pytest.mark.parametrize("turned", [0, -2, 3, 6, 2.0, "2", 10**30])
def test_a_rotary_dim_that_makes_no_sense_is_refused(both, turned):
    _, there = both(feed(f"apply_rope(rows, range(len(rows)), rotary_dim={turned!r})"))
    right = there.with_replaced("apply_rope", blame.right_one("apply_rope", there))
    with pytest.raises(Broken, match=r"raised (Value|Type)Error"):
        started(right)[1].feed(X)


def test_what_no_worker_returns_from_a_session_is_a_breach(both, monkeypatch):
    _, there = both()
    real = process.Worker.receive

    def receive(self, deadline, cap):
        frame = real(self, deadline, cap)
        return frame._replace(items=items) if frame.kind == wire.RETURNED else frame

    array = {"number": -5, "writeable": True}
    for items in (
        [b"", {"type": "list"}], [b"", {"type": "list", "parts": 1}],
        [b"", {"type": "dict", "parts": []}], [b"", {"type": [], "parts": []}],
        [b"", {"type": "list", "parts": [1]}], [b"", {"type": "list", "parts": ["type"]}],
        [b"", {"type": "list", "parts": [array, {**array, "number": -6}]}, np.ones(1)],
        [b"", {"type": "list", "parts": [array] * 1001}, np.ones(1)],
        [b"", {"type": "list", "parts": [{"parts": []}]}],
        [b"", {"type": "int", "carried": True}, np.array(np.nan)],
        [b"", {"type": "float", "carried": True}, 1], [b"", {"number": 1}], [b"", {"number": 2}],
        [b"", {"number": 3}], [b"", []], [b"\0\3\0", {}],
    ):  # fmt: skip
        _, session = started(there)
        session.feed(X[:1])
        with monkeypatch.context() as changed:
            changed.setattr(process.Worker, "receive", receive)
            with pytest.raises(Broken) as broken:
                raise AssertionError([items, session.feed(X[:2])])
        assert broken.value.kind == "protocol", items


def test_a_list_of_any_length_is_the_list_or_is_called_one(both):
    source = feed("return [np.full(2, 1.5)] * int(self.decoder.base)")
    for impl in both(source):
        for count in (0, 1, 100, 101, 1000):
            found = started(impl, base=count or 0.5)[1].feed(X)
            assert type(found) is list
            assert np.array_equal(np.array(found), np.full((count, 2), 1.5)) or not count
    _, there = both(source)
    long = started(there, base=10**6)[1].feed(X)
    with pytest.raises(Broken, match="feed returned a list, expected"):
        matrix(long, (6, 4), "feed")


def test_a_call_may_not_project_for_ever(both, monkeypatch):
    _, there = both(feed("while True: self.decoder.project_out(rows)"))
    with pytest.raises(
        Broken, match=r"feed does not end: it projected more than \d+ times for 6 tokens"
    ) as broken:
        started(there)[1].feed(X)
    assert broken.value.kind == "endless"
    monkeypatch.setattr(call, "MOST_RECORDED", 1000)
    with pytest.raises(Broken, match="it projected more than 1000 bytes of rows"):
        started(there)[1].feed(X)


def test_rows_of_which_the_answer_would_be_too_large_are_refused(both, monkeypatch):
    monkeypatch.setattr(call, "LARGEST_CAP", 1 << 16)
    _, there = both(feed("self.decoder.project_q(np.zeros((2000, 4), np.int8))"))
    with pytest.raises(Broken, match="ValueError: 2000 rows in one call, which is too many"):
        started(there, heads=4, head_dim=4)[1].feed(X)


@pytest.mark.parametrize("precision", ["float64", "float32", "float16"])
def test_what_is_answered_row_by_row_is_what_each_row_is_answered(precision):
    rng = np.random.RandomState(0)
    for width in range(2, 65, 2):
        decoder = TracedDecoder(Decoder(width, seed=1, head_dim=6), precision)
        for rows in (rng.rand(7, width), rng.rand(width, 7).T, rng.rand(7, width)[::-1]):
            rows = rows.astype(precision)
            for name in ("project_q", "project_k", "project_v"):
                each = [decoder.answer(name, row[None]) for row in rows]
                answers = decoder.answer_each(name, rows)
                assert answers.dtype == each[0].dtype
                assert answers.tobytes() == np.concatenate(each).tobytes()
