"""What a case says of its decoder means the same in every version: weights, limits, words."""

import numpy as np
import pytest

from rope_kv import Decoder, oracle

# The shape of each matrix and its first and last number, as they were when cases were stored.
DRAWN = {
    "Wq": ((4, 8), 0.8121726818316208, -0.19837676342798868),
    "Wk": ((4, 4), -0.3435863500597997, 1.050127568239421),
    "Wv": ((4, 4), 0.060079476240814576, -0.14904641755135783),
    "Wo": ((8, 4), 0.1727172470746738, 0.027343843393348714),
}
SAID = (
    "Decoder(2)",
    "Decoder(8, base=500)",
    "Decoder(4, seed=2)",
    "Decoder(8, heads=2)",
    "Decoder(8, heads=3)",
    "Decoder(8, heads=2, kv_heads=1)",
    "Decoder(8, heads=2, head_dim=6)",
    "Decoder(8, rotary_dim=6)",
    "Decoder(8, rotary_dim=8)",
    "Decoder(4, scaling={'rule': 'linear', 'factor': 2.0})",
    "Decoder(4, window=1)",
    "Decoder(4, sinks=1)",
    "Decoder(2, seed=4294967295)",
    "Decoder(2, heads=65536, head_dim=2)",
    "Decoder(2, heads=65536, kv_heads=1, head_dim=2)",
    "Decoder(2, window=2147483648, sinks=2147483648)",
)
REFUSED = {
    "Decoder(2, seed=-1)": "seed must be from 0 to 4294967295, found -1",
    "Decoder(2, seed=4294967296)": "seed must be from 0 to 4294967295, found 4294967296",
    "Decoder(2, seed=0.5)": "seed must be an integer, found 0.5 of type float",
    "Decoder(2, heads=0, head_dim=2)": "heads must be from 1 to 65536, found 0",
    "Decoder(2, heads=65537, head_dim=2)": "heads must be from 1 to 65536, found 65537",
    "Decoder(2, heads=2, kv_heads=0, head_dim=2)": "kv_heads must be from 1 to 2, found 0",
    "Decoder(2, heads=2, kv_heads=3, head_dim=2)": "kv_heads must be from 1 to 2, found 3",
    "Decoder(2, heads=3, kv_heads=2, head_dim=2)": (
        "heads must be a multiple of kv_heads, found 3 and 2"
    ),
    "Decoder(4, rotary_dim=6)": "rotary_dim must be at most head_dim, 4, found 6",
    "Decoder(2, window=0)": "window must be from 1 to 2147483648, found 0",
    "Decoder(2, window=2147483649)": "window must be from 1 to 2147483648, found 2147483649",
    "Decoder(2, sinks=-1)": "sinks must be from 0 to 2147483648, found -1",
    "Decoder(2, sinks=2147483649)": "sinks must be from 0 to 2147483648, found 2147483649",
}


def test_the_weights_of_a_seed_are_those_that_cases_were_stored_with() -> None:
    drawn, plain = (Decoder(4, seed=seed, heads=4, kv_heads=2, head_dim=2) for seed in (1, 0))
    for name, (shape, first, last) in DRAWN.items():
        weights = getattr(drawn, name)
        assert weights.shape == shape
        np.testing.assert_allclose([weights[0, 0], weights[-1, -1]], [first, last], rtol=1e-14)
        np.testing.assert_array_equal(getattr(plain, name), np.eye(*shape))


def test_whoever_changes_the_weights_of_a_decoder_changes_no_other() -> None:
    decoder, again = (Decoder(4, seed=1, heads=4, kv_heads=2, head_dim=2) for _ in range(2))
    decoder.Wq[:] = 0
    assert again.Wq.any()
    assert Decoder(4, seed=1, heads=4, kv_heads=2, head_dim=2).Wq.any()


def test_a_decoder_is_shown_as_it_is_made() -> None:
    for said in SAID:
        assert repr(eval(said, {"Decoder": Decoder})) == said
    assert repr(Decoder(4, base=10000.0, heads=1, head_dim=4)) == "Decoder(4)"


def test_where_no_sinks_are_named_there_are_none() -> None:
    assert Decoder(2, window=1).sinks == 0
    rows = np.ones((3, 2))
    for seen in (oracle.visible(3, 1), oracle.attention_weights(rows, rows, 1)):
        np.testing.assert_array_equal(seen, np.eye(3))


def test_what_makes_no_decoder_is_refused_and_the_limit_is_said() -> None:
    for call, sentence in REFUSED.items():
        with pytest.raises((TypeError, ValueError)) as refusal:
            eval(call, {"Decoder": Decoder})
        assert str(refusal.value) == sentence
