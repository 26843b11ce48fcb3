"""Storage of codings of open answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from tests.contract.given import NOW, a_person_session
from theodolite.domain.coding import (
    Code,
    Codebook,
    Coding,
    CodingResolution,
    GivenCodes,
    HiddenSpan,
    OpenAnswer,
    QuoteRelease,
)
from theodolite.domain.errors import Conflict, NotFound
from theodolite.domain.event_record import Withdrawal
from theodolite.domain.findings.risks import CombinedReview
from theodolite.domain.identity import digest, version_of
from theodolite.domain.run import Run
from theodolite.events.rules import coder_slot
from theodolite.store.django_store import DjangoStore as Store

BOOK = Codebook(study="support", codes=(Code(name="vague", definition="Says nothing definite."),))


@pytest.fixture
def answer(store: Store, run: Run) -> OpenAnswer:
    """An answer of the first person's session."""
    session = a_person_session(run)
    store.events.sessions.add(session)
    return OpenAnswer(session=session.key, questionnaire="after", question="why")


def a_coding(answer: OpenAnswer, coder: str = "c1", **changes: object) -> Coding:
    known: dict[str, object] = {"answer": answer, "coder": coder, "codes": ("vague",), "codebook": version_of(BOOK)}
    return Coding(**(known | changes))  # type: ignore[arg-type]


def add(store: Store, coding: Coding, *, instead_of: str = "") -> None:
    """Store a coding in the slot that the rules of events choose."""
    store.events.codings.add_coding(coding, choose=partial(coder_slot, coding.coder, instead_of=instead_of))


def kept(store: Store) -> list[Coding]:
    return [replace(one, at=None) for one in store.events.codings.codings("support")]


class TestCodings:
    def test_a_stored_coding_is_read_back_unchanged(self, store: Store, answer: OpenAnswer) -> None:
        given = a_coding(answer, memo="Seen before?")
        add(store, given)

        assert kept(store) == [given]

    def test_an_empty_set_of_codes_is_a_valid_coding(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer, codes=()))

        assert [one.codes for one in store.events.codings.codings("support")] == [()]

    def test_the_latest_revision_counts(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer))
        add(store, a_coding(answer, codes=(), revision=2))

        assert [(one.codes, one.revision) for one in store.events.codings.codings("support")] == [((), 2)]

    def test_exactly_two_people_code_an_answer(self, store: Store, answer: OpenAnswer) -> None:
        for coder in ("c1", "c2"):
            add(store, a_coding(answer, coder))

        with pytest.raises(Conflict):
            add(store, a_coding(answer, "c3"))
        assert [one.coder for one in store.events.codings.codings("support")] == ["c1", "c2"]

    def test_a_coder_can_revise_a_coding(self, store: Store, answer: OpenAnswer) -> None:
        for coder in ("c1", "c2"):
            add(store, a_coding(answer, coder))
        add(store, a_coding(answer, "c2", revision=2, codes=()))

        assert [one.codes for one in store.events.codings.codings("support")] == [("vague",), ()]

    def test_a_reassigned_position_is_removed_from_its_former_coder(self, store: Store, answer: OpenAnswer) -> None:
        for coder in ("c1", "c2"):
            add(store, a_coding(answer, coder))
        add(store, a_coding(answer, "c3", revision=2, codes=()), instead_of="c1")

        assert [(one.coder, one.revision) for one in store.events.codings.codings("support")] == [("c3", 2), ("c2", 1)]
        with pytest.raises(Conflict):
            add(store, a_coding(answer, "c1", revision=3))

    def test_only_an_assigned_position_can_be_reassigned(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer))

        with pytest.raises(Conflict):
            add(store, a_coding(answer, "c3", revision=2), instead_of="c2")

    @pytest.mark.parametrize("revision", [1, 3])
    def test_revisions_are_numbered_in_sequence(self, store: Store, answer: OpenAnswer, revision: int) -> None:
        add(store, a_coding(answer))

        with pytest.raises(Conflict):
            add(store, a_coding(answer, revision=revision))

    def test_answers_of_unknown_sessions_are_refused(self, store: Store, answer: OpenAnswer) -> None:
        with pytest.raises(NotFound):
            add(store, a_coding(replace(answer, session=digest("nowhere"))))

    def test_codings_are_separate_between_studies(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer))

        assert store.events.codings.codings("other") == []


@pytest.mark.parametrize("codes", [("vague",), (), None], ids=["codes", "none fits", "no consensus"])
def test_a_stored_resolution_is_read_back_unchanged(
    store: Store, answer: OpenAnswer, codes: tuple[str, ...] | None
) -> None:
    given = CodingResolution(
        answer=answer, codebook=version_of(BOOK), codes=codes, participants=("c1", "c2"), rationale="We read it again."
    )
    store.events.codings.add_resolution(replace(given, codes=None))
    store.events.codings.add_resolution(replace(given, revision=2))

    assert store.events.codings.resolutions("support") == [replace(given, revision=2)]


