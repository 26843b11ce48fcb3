"""Coding: a study's answers in own words, who has coded what, and what may be shown of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from theodolite.assessment.blinding import mask_for
from theodolite.assessment.capture.personal import mask_personal
from theodolite.domain.codings.coded import CodedAnswer, CodedState, CodingWork, books_by_version
from theodolite.domain.codings.coding import (
    CODERS,
    Codebook,
    Coding,
    CodingResolution,
    HiddenStretch,
    OpenAnswer,
    QuoteRelease,
    ReleasedAnswer,
)
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import digest, version_of
from theodolite.domain.live import HeldDialogue
from theodolite.domain.questionnaire import QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.domain.tried import TRIED, tried_in
from theodolite.measurement.study.codings import written_answers
from theodolite.ports.store import Store
from theodolite.testing.people import counted
from theodolite.usecases.codebooks import away_in


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenText:
    """One answer in own words.

    Attributes:
        answer: Where it was given.
        asked: The question.
        text: Its words as they were written.
        response: The response that it is part of: application, level, groups.
    """

    answer: OpenAnswer
    asked: str
    text: str
    response: QuestionnaireResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingRoom:
    """The answers in own words of a study, with everything that was done about them.

    Attributes:
        study: The study.
        texts: The answers, in order of questionnaires, questions and sessions.
        work: What was done about them.
        mask: Takes out of a text names of applications and personal details.
    """

    study: Study
    texts: tuple[OpenText, ...]
    work: CodingWork
    mask: Callable[[str], str]

    @property
    def questions(self) -> dict[str, str]:
        """The questions that somebody has answered in own words: place to what was asked, in order."""
        return {one.answer.place: one.asked for one in self.texts}

    @property
    def coded(self) -> tuple[CodedAnswer, ...]:
        """Where each answer stands, in the order of the texts."""
        return tuple(self.work.coded(one.answer for one in self.texts))

    def text_of(self, answer: OpenAnswer) -> OpenText:
        """Return an answer.

        Raises:
            InputError: If it is none of the study, or was withdrawn.
        """
        for text in self.texts:
            if text.answer == answer:
                return text
        message = "this answer is not among those of the study; it may have been taken back"
        raise InputError(message)

    def own(self, answer: OpenAnswer, coder: str) -> Coding | None:
        """Return what a coder said of an answer last, by whichever codebook; None for nothing."""
        mine = (one for one in self.work.codings if one.answer == answer and one.coder == coder)
        return next(mine, None)

    def coders(self, answer: OpenAnswer) -> tuple[str, ...]:
        """Return who has coded an answer, by whichever codebook."""
        return tuple(one.coder for one in self.work.codings if one.answer == answer)

    def waiting(self, coder: str) -> tuple[OpenText, ...]:
        """Return the answers that a coder is to code next, in an order of their own; those to be coded again first."""

        def place(one: OpenText) -> tuple[bool, str]:
            return self.own(one.answer, coder) is None, digest("coding order", coder, *_parts(one.answer))

        return tuple(one for one in sorted(self.texts, key=place) if self._waits(one.answer, coder))

    def _waits(self, answer: OpenAnswer, coder: str) -> bool:
        own = self.own(answer, coder)
        if coder in self.work.away or self.work.codebook_for(answer.place) is None:
            return False
        if own is not None:
            return self.work.is_due(own)
        return len(self.coders(answer)) < CODERS or bool(self.work.vacant(answer))

    def differing(self) -> tuple[CodedAnswer, ...]:
        """Return the answers that were coded differently, those that nobody talked about first."""
        states = CodedState.DISPUTED, CodedState.NO_CONSENSUS, CodedState.CONSENSUS
        return tuple(one for state in states for one in self.coded if one.state is state)


def coding_room(
    store: Store, study: Study, responses: Sequence[QuestionnaireResponse], gone: Iterable[str] = ()
) -> CodingRoom:
    """Return the answers in own words of a study, with everything that was done about them.

    Args:
        store: The database.
        study: As it is written now; answers to other versions of its questionnaires are left out.
        responses: What testers answered, and what red teamers noted, as `notes_in` returns it.
        gone: Opaque keys of people who can code no more, whether or not somebody has written that down.
    """
    masks, texts = mask_for(study), tuple(_texts(study, responses))
    releases = tuple(store.quote_releases(study.name))
    work = CodingWork(
        codebooks=books_by_version(store.filed(Codebook, Codebook.subject(study.name))),
        codings=tuple(store.codings(study.name)),
        resolutions=tuple(store.coding_resolutions(study.name)),
        releases=releases,
        away=away_in(store, study.name) | frozenset(gone),
    )
    room = CodingRoom(study=study, texts=texts, work=work, mask=lambda text: masks(mask_personal(text)))
    return replace(room, work=replace(work, quotes=_quotes(room)))


def notes_in(study: Study, held: Iterable[HeldDialogue]) -> tuple[QuestionnaireResponse, ...]:
    """Return what red teamers noted in sessions that are about the study as it is written now, as answers.

    Args:
        study: As it is written now.
        held: All dialogues of people in the study.
    """
    return tuple(tried_in(counted(study, held)))


def _texts(study: Study, responses: Sequence[QuestionnaireResponse]) -> Iterable[OpenText]:
    for questionnaire in (*study.questionnaires, TRIED):
        for question in questionnaire.instrument.questions:
            for one in written_answers(questionnaire, question, responses):
                yield OpenText(
                    answer=OpenAnswer(session=one.session, questionnaire=questionnaire.name, question=question.name),
                    asked=question.text,
                    text="\n".join(answer.value for answer in one.to(question.name) if answer.value),
                    response=one,
                )


def _quotes(room: CodingRoom) -> tuple[ReleasedAnswer, ...]:
    """Return what may be shown: released, hidden words blocked out, names and personal details masked."""
    leave = {one.answer: one for one in room.work.releases if one.is_given}
    return tuple(
        ReleasedAnswer(answer=one.answer, text=room.mask(leave[one.answer].shown(one.text)))
        for one in room.texts
        if one.answer in leave
    )


def keep_coding(
    store: Store, room: CodingRoom, answer: OpenAnswer, coder: str, codes: Sequence[str], memo: str
) -> None:
    """Keep what a coder sees in an answer.

    What was coded stays as it is once everybody has coded the answer, until the codebook changes.

    Raises:
        Conflict: If it is complete, or enough others have coded it.
        InputError: If there is no codebook, no such answer or no such code.
    """
    room.text_of(answer)
    book, own = _book(room, answer), room.own(answer, coder)
    book.check(codes)
    if coder in room.work.away:
        message = "it is written down that you have left; whoever did so can write down that you are back"
        raise Conflict(message)
    (stands,) = room.work.coded([answer])
    if own is not None and not room.work.is_due(own) and stands.is_coded:
        message = "both have coded this answer, so the codings stay as they are; talk about it where they differ"
        raise Conflict(message)
    vacant = "" if own else room.work.vacant(answer)
    before = own or (room.own(answer, vacant) if vacant else None)
    store.keep_coding(
        Coding(
            answer=answer,
            coder=coder,
            codes=tuple(name for name in book.names if name in codes),
            codebook=version_of(book),
            memo=memo.strip(),
            revision=before.revision + 1 if before else 1,
        ),
        instead_of=vacant,
    )


def resolve(
    store: Store, room: CodingRoom, answer: OpenAnswer, codes: Sequence[str] | None, *, by: str, rationale: str
) -> None:
    """Keep what came of talking about an answer that was coded differently; the codings stay as they are.

    Args:
        store: The database.
        room: The answers.
        answer: Which one.
        codes: What those who talked agreed on; None where they did not.
        by: Opaque key of who writes it down.
        rationale: Why, in their words.

    Raises:
        Conflict: If coders do not differ on it.
        InputError: If nothing says why, or there is no such code.
    """
    (stands,) = room.work.coded([room.text_of(answer).answer])
    book = _book(room, answer)
    book.check(codes or ())
    if stands.state not in {CodedState.DISPUTED, CodedState.CONSENSUS, CodedState.NO_CONSENSUS}:
        message = f"this answer is {stands.state.value}; only what was coded differently is talked about"
        raise Conflict(message)
    if not rationale.strip():
        message = "say in a few words why; a consensus without a reason cannot be followed"
        raise InputError(message)
    known = next((one.revision for one in room.work.resolutions if one.answer == answer), 0)
    people = dict.fromkeys([*(one.coder for one in stands.codings), by])
    store.keep_coding_resolution(
        CodingResolution(
            answer=answer,
            codebook=version_of(book),
            codes=None if codes is None else tuple(name for name in book.names if name in codes),
            participants=tuple(people),
            rationale=rationale.strip(),
            revision=known + 1,
        )
    )


def release_quote(
    store: Store, room: CodingRoom, answer: OpenAnswer, hidden: Sequence[str], *, by: str, is_given: bool = True
) -> None:
    """Give leave to show an answer but for some words, or take it back.

    Args:
        store: The database.
        room: The answers.
        answer: Which one.
        hidden: Words that are not shown, wherever they stand in it.
        by: Opaque key of who read it.
        is_given: False to take leave back.

    Raises:
        InputError: If there is no such answer, or some words stand nowhere in it; says all of them.
    """
    text = room.text_of(answer).text
    words = [word.strip() for word in hidden if word.strip()]
    strange = [word for word in words if word not in text]
    if strange:
        message = f"nowhere in the answer: {', '.join(map(repr, strange))}; copy the words as they stand there"
        raise InputError(message)
    known = next((one.revision for one in room.work.releases if one.answer == answer), 0)
    given = QuoteRelease(answer=answer, by=by, hidden=_stretches(text, words), is_given=is_given, revision=known + 1)
    store.keep_quote_release(given)


def _stretches(text: str, words: Iterable[str]) -> tuple[HiddenStretch, ...]:
    """Return every place where some words stand, in order; stretches that meet are one."""
    found: list[HiddenStretch] = []
    for word in words:
        start = text.find(word)
        while start >= 0:
            found.append(HiddenStretch(start=start, end=start + len(word)))
            start = text.find(word, start + 1)
    joined: list[HiddenStretch] = []
    for one in sorted(found):
        if joined and one.start <= joined[-1].end:
            joined[-1] = HiddenStretch(start=joined[-1].start, end=max(joined[-1].end, one.end))
        else:
            joined.append(one)
    return tuple(joined)


def _book(room: CodingRoom, answer: OpenAnswer) -> Codebook:
    book = room.work.codebook_for(answer.place)
    if book is None:
        message = "there is no codebook for this question yet; write one first"
        raise InputError(message)
    return book


def _parts(answer: OpenAnswer) -> tuple[str, str, str]:
    return answer.session, answer.questionnaire, answer.question
