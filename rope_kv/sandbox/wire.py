"""Frames: what the grader and a worker say to each other, and nothing that can be executed.

A frame is a header and a body of tagged items: numbers, short text, bytes, plain numpy arrays,
and JSON objects. Whatever bytes arrive, reading them ends, allocates in proportion to their
length, and raises nothing but `WireError`.
"""

from __future__ import annotations

import json
import struct
from typing import Any, NamedTuple

import numpy as np

HEADER = struct.Struct("<2sBBII")  # magic, kind, number of items, sequence number, body length
MAGIC = b"rk"
SMALLEST_CAP = 1 << 16  # bytes of a body
LONGEST_TEXT = 4096  # bytes
MOST_DIMENSIONS = 8
# A list is carried entry by entry up to so many, each an item; and as its numbers up to so many.
MOST_PARTS, LONGEST_LIST = 100, 1 << 16

# What a worker may ask: a projection, or a function of the contract in its right form.
PROJECTIONS = ("project_q", "project_k", "project_v", "project_out", "forward_full")
RIGHT_ONE = len(PROJECTIONS)
OUT = PROJECTIONS.index("project_out")
# A projection, and the row of which its answer was taken ahead; of OUT, how many rows it had.
TAKEN = struct.Struct("<BH")

# The kinds of frame, from the grader ...
LOAD, CALL, ANSWER, REFUSE, TEST = 1, 2, 3, 4, 5
# ... and from the worker.
LOADED, FAILED, ASK, RETURNED, TESTED = 11, 12, 13, 14, 15

# Between the grader and a zygote. A request is b"F", for a new worker, whose socket comes along,
# b"W" and the pid of one to end, or b"A" to end all. A reply is the pid, the status of what has
# ended, or 0.
REQUEST = struct.Struct("<ci")
REPLY = struct.Struct("<i")
READY, UNABLE = b"R", b"U"

DTYPES = tuple(
    np.dtype(name)
    for name in (
        *("<f8", "<i8", "<f4", "<i4", "|u1", "|b1", "<f2", "|i1", "<i2", "<u2", "<u4", "<u8"),
        *("<c8", "<c16", ">f8", ">f4", ">f2", ">i8", ">i4", ">i2", ">u8", ">u4", ">u2"),
        *(np.dtype(np.longdouble).str, np.dtype(np.clongdouble).str),
    )
)
_CODES: dict[Any, int] = {dtype: code for code, dtype in reversed(list(enumerate(DTYPES)))}

_INT = struct.Struct("<cq")
_FLOAT = struct.Struct("<cd")
_SIZED = struct.Struct("<cI")
_ARRAY = struct.Struct("<cBB")


class WireError(Exception):
    """Bytes that are no frame, or a value that no frame can carry; the message says which."""


class Frame(NamedTuple):
    """A message: what it is, which call it belongs to, and what it says."""

    kind: int
    sequence: int
    items: list[Any]


def can_carry(dtype: Any) -> bool:
    """Return whether an array of this dtype can be an item."""
    return dtype in _CODES


def code_of(dtype: Any) -> int:
    """Return the place of a dtype in `DTYPES`."""
    return _CODES[dtype]


def extent(array: Any) -> tuple[int, int]:
    """Return the addresses between which the entries of an array lie."""
    low = high = array.__array_interface__["data"][0]
    for length, stride in zip(array.shape, array.strides, strict=True):
        low += min(0, (length - 1) * stride)
        high += max(0, (length - 1) * stride)
    return low, high + array.itemsize


def pack(kind: int, sequence: int, *items: Any) -> bytes:
    """Return a frame as bytes; WireError for an item that no frame can carry."""
    body = b"".join([_packed(item) for item in items])
    return HEADER.pack(MAGIC, kind, len(items), sequence, len(body)) + body


def body_length(header: bytes | bytearray, cap: int) -> int:
    """Return how long the body after a header is; WireError if it is none, or above the cap."""
    magic, _, _, _, length = HEADER.unpack_from(header)
    if magic != MAGIC:
        raise WireError("bytes that are no frame")
    if length > cap:
        raise WireError(f"a frame that claims {length} bytes, where {cap} are allowed")
    return int(length)


