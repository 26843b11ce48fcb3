"""Coding: open answers of a study, their codebooks and codes, and the quotes that may be published."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from theodolite.assessment.blinding import mask_for
from theodolite.assessment.redaction import mask_personal
from theodolite.domain.coding import (
    CODED,
    DIFFERING,
    TRIED,
    Codebook,
    CodedAnswer,
    CodedState,
    CoderAbsence,
    Coding,
    CodingResolution,
    CodingWork,
    GivenCodes,
    HiddenSpan,
    OpenAnswer,
    QuoteRelease,
    ReleasedAnswer,
    books_by_version,
    tried_in,
)
from theodolite.domain.errors import Conflict, InputError
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.live import LiveDialogueSummary
from theodolite.domain.schema import Questionnaire, QuestionnaireResponse
from theodolite.domain.study import Study
from theodolite.events.rules import coder_slot
from theodolite.measurement.study.risks import written_answers
from theodolite.testing.people import counted, current_versions

if TYPE_CHECKING:  # tables can be loaded only when Django knows the database
    from theodolite.store.django_store import DjangoStore

Decided = TypeVar("Decided")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenText:
    """One open answer.

    Attributes:
        answer: Its session, questionnaire and question.
        asked: Text of the question.
        text: Its text as written.
        response: The response that contains it, with application, level and groups.
    """

    answer: OpenAnswer
    asked: str
    text: str
    response: QuestionnaireResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingProject:
    """The open answers of a study with their codings.

    Attributes:
        study: The study.
        texts: The answers, in order of questionnaires, questions and sessions.
        work: Codebooks, codings, resolutions and releases.
        mask: Masks names of applications and personal details in a text.
    """

    study: Study
    texts: tuple[OpenText, ...]
    work: CodingWork
    mask: Callable[[str], str]

    @property
    def coded(self) -> tuple[CodedAnswer, ...]:
        """The coding status of each answer, in the order of the texts."""
        return tuple(self.work.coded(text.answer for text in self.texts))

    def text_of(self, answer: OpenAnswer) -> OpenText:
        """Return an answer.

        Raises:
            InputError: If the study does not have it, or it was withdrawn.
        """
        for text in self.texts:
            if text.answer == answer:
                return text
        message = "the study does not contain this answer; it may have been withdrawn"
        raise InputError(message)


class CodingLine(NamedTuple):
    """An open answer of an index, without its text.

    Attributes:
        session: Key of its session.
        questionnaire: Name of the questionnaire.
        question: Name of the question.
        given: The latest codes of each coder.
        resolved: The latest outcome of a discussion; None if there is none.
        is_quotable: Whether its latest check for quotes permits one; None if there was no check.
    """

    session: str
    questionnaire: str
    question: str
    given: tuple[GivenCodes, ...] = ()
    resolved: GivenCodes | None = None
    is_quotable: bool | None = None

    @property
    def answer(self) -> OpenAnswer:
        """Reference to the answer."""
        return OpenAnswer(session=self.session, questionnaire=self.questionnaire, question=self.question)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodingIndex:
    """The open answers of a study with their codes, without their texts, for counts and lists.

    The rules of `CodingWork` decide about each answer; answers with the same codes are decided together.

    Attributes:
        lines: The answers, in order of questionnaires, questions and sessions.
        work: Codebooks and absent coders.
    """

    lines: tuple[CodingLine, ...]
    work: CodingWork

    def updated(self, changed: CodingIndex) -> CodingIndex:
        """Return it with the lines of another index where both have the same answer, and with its rules."""
        latest = {line[:3]: line for line in changed.lines}
        return CodingIndex(lines=tuple(latest.get(line[:3], line) for line in self.lines), work=changed.work)

    @property
    def places(self) -> tuple[str, ...]:
        """References of the open questions with answers, in order."""
        return tuple(
            OpenAnswer(session="", questionnaire=questionnaire, question=question).place
            for questionnaire, question in dict.fromkeys((line.questionnaire, line.question) for line in self.lines)
        )

    def states(self) -> list[CodedState]:
        """Return the coding status of each answer, in the order of the lines."""

        def kind(line: CodingLine) -> Hashable:
            return (
                line.questionnaire,
                line.question,
                tuple([(given.codebook, given.codes) for given in line.given]),
                line.resolved,
            )

        return list(self._decided(kind, lambda work, answer: next(work.coded([answer])).state))

    def waiting(self, coder: str) -> list[OpenAnswer]:
        """Return the answers that a coder must code, in the coder's own order; recodings come first."""

        def kind(line: CodingLine) -> Hashable:
            codings = [
                (codes.coder == coder, codes.coder in self.work.away, codes.codebook, codes.codes)
                for codes in line.given
            ]
            return line.questionnaire, line.question, tuple(codings)

        def order(line: CodingLine) -> tuple[bool, str]:
            return all(codings.coder != coder for codings in line.given), digest("coding order", coder, *line[:3])

        waits = self._decided(kind, lambda work, answer: work.waits(answer, coder))
        return [
            line.answer
            for line in sorted((line for line, due in zip(self.lines, waits, strict=True) if due), key=order)
        ]

    def differing(self) -> list[OpenAnswer]:
        """Return the answers with different codings, those without a discussion first."""
        by_state: dict[CodedState, list[OpenAnswer]] = defaultdict(list)
        for line, state in zip(self.lines, self.states(), strict=True):
            if state in DIFFERING:
                by_state[state].append(line.answer)
        return [answer for state in DIFFERING for answer in by_state[state]]

    def quotable(self) -> list[OpenAnswer]:
        """Return the answers that all coders have coded, or that were checked for quotes."""
        pairs = zip(self.lines, self.states(), strict=True)
        return [line.answer for line, state in pairs if line.is_quotable is not None or state in CODED]

    def due_by_coder(self) -> dict[str, Counter[bool]]:
        """Return the codings of each coder that are due again (True) and that count (False)."""

        def kind(line: CodingLine) -> Hashable:
            return line.questionnaire, line.question, line.given

        due = self._decided(kind, lambda work, _: tuple((coding.coder, work.is_due(coding)) for coding in work.codings))
        counts: dict[str, Counter[bool]] = defaultdict(Counter)
        for coder, is_due in chain.from_iterable(due):
            counts[coder][is_due] += 1
        return counts

    def _decided(
        self, kind: Callable[[CodingLine], Hashable], decide: Callable[[CodingWork, OpenAnswer], Decided]
    ) -> Iterator[Decided]:
        """Yield what is decided about each line; lines of one kind are decided once."""
        known: dict[Hashable, Decided] = {}
        for line in self.lines:
            key = kind(line)
            if key not in known:
                answer = line.answer
                known[key] = decide(self.work.about(answer, line.given, line.resolved), answer)
            yield known[key]


