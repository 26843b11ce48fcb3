from __future__ import annotations

from dataclasses import replace

import pytest
from tests.fakes.codings import TRIED as STRATEGY
from tests.fakes.codings import WORDS, noted
from tests.fakes.responses import STUDY

from theodolite.domain.coding import (
    TRIED,
    Code,
    Codebook,
    CodedState,
    Coding,
    CodingResolution,
    CodingWork,
    HiddenSpan,
    OpenAnswer,
    QuoteRelease,
    books_by_version,
    tried_in,
)
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import InputError
from theodolite.domain.identity import version_of
from theodolite.domain.session import SessionState

VAGUE = Code(name="vague", definition="Says nothing definite.", include="hedges", example="It depends.")

WRONG = Code(name="wrong", definition="Says what is not so.")

BOOK = Codebook(study="s", codes=(VAGUE, WRONG))


def test_all_errors_of_a_codebook_are_reported_at_once():
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
def test_a_codebook_for_some_questions_has_a_name_and_lists_them(facts, words):
    with pytest.raises(InputError, match=words):
        Codebook(study="s", codes=(VAGUE,), **facts)


def test_a_missing_code_is_reported_with_the_closest_name():
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
def test_a_later_codebook_outdates_codings_of_its_questions(codes, given, is_due):
    later = Codebook(study="s", codes=codes, revision=2)

    assert later.outdates(BOOK, given) is is_due


def test_redacted_words_are_blocked_out_at_equal_length():
    answer = OpenAnswer(session="a", questionnaire="b", question="c")
    leave = QuoteRelease(answer=answer, by="x", hidden=(HiddenSpan(start=0, end=3), HiddenSpan(start=8, end=99)))

    assert leave.shown("Ana was cross") == "\N{FULL BLOCK}" * 3 + " was " + "\N{FULL BLOCK}" * 5


CODED_BOOK = Codebook(study="s", codes=tuple(Code(name=name, definition=name) for name in ("a", "b", "c")))

ANSWER = OpenAnswer(session="1", questionnaire="q", question="why")


def work(*codes: tuple[str, ...], resolved: object = "no", books: tuple[Codebook, ...] = (CODED_BOOK,)) -> CodingWork:
    first = version_of(books[0])
    codings = tuple(
        Coding(answer=ANSWER, coder=f"c{place}", codes=given, codebook=first) for place, given in enumerate(codes)
    )
    talked = CodingResolution(answer=ANSWER, codebook=first, codes=None, participants=())
    found = () if resolved == "no" else (replace(talked, codes=resolved),)
    return CodingWork(codebooks=books_by_version(books), codings=codings, resolutions=found)


@pytest.mark.parametrize(
    ("done", "state"),
    [
        (work(), CodedState.UNCODED),
        (work(("a",)), CodedState.ONCE),
        (work(("a", "b"), ("b", "a")), CodedState.ALIKE),
        (work((), ()), CodedState.ALIKE),
        (work(("a",), ("a", "b")), CodedState.DISPUTED),
        (work(("a",), ("b",), resolved=("a",)), CodedState.CONSENSUS),
        (work(("a",), ("b",), resolved=None), CodedState.NO_CONSENSUS),
    ],
    ids=[state.name for state in CodedState for _ in range(2 if state is CodedState.ALIKE else 1)],
)
def test_an_answer_states_its_location(done, state):
    (coded,) = done.coded([ANSWER])

    assert coded.state is state


@pytest.mark.parametrize(
    ("done", "has"),
    [
        (work(("a",)), [None, None, None]),
        (work(("a", "b"), ("a",)), [True, None, False]),
        (work(("a", "b"), ("a",), resolved=None), [True, None, False]),
        (work(("a", "b"), ("a",), resolved=("b", "c")), [False, True, True]),
    ],
    ids=["one coder", "disputed", "no consensus", "consensus"],
)
def test_a_code_is_decided_where_coders_agree_or_resolved_it(done, has):
    (coded,) = done.coded([ANSWER])

    assert [coded.has(code) for code in "abc"] == has


def test_a_changed_codebook_makes_codings_due_and_resolutions_void():
    later = replace(CODED_BOOK, codes=(*CODED_BOOK.codes, Code(name="d", definition="d")), revision=2)
    done = work(("a",), ("b",), resolved=("a",), books=(CODED_BOOK, later))
    (coded,) = done.coded([ANSWER])

    assert [done.is_due(one) for one in done.codings] == [True, True]
    assert (coded.state, coded.resolution) == (CodedState.UNCODED, None)


def test_the_codebook_with_the_highest_revision_applies():
    later = replace(CODED_BOOK, codes=CODED_BOOK.codes[:1], revision=2)

    assert work(books=(later, CODED_BOOK)).codebook_for(ANSWER.place) == later


def test_a_codebook_for_some_questions_precedes_the_general_one():
    own = replace(CODED_BOOK, name="reasons", covers=("q.why",))
    done = work(("a",), books=(CODED_BOOK, own))

    assert list(done.current) == ["", "reasons"]
    assert (done.codebook_for("q.why"), done.codebook_for("q.how")) == (own, CODED_BOOK)
    assert not done.is_due(done.codings[0])


def test_no_codebook_applies_to_a_question_without_one():
    own = replace(CODED_BOOK, name="methods", covers=("q.how",))

    assert work(("a",), books=(own,)).codebook_for("q.why") is None
    assert work(("a",), books=(own,)).is_due(work(("a",)).codings[0])


def test_a_slot_is_vacant_if_an_absent_coder_would_have_to_code_again():
    later = replace(CODED_BOOK, codes=(*CODED_BOOK.codes, Code(name="d", definition="d")), revision=2)
    stays, due = work(("a",), ("b",)), work(("a",), ("b",), books=(CODED_BOOK, later))

    assert replace(due, away=frozenset({"c1"})).vacant(ANSWER) == "c1"
    assert replace(stays, away=frozenset({"c1"})).vacant(ANSWER) == due.vacant(ANSWER) == ""


def test_all_notes_of_a_session_are_one_answer_about_its_dialogues():
    again = replace(STRATEGY, name="own words", attempts=())
    (one,) = tried_in([noted(STUDY, groups={"age": "old"}), noted(STUDY, number=2, strategies=(again,))])

    assert [answer.value for answer in one.to("tried")] == [f"{WORDS}\nown words"]
    assert (one.questionnaire, one.instrument_version, one.submitted) == (TRIED.name, version_of(TRIED), True)
    assert (one.participant, one.application, one.level) == ("p", "blue", Level.RED_TEAMING)
    assert (one.dialogues, one.groups) == (("unit 1", "unit 2"), {"age": "old"})


@pytest.mark.parametrize("state", [SessionState.WAITING, SessionState.ACTIVE, SessionState.WITHDRAWN])
def test_notes_that_are_open_or_withdrawn_are_not_answers(state):
    assert list(tried_in([noted(STUDY, state=state)])) == []


def test_a_session_without_a_note_is_skipped():
    assert list(tried_in([noted(STUDY, strategies=())])) == []