def first_frame(received: bytearray, cap: int) -> Frame | None:
    """Take the first frame out of what was received; None if it is not all there yet."""
    if len(received) < HEADER.size:
        return None
    end = HEADER.size + body_length(received, cap)
    if len(received) < end:
        return None
    frame = unpack(bytes(received[:end]))
    del received[:end]
    return frame


def unpack(frame: bytes) -> Frame:
    """Return the message that a whole frame carries; WireError where it is not one."""
    if len(frame) < HEADER.size:
        raise WireError("bytes that are no frame")
    magic, kind, count, sequence, length = HEADER.unpack_from(frame)
    if magic != MAGIC or length != len(frame) - HEADER.size:
        raise WireError("bytes that are no frame")
    items, at = [], HEADER.size
    try:
        for _ in range(count):
            item, at = _unpacked(frame, at)
            items.append(item)
    except (struct.error, ValueError, IndexError, RecursionError):
        raise WireError("a frame that cannot be read") from None
    if at != len(frame):
        raise WireError("a frame with bytes left over")
    return Frame(kind, sequence, items)


def _packed(item: Any) -> Any:
    kind: Any = type(item)
    if kind is np.ndarray:
        code = _CODES.get(item.dtype)
        if code is None or item.ndim > MOST_DIMENSIONS:
            raise WireError(f"an array of dtype {item.dtype} and {item.ndim} dimensions")
        head = _ARRAY.pack(b"a", code, item.ndim)
        return head + struct.pack(f"<{item.ndim}I", *item.shape) + bytes(item.tobytes())
    if kind is int:
        if -(1 << 63) <= item < 1 << 63:
            return _INT.pack(b"i", item)
        digits = item.to_bytes(item.bit_length() // 8 + 1, "little", signed=True)
        return _SIZED.pack(b"I", len(digits)) + digits
    if kind is float:
        return _FLOAT.pack(b"f", item)
    if kind is dict:
        content = json.dumps(item).encode()
        return _SIZED.pack(b"j", len(content)) + content
    if kind is str:
        text = item.encode("utf-8", "backslashreplace")[:LONGEST_TEXT]
        text = text.decode("utf-8", "ignore").encode()  # A letter cut in two is left out.
        return _SIZED.pack(b"t", len(text)) + text
    if kind is bytes:
        return _SIZED.pack(b"y", len(item)) + item
    if item is None:
        return b"n"
    raise WireError(f"a value of type {kind.__name__}")


def _unpacked(frame: bytes, at: int) -> tuple[Any, int]:
    tag = frame[at]
    if tag == 97:  # a: an array
        _, code, dimensions = _ARRAY.unpack_from(frame, at)
        at += _ARRAY.size
        if code >= len(DTYPES) or dimensions > MOST_DIMENSIONS:
            raise WireError("an array of no known dtype, or of too many dimensions")
        shape = struct.unpack_from(f"<{dimensions}I", frame, at)
        at += 4 * dimensions
        count = 1
        for length in shape:
            count *= length
        dtype = DTYPES[code]
        end = at + count * dtype.itemsize
        if end > len(frame):
            raise WireError("an array that is longer than its frame")
        return np.frombuffer(frame, dtype, count, at).reshape(shape).copy(), end
    if tag == 105:  # i: an integer of 64 bits
        return _INT.unpack_from(frame, at)[1], at + _INT.size
    if tag == 102:  # f: a float
        return _FLOAT.unpack_from(frame, at)[1], at + _FLOAT.size
    if tag == 110:  # n: None
        return None, at + 1
    _, size = _SIZED.unpack_from(frame, at)
    at += _SIZED.size
    if size > len(frame) - at:
        raise WireError("an item that is longer than its frame")
    content, at = frame[at : at + size], at + size
    if tag == 116:  # t: text
        if size > LONGEST_TEXT:
            raise WireError(f"text of more than {LONGEST_TEXT} bytes")
        return content.decode("utf-8"), at
    if tag == 121:  # y: bytes
        return content, at
    if tag == 106:  # j: a JSON object
        found = json.loads(content)
        if type(found) is not dict:
            raise WireError("JSON that is no object")
        return found, at
    if tag == 73:  # I: an integer of any size
        return int.from_bytes(content, "little", signed=True), at
    raise WireError("an item of no known kind")
