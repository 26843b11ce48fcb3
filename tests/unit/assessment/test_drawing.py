from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from theodolite.assessment.drawing import allot, draw, shuffled

MEMBERS = [f"d{number}" for number in range(50)]
SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 60), min_size=1)


def test_a_larger_draw_holds_the_smaller_one():
    small = draw({"a": MEMBERS}, {"a": 5}, 7)["a"]
    large = draw({"a": MEMBERS}, {"a": 20}, 7)["a"]

    assert (len(small), len(set(large))) == (5, 20)
    assert large[:5] == small


def test_another_seed_draws_others_and_each_member_has_its_chance():
    counts = Counter(member for seed in range(400) for member in draw({"a": MEMBERS}, {"a": 10}, seed)["a"])

    assert set(counts) == set(MEMBERS)
    assert max(counts.values()) < 400 * 0.2 * 1.5


def test_the_order_of_a_file_hangs_on_the_seed_alone():
    assert shuffled(MEMBERS, 1) == shuffled(MEMBERS[::-1], 1) != shuffled(MEMBERS, 2)


@given(sizes=SIZES, n=st.integers(0, 200))
def test_shares_add_up_and_no_stratum_gives_more_than_it_has(sizes, n):
    shares = allot(sizes, dict.fromkeys(sizes, 0.3), n)

    assert sum(shares.values()) == min(n, sum(sizes.values()))
    assert all(0 <= share <= sizes[name] for name, share in shares.items())


def test_no_stratum_is_left_out_while_there_is_enough():
    assert allot({"many": 1000, "few": 3, "none": 0}, {"many": 0.2, "few": 0.5, "none": 0.5}, 50) == {
        "many": 48,
        "few": 2,
    }


@pytest.mark.parametrize(("spread", "share"), [(0.2, 20), (0.4, 34)])
def test_where_labels_differ_more_is_drawn_more(spread, share):
    assert allot({"defect": 100, "sound": 400}, {"defect": spread, "sound": 0.2}, 100)["defect"] == pytest.approx(
        share, abs=1
    )
