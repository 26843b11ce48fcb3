from __future__ import annotations

from dataclasses import replace

import pytest

from theodolite.domain.codings.coded import CodedState, CodingWork, books_by_version
from theodolite.domain.codings.coding import Code, Codebook, Coding, CodingResolution, OpenAnswer
from theodolite.domain.identity import version_of

BOOK = Codebook(study="s", codes=tuple(Code(name=name, definition=name) for name in ("a", "b", "c")))
ANSWER = OpenAnswer(session="1", questionnaire="q", question="why")


def work(*codes: tuple[str, ...], resolved: object = "no", books: tuple[Codebook, ...] = (BOOK,)) -> CodingWork:
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
def test_where_an_answer_stands(done, state):
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
def test_a_code_is_known_where_coders_say_the_same_or_agreed_on_it(done, has):
    (coded,) = done.coded([ANSWER])

    assert [coded.has(code) for code in "abc"] == has


def test_a_changed_codebook_makes_codings_due_and_resolutions_void():
    later = replace(BOOK, codes=(*BOOK.codes, Code(name="d", definition="d")), revision=2)
    done = work(("a",), ("b",), resolved=("a",), books=(BOOK, later))
    (coded,) = done.coded([ANSWER])

    assert [done.is_due(one) for one in done.codings] == [True, True]
    assert (coded.state, coded.resolution) == (CodedState.UNCODED, None)


def test_the_codebook_of_the_highest_revision_holds():
    later = replace(BOOK, codes=BOOK.codes[:1], revision=2)

    assert work(books=(later, BOOK)).codebook_for(ANSWER.place) == later


def test_a_codebook_for_some_questions_goes_before_that_for_all_others():
    own = replace(BOOK, name="reasons", covers=("q.why",))
    done = work(("a",), books=(BOOK, own))

    assert list(done.current) == ["", "reasons"]
    assert (done.codebook_for("q.why"), done.codebook_for("q.how")) == (own, BOOK)
    assert not done.is_due(done.codings[0])


def test_without_a_codebook_for_its_question_nothing_holds():
    own = replace(BOOK, name="methods", covers=("q.how",))

    assert work(("a",), books=(own,)).codebook_for("q.why") is None
    assert work(("a",), books=(own,)).is_due(work(("a",)).codings[0])


def test_a_place_is_free_where_who_left_would_code_again():
    later = replace(BOOK, codes=(*BOOK.codes, Code(name="d", definition="d")), revision=2)
    stays, due = work(("a",), ("b",)), work(("a",), ("b",), books=(BOOK, later))

    assert replace(due, away=frozenset({"c1"})).vacant(ANSWER) == "c1"
    assert replace(stays, away=frozenset({"c1"})).vacant(ANSWER) == due.vacant(ANSWER) == ""