def coding_project(
    store: DjangoStore,
    study: Study,
    responses: Sequence[QuestionnaireResponse],
    withdrawn: Iterable[str] = (),
    sessions: Sequence[str] | None = None,
) -> CodingProject:
    """Return the open answers of a study with their codings.

    Args:
        store: The database.
        study: The current study; answers to other versions of its questionnaires are excluded.
        responses: Questionnaire responses, and notes of red teamers as `notes_in` returns them.
        withdrawn: Opaque keys of coders who have left, recorded as absent or not.
        sessions: Keys of the sessions of these responses; None if they are all responses of the study.
    """
    masks, texts = mask_for(study), tuple(_texts(study, responses))
    codings = store.events.codings
    work = replace(
        coding_rules(store, study, withdrawn),
        codings=tuple(codings.codings(study.name, sessions)),
        resolutions=tuple(codings.resolutions(study.name, sessions)),
        releases=tuple(codings.quote_releases(study.name, sessions)),
    )
    project = CodingProject(study=study, texts=texts, work=work, mask=lambda text: masks(mask_personal(text)))
    return replace(project, work=replace(work, quotes=_quotes(project)))


def coding_index(
    store: DjangoStore, study: Study, withdrawn: Iterable[str] = (), sessions: Sequence[str] | None = None
) -> CodingIndex:
    """Return the open answers about the current study with their codes, without reading their texts.

    Args:
        store: The database.
        study: The current study.
        withdrawn: Opaque keys of coders who have left, recorded as absent or not.
        sessions: Keys of the sessions with the answers; None for all.
    """
    codings = store.events.codings
    codes, resolved = codings.given_codes(study.name, sessions), codings.resolved_codes(study.name, sessions)
    checked = codings.checked_for_quotes(study.name, sessions)
    lines = []
    for questionnaire, question in open_questions(study):
        place = questionnaire.name, question.name
        for number, key in _answered(store, study, questionnaire, question, sessions):
            at = number, *place
            lines.append(CodingLine(key, *place, codes.get(at, ()), resolved.get(at), checked.get(at)))
    return CodingIndex(lines=tuple(lines), work=coding_rules(store, study, withdrawn))


def _answered(
    store: DjangoStore, study: Study, questionnaire: Questionnaire, question: Question, sessions: Sequence[str] | None
) -> list[tuple[int, str]]:
    """Return id and key of the sessions with an answer to an open question."""
    about, responses = (study.name, *current_versions(study)), store.events.responses
    if questionnaire is TRIED:
        return responses.noted(*about, sessions)
    return responses.written(*about, (questionnaire.name, version_of(questionnaire), question.name), sessions)


