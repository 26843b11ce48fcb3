"""Codings of open answers: themes with shares, and the agreement of coders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

from theodolite.domain.codings.coded import CodedAnswer, CodedState, CodingWork
from theodolite.domain.codings.coding import Codebook, OpenAnswer
from theodolite.domain.codings.finding import CodeAgreement, CoderPair, CodingFinding, ThemeQuote, ThemeShare
from theodolite.domain.dialogue import Level
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.evidence import Evidence
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, ScaleKind
from theodolite.domain.questionnaire import Questionnaire, QuestionnaireResponse
from theodolite.domain.tried import TRIED
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.clusters import cluster_sizes, shared_clusters
from theodolite.measurement.proportion import defect_rate
from theodolite.measurement.questionnaire.answers import set_alpha
from theodolite.measurement.study.risks import FEWEST


def coding_findings(evidence: Evidence) -> Iterator[CodingFinding]:
    """Yield the coding results of each open question that has a codebook.

    Codes count for an answer where two coders, blind to each other, gave them both,
    or agreed on them afterwards; what they differ on is counted apart. Nothing is
    decided by the greater number.

    Source:
        Shares: `answer_share`; agreement: `TwiceCoded`, `coder_pairs`.
    """
    work = evidence.coding
    if work is None:
        return
    responses = (*evidence.responses, *evidence.notes)
    for questionnaire in (*evidence.study.questionnaires, TRIED):
        for question in questionnaire.instrument.questions:
            theme = _Theme(questionnaire, question, written_answers(questionnaire, question, responses), work)
            book = work.codebook_for(theme.about("").place)
            if theme.written and book is not None:
                yield _finding(evidence, work, book, theme)


def written_answers(
    questionnaire: Questionnaire, question: Question, responses: Sequence[QuestionnaireResponse]
) -> list[QuestionnaireResponse]:
    """Return the responses that hold an answer in own words to a question; only those that were handed in.

    Args:
        questionnaire: Its present version; responses to another one are left out.
        question: One of its questions; one with a scale has no such answers.
        responses: All of a study.
    """
    if question.scale.kind is not ScaleKind.TEXT:
        return []
    version = version_of(questionnaire)
    return [
        response
        for response in responses
        if (response.questionnaire, response.instrument_version) == (questionnaire.name, version)
        and response.submitted
        and any(answer.value for answer in response.to(question.name))
    ]


@dataclass(frozen=True, slots=True)
class _Theme:
    """The answers to one open question with their codings."""

    questionnaire: Questionnaire
    question: Question
    written: Sequence[QuestionnaireResponse]
    work: CodingWork

    def about(self, session: str) -> OpenAnswer:
        """Return where the answer of a session is."""
        return OpenAnswer(session=session, questionnaire=self.questionnaire.name, question=self.question.name)

    def stands(self) -> list[tuple[QuestionnaireResponse, CodedAnswer]]:
        """Return each response with where its answer stands."""
        return list(
            zip(self.written, self.work.coded(self.about(response.session) for response in self.written), strict=True)
        )


def _finding(evidence: Evidence, work: CodingWork, book: Codebook, theme: _Theme) -> CodingFinding:
    stands = theme.stands()
    by_person = [(response.participant, coded) for response, coded in stands]
    twice = TwiceCoded.of(by_person)
    return CodingFinding(
        questionnaire=theme.questionnaire.name,
        question=theme.question.name,
        text=theme.question.text,
        codebook=version_of(book),
        revision=book.revision,
        name=book.name,
        n=len(stands),
        n_coders=len({coding.coder for _, coded in stands for coding in coded.codings}),
        states={state: n for state in CodedState if (n := sum(coded.state is state for _, coded in stands))},
        alike=twice.alike(),
        alpha=twice.alpha(),
        codes=tuple(twice.on(name) for name in book.names),
        pairs=tuple(coder_pairs(by_person, book.names)),
        themes=tuple(_shares(evidence, book, stands)),
        quotes=tuple(_quotes(work, book, stands)),
    )


def _shares(
    evidence: Evidence, book: Codebook, pairs: Sequence[tuple[QuestionnaireResponse, CodedAnswer]]
) -> Iterator[ThemeShare]:
    """Yield the share of each code by application and level, then by group within each."""
    groups: list[tuple[str, str] | tuple[()]] = [(), *_groups([response for response, _ in pairs])]
    for group in groups:
        for level in Level:
            for application in evidence.study.applications:
                own = [
                    (response.participant, coded)
                    for response, coded in pairs
                    if response.level is level
                    and response.application == application.name
                    and (not group or response.groups.get(group[0]) == group[1])
                ]
                if own:
                    yield from (_share(name, application.name, level, group, own) for name in book.names)


def _groups(responses: Sequence[QuestionnaireResponse]) -> list[tuple[str, str]]:
    names = dict.fromkeys(name for response in responses for name in response.groups)
    values = {
        name: sorted({response.groups[name] for response in responses if name in response.groups}) for name in names
    }
    return [(name, value) for name, group_values in values.items() if len(group_values) > 1 for value in group_values]


def _share(
    code: str,
    application: str,
    level: Level,
    group: tuple[str, str] | tuple[()],
    own: Sequence[tuple[str, CodedAnswer]],
) -> ThemeShare:
    decisions = [(person, coded.has(code)) for person, coded in own]
    known = [(person, has) for person, has in decisions if has is not None]
    n_undecided = sum(has is None and coded.is_coded for (_, has), (_, coded) in zip(decisions, own, strict=True))
    people = {person for person, _ in known}
    is_shown = not group or len({person for person, _ in own}) >= FEWEST
    n_with_code = sum(has for _, has in known)
    return ThemeShare(
        code=code,
        application=application,
        level=level,
        group=group,
        n=len(known),
        n_undecided=n_undecided,
        n_uncoded=len(own) - len(known) - n_undecided,
        n_people=len(people),
        share=answer_share(known) if is_shown else None,
        bounds=(n_with_code / len(own), (n_with_code + len(own) - len(known)) / len(own)) if is_shown else None,
    )


def _quotes(
    work: CodingWork, book: Codebook, pairs: Sequence[tuple[QuestionnaireResponse, CodedAnswer]]
) -> Iterator[ThemeQuote]:
    texts = {quote.answer: quote.text for quote in work.quotes}
    for response, coded in pairs:
        if coded.answer in texts and response.level is not None:
            codes = tuple(name for name in book.names if coded.has(name))
            yield ThemeQuote(
                text=texts[coded.answer], codes=codes, application=response.application, level=response.level
            )


UNIT: Final = "fraction of answers"
"""What shares are shares of."""


@dataclass(frozen=True, slots=True)
class TwiceCoded:
    """Answers that two have coded.

    Attributes:
        people: The tester behind each answer.
        first: Codes that the one coder gave each.
        second: Codes that the other gave.
    """

    people: Sequence[str]
    first: Sequence[Collection[str]]
    second: Sequence[Collection[str]]

    @classmethod
    def of(cls, answers: Sequence[tuple[str, CodedAnswer]]) -> TwiceCoded:
        """Return the answers that both coders have coded."""
        both = [(person, coded.codings) for person, coded in answers if coded.is_coded]
        return cls(
            people=[person for person, _ in both],
            first=[codings[0].codes for _, codings in both],
            second=[codings[1].codes for _, codings in both],
        )

    def alike(self) -> Estimate | Undefined:
        """Return the share of answers to which both gave the same codes."""
        return self._same(
            [
                set(first_codes) == set(second_codes)
                for first_codes, second_codes in zip(self.first, self.second, strict=True)
            ]
        )

    def alpha(self) -> Estimate | Undefined:
        """Return Krippendorff's alpha of whole sets of codes, with the distance MASI."""
        sets = [[first_codes, second_codes] for first_codes, second_codes in zip(self.first, self.second, strict=True)]
        return set_alpha(sets, clusters=shared_clusters(self.people))

    def on(self, code: str) -> CodeAgreement:
        """Return the agreement on one code."""
        coded = [
            (code in first_has, code in second_has)
            for first_has, second_has in zip(self.first, self.second, strict=True)
        ]
        rows = [[float(first_has[place]) for first_has in coded] for place in range(2)]
        return CodeAgreement(
            code=code,
            n_given=sum(sum(first_has) for first_has in coded),
            alike=self._same([first_has == second_has for first_has, second_has in coded]),
            alpha=krippendorff_alpha(rows, scale="nominal", clusters=shared_clusters(self.people)),
        )

    def _same(self, flags: Sequence[bool]) -> Estimate | Undefined:
        return answer_share(list(zip(self.people, flags, strict=True)))


