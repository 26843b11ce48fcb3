"""Garbage is looked for seldom during a run, and as ever afterwards."""

from __future__ import annotations

import gc

import pytest

from theodolite.execution.collecting import SELDOM, WHILE_LOADING, seldom_collected


def test_within_the_block_garbage_is_looked_for_seldom() -> None:
    with seldom_collected():
        assert gc.get_threshold() == SELDOM
        assert gc.get_freeze_count() > 0


def test_a_block_says_itself_how_seldom() -> None:
    with seldom_collected(WHILE_LOADING), seldom_collected():
        assert gc.get_threshold() == SELDOM
    with seldom_collected(WHILE_LOADING):
        assert gc.get_threshold() == WHILE_LOADING


def test_afterwards_all_is_as_before_even_if_the_block_fails() -> None:
    before = gc.get_threshold()

    with pytest.raises(RuntimeError), seldom_collected():
        raise RuntimeError

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