def open_questions(study: Study) -> Iterator[tuple[Questionnaire, Question]]:
    """Yield the questions that are answered in own words, with their questionnaires, in order."""
    for questionnaire in (*study.questionnaires, TRIED):
        for question in questionnaire.instrument.questions:
            if question.scale.kind is ScaleKind.TEXT:
                yield questionnaire, question


def question_texts(study: Study, places: Iterable[str]) -> dict[str, str]:
    """Return the texts of some open questions by reference, in the order of the questions."""
    selected = set(places)
    texts = {
        OpenAnswer(session="", questionnaire=questionnaire.name, question=question.name).place: question.text
        for questionnaire, question in open_questions(study)
    }
    return {place: text for place, text in texts.items() if place in selected}


def coding_rules(store: DjangoStore, study: Study, withdrawn: Iterable[str]) -> CodingWork:
    """Return codebooks and absent coders, without codings."""
    return CodingWork(
        codebooks=books_by_version(store.filed(Codebook, Codebook.subject(study.name))),
        away=absent_coders(store, study.name) | frozenset(withdrawn),
    )


def notes_in(study: Study, dialogues: Iterable[LiveDialogueSummary]) -> tuple[QuestionnaireResponse, ...]:
    """Return the notes of red teamers about the current study as answers.

    Args:
        study: The current study.
        dialogues: All dialogues of participants in the study.
    """
    return tuple(tried_in(counted(study, dialogues)))


def _texts(study: Study, responses: Sequence[QuestionnaireResponse]) -> Iterable[OpenText]:
    for questionnaire, question in open_questions(study):
        for written_answer in written_answers(questionnaire, question, responses):
            yield OpenText(
                answer=OpenAnswer(
                    session=written_answer.session, questionnaire=questionnaire.name, question=question.name
                ),
                asked=question.text,
                text="\n".join(answer.value for answer in written_answer.to(question.name) if answer.value),
                response=written_answer,
            )


def _quotes(project: CodingProject) -> tuple[ReleasedAnswer, ...]:
    """Return the released answers with hidden words, names and personal details masked."""
    releases = {release.answer: release for release in project.work.releases if release.is_given}
    return tuple(
        ReleasedAnswer(answer=text.answer, text=project.mask(releases[text.answer].shown(text.text)))
        for text in project.texts
        if text.answer in releases
    )


def save_coding(
    store: DjangoStore, project: CodingProject, answer: OpenAnswer, coder: str, codes: Sequence[str], memo: str
) -> None:
    """Store the codes of a coder for an answer.

    Codings are final once all coders have coded the answer, until the codebook changes.

    Raises:
        Conflict: If its coding is complete, or enough other coders have coded it.
        InputError: If there is no codebook, no such answer or no such code.
    """
    project.text_of(answer)
    book, own = _book(project, answer), project.work.own(answer, coder)
    book.check(codes)
    if coder in project.work.away:
        message = "you are recorded as having left; an analyst can record your return"
        raise Conflict(message)
    (stands,) = project.work.coded([answer])
    if own is not None and not project.work.is_due(own) and stands.is_coded:
        message = "both coders have coded this answer, so its codes can no longer change; discuss the differences"
        raise Conflict(message)
    vacant = "" if own else project.work.vacant(answer)
    before = own or (project.work.own(answer, vacant) if vacant else None)
    store.events.codings.add_coding(
        Coding(
            answer=answer,
            coder=coder,
            codes=tuple(name for name in book.names if name in codes),
            codebook=version_of(book),
            memo=memo.strip(),
            revision=before.revision + 1 if before else 1,
        ),
        choose=partial(coder_slot, coder, instead_of=vacant),
    )