def coder_pairs(answers: Sequence[tuple[str, CodedAnswer]], codes: Sequence[str]) -> Iterator[CoderPair]:
    """Yield the agreement of every two coders who have coded the same answers, in the order of their keys.

    Args:
        answers: The tester behind each answer, and where it stands.
        codes: Names of the codes that hold now.

    Source:
        As for all coders together: `defect_rate` over testers as clusters, `krippendorff_alpha`, `set_alpha`.
    """
    shared: dict[tuple[str, str], list[tuple[str, Collection[str], Collection[str]]]] = defaultdict(list)
    for person, coded in answers:
        by_coder = sorted(coded.codings, key=lambda coding: coding.coder)
        for coding, later in combinations(by_coder, 2):
            shared[coding.coder, later.coder].append((person, coding.codes, later.codes))
    for (first, second), rows in sorted(shared.items()):
        people, ones, others = zip(*rows, strict=True)
        twice = TwiceCoded(people, ones, others)
        yield CoderPair(
            first=first,
            second=second,
            n=len(rows),
            alike=twice.alike(),
            alpha=twice.alpha(),
            codes=tuple(twice.on(code) for code in codes),
        )


def answer_share(known: Sequence[tuple[str, bool]]) -> Estimate | Undefined:
    """Return the share of answers of which something holds.

    Args:
        known: The tester behind each answer, and whether it holds.
    """
    flags, clusters = [has for _, has in known], shared_clusters([person for person, _ in known])
    return replace(defect_rate(sum(flags), len(flags), clusters=cluster_sizes(flags, clusters)), unit=UNIT)
