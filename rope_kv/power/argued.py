"""Why a property is kept that does nothing for any trap which another does not do as well.

Many of these laws ask no oracle: they hold the oracle itself, and say what is wrong to someone who
does not know the formula.
"""

ARGUED: dict[str, str] = {
    "the_first_pair_turns_by_one_radian_per_token": (
        "It asks no oracle, and tells a wrong unit, or a wrong start, from a wrong exponent."
    ),
    "frequencies_fall_strictly_for_a_base_above_one": (
        "It asks no oracle, and names an order where the formula says only that numbers differ."
    ),
    "each_pair_keeps_its_length": (
        "It asks no oracle: that a rotation is a rotation holds the oracle too."
    ),
    "rotation_is_linear": (
        "It asks no oracle: what depends on the size of a row is no rotation of it."
    ),
    "scores_depend_on_relative_position_alone": (
        "It is what the rotation is for, and asks no oracle: it holds in every layout."
    ),
    "the_first_rows_are_the_decode_of_the_first_rows": (
        "It asks no oracle: the loop is compared with itself, stopped earlier."
    ),
    "no_output_depends_on_a_later_token": (
        "It asks no oracle: it is what causal means, and names what was seen too early."
    ),
    "one_token_repeated_decodes_to_its_own_value": (
        "It asks no oracle, and shows weights that do not sum to one by themselves."
    ),
    "decoding_follows_the_base_of_its_decoder": (
        "It names a base that is not passed on, where the full forward only differs."
    ),
    "project_q_sees_each_row_once_in_order": (
        "It names the projection: who caches keys and not values breaks one of the three."
    ),
    "project_k_sees_each_row_once_in_order": (
        "It names the projection: who caches keys and not values breaks one of the three."
    ),
    "project_v_sees_each_row_once_in_order": (
        "It names the projection: who caches keys and not values breaks one of the three."
    ),
    "the_full_forward_is_never_called": (
        "It names what was done instead of decoding, which the projections only show."
    ),
    "a_rotated_array_has_its_own_memory": (
        "It shows within one call what otherwise takes a later one to do harm."
    ),
    "frequencies_do_not_depend_on_earlier_calls": (
        "It finds the memory where it is, and not in what calls the function."
    ),
    "pairs_of_the_declared_layout_turn_by_their_own_angle": (
        "It is the law of the layout, pair by pair; the others see that something differs."
    ),
    "angles_keep_their_digits_where_16_bits_run_out": (
        "It reaches positions that no integer of 16 bits holds on purpose, not by chance."
    ),
    "pairs_keep_their_length_in_few_digits_as_well": (
        "It asks no oracle, where the bounds of few digits are widest."
    ),
    "positions_that_do_not_begin_at_0_are_refused": (
        "It is the one law of an implementation that takes runs from 0 alone."
    ),
    "each_query_head_attends_with_the_keys_of_its_group": (
        "It is the law of grouped heads; the others see it through a window, or a scaling."
    ),
    "grouped_heads_equal_heads_whose_keys_are_repeated": (
        "It asks no oracle: an implementation is compared with itself, without groups."
    ),
    "each_output_depends_on_every_token_in_its_window": (
        "It asks no oracle: it sees a token that is dropped, whatever the others weigh."
    ),
    "feeding_returns_an_array_like_the_rows_that_are_fed": (
        "It names a wrong shape or dtype as such, before any value is compared."
    ),
    "a_session_leaves_its_decoder_unchanged": (
        "It shows who wrote to the decoder, where the next session only answers wrongly."
    ),
    "a_store_may_be_filled_to_its_last_slot": (
        "It goes to the last slot on purpose, which the others meet by chance."
    ),
}