def resolve_disagreement(
    store: DjangoStore,
    project: CodingProject,
    answer: OpenAnswer,
    codes: Sequence[str] | None,
    *,
    by: str,
    rationale: str,
) -> None:
    """Store the resolution of an answer that was coded differently; the codings do not change.

    Args:
        store: The database.
        project: The answers and codings.
        answer: The answer.
        codes: The agreed codes; None without agreement.
        by: Opaque key of the person who records it.
        rationale: The reason.

    Raises:
        Conflict: If the coders do not disagree on it.
        InputError: If the rationale is empty, or there is no such code.
    """
    (stands,) = project.work.coded([project.text_of(answer).answer])
    book = _book(project, answer)
    book.check(codes or ())
    if stands.state not in DIFFERING:
        message = f"this answer is {stands.state.value}; only disagreements can be resolved"
        raise Conflict(message)
    if not rationale.strip():
        message = "enter a reason for the result"
        raise InputError(message)
    known = next((resolution.revision for resolution in project.work.resolutions if resolution.answer == answer), 0)
    people = dict.fromkeys([*(coding.coder for coding in stands.codings), by])
    store.events.codings.add_resolution(
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
    store: DjangoStore,
    project: CodingProject,
    answer: OpenAnswer,
    hidden: Sequence[str],
    *,
    by: str,
    is_given: bool = True,
) -> None:
    """Permit an answer to be quoted without some words, or revoke the permission.

    Args:
        store: The database.
        project: The answers and codings.
        answer: The answer.
        hidden: Words to hide wherever they occur in it.
        by: Opaque key of the person who read it.
        is_given: False to revoke the permission.

    Raises:
        InputError: If there is no such answer, or some words do not occur in it; names all of them.
    """
    text = project.text_of(answer).text
    words = [word.strip() for word in hidden if word.strip()]
    strange = [word for word in words if word not in text]
    if strange:
        message = f"not in the answer: {', '.join(map(repr, strange))}; copy the text exactly"
        raise InputError(message)
    known = next((release.revision for release in project.work.releases if release.answer == answer), 0)
    quote_release = QuoteRelease(
        answer=answer, by=by, hidden=_spans(text, words), is_given=is_given, revision=known + 1
    )
    store.events.codings.add_quote_release(quote_release)


def _spans(text: str, words: Iterable[str]) -> tuple[HiddenSpan, ...]:
    """Return every span in which some words occur, in order; adjoining spans are merged."""
    result: list[HiddenSpan] = []
    for word in words:
        start = text.find(word)
        while start >= 0:
            result.append(HiddenSpan(start=start, end=start + len(word)))
            start = text.find(word, start + 1)
    joined: list[HiddenSpan] = []
    for span in sorted(result):
        if joined and span.start <= joined[-1].end:
            joined[-1] = HiddenSpan(start=joined[-1].start, end=max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def _book(project: CodingProject, answer: OpenAnswer) -> Codebook:
    book = project.work.codebook_for(answer.place)
    if book is None:
        message = "this question has no codebook yet; write one first"
        raise InputError(message)
    return book


def save_codebook(store: DjangoStore, book: Codebook) -> Codebook:
    """Store a codebook, or another revision of one, and return it with its number.

    Args:
        store: The database.
        book: The whole codebook; its revision is that of the edited one, 0 for a new one.

    Raises:
        Conflict: If another person has stored a revision in the meantime.
        InputError: If nothing has changed, the note is empty, or another codebook covers one of its questions.
    """
    current = CodingWork(codebooks=books_by_version(store.filed(Codebook, Codebook.subject(book.study)))).current
    last = current.get(book.name)
    if (last.revision if last else 0) != book.revision:
        message = f"somebody saved revision {last.revision if last else 0} meanwhile; review it, then continue"
        raise Conflict(message)
    if last and (last.codes, last.covers) == (book.codes, book.covers):
        message = "the codebook has not changed"
        raise InputError(message)
    if last and not book.note.strip():
        message = "enter the change and its reason; readers of the results see them"
        raise InputError(message)
    taken = {position: row.name for row in current.values() if row.name != book.name for position in row.covers}
    twice = [f"`{position}` (`{taken[position]}`)" for position in book.covers if position in taken]
    if twice:
        message = f"another codebook is for {', '.join(twice)}; remove the question there first"
        raise InputError(message)
    stored = replace(book, revision=book.revision + 1, note=book.note.strip())
    store.file(Codebook.subject(book.study), stored)
    return stored


def record_absence(store: DjangoStore, study: str, coder: str, *, is_away: bool, by: str, reason: str) -> None:
    """Record that a coder has left, so that others take over recodings, or has returned.

    Args:
        store: The database.
        study: Name of the study.
        coder: Opaque key of the coder.
        is_away: Whether the coder has left.
        by: Opaque key of the person who records it.
        reason: The reason.

    Raises:
        InputError: If the reason is empty, or the status is recorded already.
    """
    if is_away is (coder in absent_coders(store, study)):
        message = f"the coder is already recorded as {'absent' if is_away else 'present'}"
        raise InputError(message)
    if not reason.strip():
        message = "enter a reason for the record"
        raise InputError(message)
    subject = CoderAbsence.subject(study)
    revision = 1 + sum(coder_absence.coder == coder for coder_absence in store.filed(CoderAbsence, subject))
    absence = CoderAbsence(study=study, coder=coder, is_away=is_away, by=by, reason=reason.strip(), revision=revision)
    store.file(subject, absence)


def absent_coders(store: DjangoStore, study: str) -> frozenset[str]:
    """Return the opaque keys of the coders of a study who are absent."""
    written = store.filed(CoderAbsence, CoderAbsence.subject(study))
    latest = {absence.coder: absence for absence in sorted(written, key=lambda absence: absence.revision)}
    return frozenset(row.coder for row in latest.values() if row.is_away)
