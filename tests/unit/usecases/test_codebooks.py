from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.responses import STUDY
from tests.fakes.store import FakeStore

from theodolite.domain.codings.coding import Code, Codebook
from theodolite.domain.errors import Conflict, InputError
from theodolite.usecases.codebooks import away_in, keep_absence, keep_codebook

BOOK = Codebook(study=STUDY.name, codes=(Code(name="vague", definition="Says nothing definite."),), revision=0)
OTHER = replace(BOOK, codes=(Code(name="cold", definition="Unkind."),), revision=1, note="Fewer, clearer.")


def test_two_writers_of_a_codebook_do_not_overwrite_each_other():
    store = FakeStore()
    kept = keep_codebook(store, BOOK)

    with pytest.raises(Conflict, match="meanwhile"):
        keep_codebook(store, replace(OTHER, revision=0))
    with pytest.raises(InputError, match="nothing has changed"):
        keep_codebook(store, kept)
    assert keep_codebook(store, OTHER).revision == 2


def test_codebooks_of_different_names_are_revised_apart():
    store = FakeStore()
    keep_codebook(store, BOOK)
    own = keep_codebook(store, replace(BOOK, name="ways", covers=("after.open",)))

    assert own.revision == 1
    assert keep_codebook(store, OTHER).revision == 2


def test_a_question_has_one_codebook():
    store = FakeStore()
    keep_codebook(store, replace(BOOK, name="ways", covers=("after.open",)))

    with pytest.raises(InputError, match=r"`after\.open` \(`ways`\)"):
        keep_codebook(store, replace(BOOK, name="means", covers=("after.open", "after.more")))


def test_an_absence_needs_a_reason_and_is_written_down_once():
    store = FakeStore()
    with pytest.raises(InputError, match="why"):
        keep_absence(store, "s", "c1", is_away=True, by="c2", reason=" ")
    for is_away in (True, False, True):
        keep_absence(store, "s", "c1", is_away=is_away, by="c2", reason="As told.")

    with pytest.raises(InputError, match="written down already"):
        keep_absence(store, "s", "c1", is_away=True, by="c2", reason="As told.")
    assert away_in(store, "s") == {"c1"}
