"""Garbage is looked for seldom during a run, and as ever afterwards."""

from __future__ import annotations

import gc

import pytest

from theodolite.execution.gc_tuning import SELDOM, WHILE_LOADING, reduced_gc


def test_garbage_collection_is_rare_within_the_block() -> None:
    with reduced_gc():
        assert gc.get_threshold() == SELDOM
        assert gc.get_freeze_count() > 0


def test_a_block_sets_its_own_interval() -> None:
    with reduced_gc(WHILE_LOADING), reduced_gc():
        assert gc.get_threshold() == SELDOM
    with reduced_gc(WHILE_LOADING):
        assert gc.get_threshold() == WHILE_LOADING


def test_the_settings_are_restored_even_if_the_block_fails() -> None:
    before = gc.get_threshold()

    with pytest.raises(RuntimeError), reduced_gc():
        raise RuntimeError

    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
