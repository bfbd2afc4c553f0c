"""Frames: what is sent arrives bit for bit, and what was not sent by us is refused."""

import contextlib
import json
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rope_kv.sandbox import wire

# 10,000 examples in a long hunt (--hypothesis-profile hunt), else few.
IS_HUNT = settings.get_current_profile_name() == "hunt"
often = settings(max_examples=10_000 if IS_HUNT else 200, deadline=None)

sizes = st.lists(st.integers(0, 3), max_size=wire.MOST_DIMENSIONS)


@st.composite
def arrays(draw):
    dtype, shape = draw(st.sampled_from(wire.DTYPES)), tuple(draw(sizes))
    size = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype).reshape(shape)


numbers = st.integers() | st.floats()
plain = st.none() | numbers | st.booleans() | st.text(max_size=20)
objects = st.dictionaries(st.text(max_size=5), plain | st.lists(plain, max_size=3), max_size=3)
texts = st.text(max_size=1000)
items = st.none() | numbers | texts | st.binary(max_size=300) | arrays() | objects


def same(one, other):
    """Return whether two items are of one type and the same bit for bit."""
    if isinstance(one, np.ndarray):
        form = (one.dtype, one.shape, one.tobytes())
        return form == (other.dtype, other.shape, other.tobytes())
    if isinstance(one, float):
        return isinstance(other, float) and struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, dict):
        return json.dumps(one) == json.dumps(other)
    return type(one) is type(other) and one == other


@often
@given(kind=st.integers(0, 255), sequence=st.integers(0, 2**32 - 1), sent=st.lists(items))
def test_every_frame_arrives_bit_for_bit(kind, sequence, sent):
    frame = wire.pack(kind, sequence, *sent)
    assert wire.body_length(frame, len(frame)) == len(frame) - wire.HEADER.size
    arrived = wire.unpack(frame)
    assert (arrived.kind, arrived.sequence) == (kind, sequence)
    assert len(arrived.items) == len(sent)
    assert all(map(same, sent, arrived.items))


@st.composite
def forged(draw):
    """Draw bytes: any, with a header of ours before them, or a true frame with a few changed."""
    what = draw(st.sampled_from(("any", "body", "changed", "cut")))
    if what == "any":
        return draw(st.binary(max_size=200))
    if what == "body":
        tags = draw(st.lists(st.sampled_from(b"ifntyjaI"), max_size=6))
        body = b"".join(bytes([tag]) + draw(st.binary(max_size=30)) for tag in tags)
        return wire.HEADER.pack(wire.MAGIC, 1, draw(st.integers(0, 255)), 0, len(body)) + body
    frame = bytearray(wire.pack(1, 0, *draw(st.lists(items, max_size=4))))
    if what == "cut":
        return bytes(frame[: draw(st.integers(0, len(frame)))])
    for at in draw(st.lists(st.integers(0, len(frame) - 1), min_size=1, max_size=4)):
        frame[at] = draw(st.integers(0, 255))
    return bytes(frame)


@often
@given(content=forged())
def test_no_bytes_do_more_than_be_refused(content):
    tracemalloc.start()
    try:
        with contextlib.suppress(wire.WireError):
            wire.unpack(content)
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # JSON of one byte is an object of some tens.
    assert most < 100_000 + 200 * len(content)


@often
@given(
    header=st.builds(
        wire.HEADER.pack,
        st.sampled_from((wire.MAGIC, b"rj")),
        st.integers(0, 255),
        st.integers(0, 255),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2000) | st.integers(0, 2**32 - 1),
    )
)
def test_a_length_above_the_cap_is_refused_before_anything_is_read(header):
    (*_, length) = wire.HEADER.unpack(header)
    if header.startswith(wire.MAGIC) and length <= 1000:
        assert wire.body_length(header, 1000) == length
    else:
        with pytest.raises(wire.WireError, match=r"no frame|1000 are allowed"):
            wire.body_length(header, 1000)


@pytest.mark.parametrize("item", [object(), 1j, (1, 2), np.zeros(1, object), np.zeros((1,) * 9)])
def test_what_no_frame_can_carry_is_refused_when_it_is_packed(item):
    with pytest.raises(wire.WireError):
        wire.pack(1, 0, item)


def test_deep_json_is_refused():
    body = b'{"a":' * 100_000
    item = b"j" + struct.pack("<I", len(body)) + body
    with pytest.raises(wire.WireError):
        wire.unpack(wire.HEADER.pack(wire.MAGIC, 1, 1, 0, len(item)) + item)


def test_long_text_is_cut_between_letters():
    (arrived,) = wire.unpack(wire.pack(1, 0, "é" * wire.LONGEST_TEXT)).items
    assert arrived == "é" * (wire.LONGEST_TEXT // 2)
    (arrived,) = wire.unpack(wire.pack(1, 0, "\udc80 ok")).items
    assert arrived == "\\udc80 ok"