def test_permission_to_quote_can_be_granted_and_revoked(store: Store, answer: OpenAnswer) -> None:
    given = QuoteRelease(answer=answer, by="c1", hidden=(HiddenSpan(start=0, end=4), HiddenSpan(start=9, end=12)))
    store.events.codings.add_quote_release(given)
    first = store.events.codings.quote_releases("support")
    store.events.codings.add_quote_release(replace(given, hidden=(), is_given=False, revision=2))

    assert first == [given]
    assert [one.is_given for one in store.events.codings.quote_releases("support")] == [False]


def test_a_withdrawal_deletes_codings(store: Store, answer: OpenAnswer) -> None:
    add(store, a_coding(answer, memo="quotes them"))
    store.events.codings.add_resolution(
        CodingResolution(answer=answer, codebook=version_of(BOOK), codes=None, participants=("c1",))
    )
    store.events.codings.add_quote_release(QuoteRelease(answer=answer, by="c1"))
    store.events.withdrawals.withdraw("support", "p1", Withdrawal.REMOVE, now=NOW)

    assert [
        store.events.codings.codings("support"),
        store.events.codings.resolutions("support"),
        store.events.codings.quote_releases("support"),
    ] == [[]] * 3


def test_a_withdrawal_deletes_combined_reviews(store: Store, answer: OpenAnswer) -> None:
    review = CombinedReview(study="support", risk="felt", session=answer.session, materialised=True, reviewer="r")
    other = replace(review, session=digest("another"))
    for one in (replace(review, rationale="They said so."), review, other):
        store.file(CombinedReview.subject("support"), one)
    store.events.withdrawals.withdraw("support", "p1", Withdrawal.REMOVE, now=NOW)

    assert store.filed(CombinedReview, CombinedReview.subject("support")) == [other]


def test_an_anonymised_tester_has_codings_without_identifiers(store: Store, answer: OpenAnswer) -> None:
    add(store, a_coding(answer, memo="Ana again?"))
    store.events.withdrawals.withdraw(
        "support", "p1", Withdrawal.ANONYMISE, now=NOW, mask=lambda text: text.replace("Ana", "***")
    )

    assert [one.memo for one in store.events.codings.codings("support")] == ["*** again?"]


def test_codebooks_are_stored(store: Store) -> None:
    store.file(Codebook.subject("support"), BOOK)

    assert store.filed(Codebook, Codebook.subject("support")) == [BOOK]


class TestIndex:
    def test_given_codes_are_the_latest_codings_without_their_answers(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer))
        add(store, a_coding(answer, "c2", codes=()))
        add(store, a_coding(answer, codes=("vague", "cold"), revision=2))
        (given,) = store.events.codings.given_codes("support").values()

        assert given == tuple(
            GivenCodes(one.coder, one.codebook, tuple(sorted(one.codes)))
            for one in store.events.codings.codings("support")
        )
        assert given[0].codes == ("cold", "vague")

    def test_a_part_of_the_sessions_is_read_alone(self, store: Store, answer: OpenAnswer, run: Run) -> None:
        other = replace(answer, session=digest("other"))
        store.events.sessions.add(a_person_session(run, key=other.session, participant="p2"))
        for one in (answer, other):
            add(store, a_coding(one))
        codings = store.events.codings

        assert [one.answer for one in codings.codings("support", [other.session])] == [other]
        assert len(codings.given_codes("support", [other.session])) == 1
        assert len(codings.given_codes("support")) == 2
        assert codings.given_codes("support", []) == {}

    def test_sessions_that_changed_since_a_moment_are_named(self, store: Store, answer: OpenAnswer) -> None:
        add(store, a_coding(answer))
        (coding,) = store.events.codings.codings("support")
        assert coding.at is not None

        assert store.events.codings.changed_since("support", coding.at) == [answer.session]
        assert store.events.codings.changed_since("support", coding.at + timedelta(seconds=1)) == []

    def test_discussions_and_checks_are_read_in_their_latest_revision(self, store: Store, answer: OpenAnswer) -> None:
        codings, book = store.events.codings, version_of(BOOK)
        agreed = CodingResolution(answer=answer, codebook=book, codes=("vague",), participants=("c1",))
        codings.add_resolution(agreed)
        codings.add_resolution(replace(agreed, codes=None, revision=2))
        codings.add_quote_release(QuoteRelease(answer=answer, by="c1"))
        codings.add_quote_release(QuoteRelease(answer=answer, by="c1", is_given=False, revision=2))

        assert list(codings.resolved_codes("support").values()) == [GivenCodes("", book, None)]
        assert list(codings.checked_for_quotes("support").values()) == [False]
