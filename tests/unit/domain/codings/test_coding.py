from __future__ import annotations

import pytest

from theodolite.domain.codings.coding import Code, Codebook, HiddenStretch, OpenAnswer, QuoteRelease
from theodolite.domain.errors import InputError

VAGUE = Code(name="vague", definition="Says nothing definite.", include="hedges", example="It depends.")
WRONG = Code(name="wrong", definition="Says what is not so.")
BOOK = Codebook(study="s", codes=(VAGUE, WRONG))


def test_all_faults_of_a_codebook_are_said_at_once():
    with pytest.raises(InputError) as caught:
        Codebook(study="s", codes=(VAGUE, Code(name="Vague", definition=""), Code(name="", definition="x")))

    assert all(words in str(caught.value) for words in ("two codes are called `vague`", "`Vague`", "no name"))


def test_a_codebook_without_codes_is_refused():
    with pytest.raises(InputError, match="there is no code"):
        Codebook(study="s", codes=())


@pytest.mark.parametrize(
    ("facts", "words"),
    [({"name": "x"}, "which questions"), ({"covers": ("q.why",)}, "has no name")],
    ids=["a name alone", "questions alone"],
)
def test_a_codebook_for_some_questions_has_a_name_and_says_which(facts, words):
    with pytest.raises(InputError, match=words):
        Codebook(study="s", codes=(VAGUE,), **facts)


def test_a_code_that_is_not_there_is_named_with_the_likely_one():
    with pytest.raises(InputError, match=r"`vage`\. Did you mean `vague`"):
        BOOK.check(["vage"])


@pytest.mark.parametrize(
    ("codes", "given", "is_due"),
    [
        ((VAGUE, WRONG), ("vague",), False),
        ((WRONG, VAGUE), ("vague",), False),
        ((Code(name="vague", definition="Says nothing definite.", include="hedges"), WRONG), ("vague",), False),
        ((Code(name="vague", definition="Something else."), WRONG), ("wrong",), True),
        ((VAGUE, WRONG, Code(name="new", definition="New.")), (), True),
        ((VAGUE,), ("wrong",), True),
        ((VAGUE,), ("vague",), False),
    ],
    ids=["same", "order", "example", "meaning", "new code", "gone and borne", "gone and not borne"],
)
def test_a_further_codebook_outdates_what_it_concerns(codes, given, is_due):
    later = Codebook(study="s", codes=codes, revision=2)

    assert later.outdates(BOOK, given) is is_due


def test_hidden_words_are_blocked_out_and_nothing_moves():
    answer = OpenAnswer(session="a", questionnaire="b", question="c")
    leave = QuoteRelease(answer=answer, by="x", hidden=(HiddenStretch(start=0, end=3), HiddenStretch(start=8, end=99)))

    assert leave.shown("Ana was cross") == "\N{FULL BLOCK}" * 3 + " was " + "\N{FULL BLOCK}" * 5
