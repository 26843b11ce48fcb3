"""Rules for answers: the label of a dialogue, and the annotators whose labels count.

Estimates, reports, lists and exports all read the answer table through these
functions, so that no two of them can disagree about one dialogue.

1. A dialogue that was not completed is `FAILED` if its session failed, else `MISSING`.
2. A completed dialogue without an answer is `FAILED` if the annotator failed on it, else `MISSING`.
4. Of answers about turns one decides: the first that is a defect, else the first
4. Of answers about turns one decides: the first that is a defect, else the first
   that is unknown (neither answered nor not applicable), else the first that is
   known, else the first.
5. Several people who share the dialogues of a guideline are a pool. A final label
   represents all of their labels. Else one of them decides the listed label: a defect, else
   any label, else the outcome of the first who answered. Its rate weighs all labels
   (`pooled_defect_rate`), so that no majority hides a label.
6. Final labels of a study lead over annotators' labels of the same question, in rates and in trees.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, NamedTuple

from theodolite.domain.annotation import Annotation, AnnotatorKind, Answer, Outcome
from theodolite.domain.annotator import PEOPLE, REFERENCE, HandLabels, RecordedLabels
from theodolite.domain.answers import (
    NO_VALUE,
    OUTCOME_CODES,
    WHOLE_DIALOGUE,
    AnswerColumns,
    AnswerTable,
    DialogueLabel,
    DialogueLabels,
    LabelKey,
    Positions,
    UnitFailure,
)
from theodolite.domain.application import Application, RecordedFile
from theodolite.domain.guideline import DefectRule, Guideline
from theodolite.domain.identity import digest, version_of
from theodolite.domain.instrument import Question, QuestionLevel, ScaleKind
from theodolite.domain.plan import Setting
from theodolite.domain.study import Study

_CACHED_BYTES: Final = 32_000_000
"""Maximum size of the labels that a table caches."""

_ANSWERED, _UNPARSEABLE, _NOT_APPLICABLE, _MISSING, _FAILED = (
    OUTCOME_CODES[outcome]
    for outcome in (
        Outcome.ANSWERED,
        Outcome.UNPARSEABLE,
        Outcome.NOT_APPLICABLE,
        Outcome.MISSING,
        Outcome.FAILED,
    )
)


def labels_of(
    table: AnswerTable,
    annotator: str,
    guideline: Guideline,
    question: Question,
    *,
    rule: DefectRule | None = None,
    positions: Positions | None = None,
) -> DialogueLabels:
    """Return an annotator's label of each dialogue, by the rules at the top of this module.

    Args:
        table: The answers.
        annotator: Name of the annotator; `reference` for final labels, `all people` for the guideline's pool.
        guideline: The guideline.
        question: The question.
        rule: The defect rule by which one turn, or one of several people, decides; None for all rules of the
            guideline on this question that apply to the dialogue.
        positions: Positions of the dialogues; None for the whole plan.
    """
    at_turns = question.level is QuestionLevel.TURN or annotator == PEOPLE
    key = (annotator, id(guideline), question.name, rule.name if at_turns and rule else "")
    cached = table.label_cache.get(key)
    if cached is None:
        rules = (
            (rule,)
            if rule
            else tuple(defect_rule for defect_rule in guideline.defect_rules if defect_rule.question == question.name)
        )
        whole = _labels(table, annotator, guideline, question, rules)
        _remember(table, key, whole, guideline)
    else:
        whole = cached[0]
    return whole if positions is None else whole.at(positions)


def _remember(table: AnswerTable, key: LabelKey, labels: DialogueLabels, guideline: Guideline) -> None:
    """Store labels in the table, evicting the oldest ones if they grow too large."""
    cache = table.label_cache
    most = max(1, _CACHED_BYTES // (5 * max(1, len(table))))
    while len(cache) >= most:
        cache.pop(next(iter(cache)), None)
    cache[key] = labels, guideline  # the guideline stays alive, so that its id is its own


def _labels(
    table: AnswerTable, annotator: str, guideline: Guideline, question: Question, rules: Sequence[DefectRule]
) -> DialogueLabels:
    if annotator == PEOPLE:
        return _pool_labels(table, guideline, question, rules)
    outcomes = _without_answers(table, annotator)
    values = array("i", [NO_VALUE]) * len(table)
    columns = table.columns(annotator, guideline.name, question.name)
    off_scale = off_scale_codes(columns, question)
    if question.level is QuestionLevel.TURN and annotator != REFERENCE:
        rows = _deciding_rows(table, columns, question, rules, off_scale)
    else:
        rows = _whole_dialogue_rows(columns)
    for position, row in rows:
        value = columns.value[row]
        outcomes[position] = _UNPARSEABLE if value in off_scale else columns.outcome[row]
        values[position] = NO_VALUE if value in off_scale else value
    return DialogueLabels(outcomes, values, columns.texts)


def off_scale_codes(columns: AnswerColumns, question: Question) -> set[int]:
    """Return the codes of the labels that are not on the question's scale: rule 3."""
    codes = set(columns.value) - {NO_VALUE}
    return {code for code in codes if not question.scale.admits(columns.texts[code])}


class PersonLabel(NamedTuple):
    """A label of a dialogue by a member of a pool, or its final label.

    Attributes:
        position: Position of the dialogue in the plan.
        annotator: Name of the person; None for a final label.
        value: The label.
    """

    position: int
    annotator: str | None
    value: str


def pool_labels_of(
    table: AnswerTable,
    guideline: Guideline,
    question: Question,
    *,
    rule: DefectRule | None = None,
    positions: Positions,
) -> Iterator[PersonLabel]:
    """Yield every label that counts in the rate of a pool, by rule 5: final labels, else all labels of people.

    Args:
        table: The answers.
        guideline: The guideline of the pool.
        question: The question.
        rule: The defect rule by which one turn decides; None for all rules, as for `labels_of`.
        positions: Positions of the dialogues.
    """
    final = labels_of(table, REFERENCE, guideline, question, rule=rule)
    own = [(name, labels_of(table, name, guideline, question, rule=rule)) for name in table.pools[guideline.name]]
    for position in positions:
        decided = final[position].value
        if decided is not None:
            yield PersonLabel(position, None, decided)
            continue
        for name, labels in own:
            value = labels[position].value
            if value is not None:
                yield PersonLabel(position, name, value)


def _pool_labels(
    table: AnswerTable, guideline: Guideline, question: Question, rules: Sequence[DefectRule]
) -> DialogueLabels:
    """Return the label under which each dialogue is listed: rule 5."""
    outcomes, values = bytearray([_MISSING]) * len(table), array("i", [NO_VALUE]) * len(table)
    texts: list[str] = []
    codes: dict[str, int] = {}
    final = labels_of(table, REFERENCE, guideline, question)
    own = [
        labels_of(table, name, guideline, question, rule=rules[0] if len(rules) == 1 else None)
        for name in table.pools.get(guideline.name, ())
    ]
    for position in range(len(table)):
        candidates = [final[position]] if final[position].value is not None else [labels[position] for labels in own]
        meant = [rule for rule in rules if rule.applies_to(table.settings[position].groups)] or rules
        label = _deciding_label(candidates, question, meant)
        if label is not None:
            outcomes[position] = OUTCOME_CODES[label.outcome]
            if label.value is not None:
                if label.value not in codes:
                    codes[label.value] = len(texts)
                    texts.append(label.value)
                values[position] = codes[label.value]
    return DialogueLabels(outcomes, values, texts)


def _deciding_label(
    candidates: Sequence[DialogueLabel], question: Question, rules: Sequence[DefectRule]
) -> DialogueLabel | None:
    known = [label for label in candidates if label.value is not None]
    for label in known:
        if label.value is not None and any(rule.is_defect(label.value, question.scale) for rule in rules):
            return label
    others = (label for label in candidates if label.outcome is not Outcome.MISSING)
    return next(iter(known), None) or next(others, None)


def _without_answers(table: AnswerTable, annotator: str) -> bytearray:
    """Return the outcome of each dialogue that has no answer: rules 1 and 2."""
    outcomes = bytearray([_MISSING]) * len(table)
    for position, failures in table.failures.items():
        failed = annotator if table.dialogues[position] is not None else ""
        if any(failure.annotator == failed for failure in failures):
            outcomes[position] = _FAILED
    return outcomes


def _whole_dialogue_rows(columns: AnswerColumns) -> Iterator[tuple[int, int]]:
    """Yield each session with the row of its first answer about the whole dialogue."""
    last = -1
    for row, (position, turn) in enumerate(zip(columns.position, columns.turn, strict=True)):
        if turn == WHOLE_DIALOGUE and position != last:
            last = position
            yield position, row


def _deciding_rows(
    table: AnswerTable,
    columns: AnswerColumns,
    question: Question,
    rules: Sequence[DefectRule],
    off_scale: set[int],
) -> Iterator[tuple[int, int]]:
    """Yield each session with the row of the turn that decides: rule 4."""
    ranks: dict[tuple[bool, ...], Callable[[int], int]] = {}
    for position, rows in groupby(range(len(columns)), key=columns.position.__getitem__):
        applies = tuple(rule.applies_to(table.settings[position].groups) for rule in rules)
        if applies not in ranks:
            meant = [rule for rule, is_meant in zip(rules, applies, strict=True) if is_meant] or rules
            ranks[applies] = _ranking(columns, question, meant, off_scale)
        yield position, min(rows, key=ranks[applies])


def _ranking(
    columns: AnswerColumns, question: Question, rules: Sequence[DefectRule], off_scale: set[int]
) -> Callable[[int], int]:
    """Return a function from a row to its rank: 0 defect, 1 unknown, 2 known, 3 not applicable."""
    codes = set(columns.value) - off_scale - {NO_VALUE}
    texts, scale = columns.texts, question.scale
    defects = {code for code in codes if any(rule.is_defect(texts[code], scale) for rule in rules)}

    def rank(row: int) -> int:
        value, outcome = columns.value[row], columns.outcome[row]
        return _rank(_UNPARSEABLE if value in off_scale else outcome, is_defect=value in defects)

    return rank


def _rank(outcome: int, *, is_defect: bool) -> int:
    """Return the rank of an answer about a turn; the lowest rank decides."""
    if is_defect:
        return 0
    return {_ANSWERED: 2, _NOT_APPLICABLE: 3}.get(outcome, 1)


def label_of(annotation: Annotation, question: Question, rules: Sequence[DefectRule]) -> DialogueLabel | None:
    """Return the label that one annotation gives to its dialogue, by rules 3 and 4; None without an answer.

    Args:
        annotation: The annotation, for readers that have no table at hand.
        question: The question.
        rules: The defect rules by which one turn decides.
    """
    scale = question.scale
    labels = [
        DialogueLabel(Outcome.UNPARSEABLE)
        if answer.value is not None and not scale.admits(answer.value)
        else DialogueLabel(answer.outcome, answer.value)
        for answer in annotation.answers
        if answer.question == question.name and (question.level is QuestionLevel.TURN or answer.turn is None)
    ]
    if question.level is not QuestionLevel.TURN:
        return labels[0] if labels else None

    def rank(label: DialogueLabel) -> int:
        is_defect = label.value is not None and any(rule.is_defect(label.value, scale) for rule in rules)
        return _rank(OUTCOME_CODES[label.outcome], is_defect=is_defect)

    return min(labels, key=rank, default=None)


def unresolved_failures(table: AnswerTable, position: int) -> tuple[UnitFailure, ...]:
    """Return the failures of a session that no later attempt has resolved."""
    failures = table.failures.get(position, ())
    if table.dialogues[position] is None:
        return tuple(failure for failure in failures if not failure.annotator)
    return tuple(
        failure for failure in failures if failure.annotator and not table.has_annotation(position, failure.annotator)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSource:
    """An annotator as a source of numbers, or the study's final labels.

    Attributes:
        name: Name of the annotator; `reference` for final labels.
        kind: Person, model or rule; None for final labels.
        version: Content hash.
        by_hand: Whether a person labels a sample by hand, outside of any run.
        panel: Name of the panel that it belongs to; empty for none.
        is_pool: Whether it represents several people who share the dialogues.
    """

    name: str
    kind: AnnotatorKind | None
    version: str
    by_hand: bool = False
    panel: str = ""
    is_pool: bool = False

    @property
    def is_person(self) -> bool:
        """Whether a person gave the labels."""
        return self.kind is AnnotatorKind.PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSources:
    """All annotators of one application under one guideline.

    Attributes:
        reference: The final labels, if the study has them.
        annotators: The annotators in the order of the study.
        members: Names of the people who are the guideline's pool; empty if it has none.
    """

    reference: AnswerSource | None
    annotators: tuple[AnswerSource, ...]
    members: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[AnswerSource, ...]:
        """All sources that label every dialogue, the reference first.

        The sample that people label by hand depends on judges' labels, so
        its plain share estimates nothing; people's labels count if no one else labels.
        """
        on_all = tuple(source for source in self.annotators if not source.by_hand)
        return ((self.reference,) if self.reference else ()) + (on_all or self.annotators)

    @property
    def pool(self) -> AnswerSource | None:
        """The people who share the dialogues by hand, as one source; None if they are not a pool (`pools_of`)."""
        people = self.pool_members
        if not people:
            return None
        version = digest("pool", *(source.version for source in people))
        return AnswerSource(name=PEOPLE, kind=AnnotatorKind.PERSON, version=version, by_hand=True, is_pool=True)

    @property
    def pool_members(self) -> tuple[AnswerSource, ...]:
        """The people of the pool, each as a separate source."""
        return tuple(source for source in self.annotators if source.name in self.members)

    @property
    def headline(self) -> tuple[AnswerSource, ...]:
        """The sources of the leading numbers: as `counted`, with a pool instead of its members."""
        pool = self.pool
        if pool is None:
            return self.counted
        return (*(source for source in self.counted if not source.by_hand), pool)

    @property
    def reference_annotators(self) -> tuple[AnswerSource, ...]:
        """The sources that others are compared with: the final labels, or the leading sources if there are none."""
        return (self.reference,) if self.reference else self.headline


def annotators_of(
    study: Study, guideline: Guideline, application: Application | str, question: str = ""
) -> AnswerSources:
    """Return the annotators of an application's dialogues under a guideline.

    Columns of a recorded file hold labels of recorded dialogues only.

    Args:
        study: Study with the annotators.
        guideline: The guideline.
        application: The application, or its name.
        question: Omit annotators that answer only other questions; empty to keep all.
    """
    name = application if isinstance(application, str) else application.name
    is_recorded = any(
        application.name == name and isinstance(application.connection, RecordedFile)
        for application in study.applications
    )
    final = study.reference if is_recorded else None
    return AnswerSources(
        reference=AnswerSource(name=REFERENCE, kind=None, version=version_of(final))
        if final and final.guideline == guideline.name and question in {"", guideline.question.name}
        else None,
        annotators=tuple(
            AnswerSource(
                name=annotator.name,
                kind=annotator.kind,
                version=study.annotator_version(annotator.name),
                by_hand=annotator.by_hand,
                panel=annotator.panel,
            )
            for annotator in study.annotators
            if annotator.guideline == guideline.name
            and (not question or annotator.answers(question))
            and (is_recorded or not isinstance(annotator.labelling, RecordedLabels))
        ),
        members=_pool_of(study, guideline),
    )


def pools_of(study: Study) -> dict[str, tuple[str, ...]]:
    """Return the people who share the dialogues of each guideline that several people label by hand.

    If there are judges, people are a pool only if their labels are representative: a share of the
    sample drawn by a judge's labels estimates nothing.
    """
    pools = {guideline.name: _pool_of(study, guideline) for guideline in study.guidelines}
    return {name: members for name, members in pools.items() if members}


def _pool_of(study: Study, guideline: Guideline) -> tuple[str, ...]:
    own = [annotator for annotator in study.annotators if annotator.guideline == guideline.name]
    people = [annotator for annotator in own if isinstance(annotator.labelling, HandLabels)]
    if len(people) < len(own):
        people = [
            annotator
            for annotator in people
            if isinstance(annotator.labelling, HandLabels) and annotator.labelling.is_representative
        ]
    return tuple(annotator.name for annotator in people) if len(people) > 1 else ()


def reference_names(study: Study, guideline: Guideline, application: Application | str) -> tuple[str, ...]:
    """Return the names of the annotators whose labels define a guideline's rates.

    They are the final labels if the study has them, else all annotators side by
    side, since labels are never merged. Several people who label by hand are one pool; one person, and people who
    label a sample drawn by a judge's labels, count if no one else labels.
    """
    sources = annotators_of(study, guideline, application, guideline.question.name)
    return tuple(source.name for source in sources.reference_annotators)


def positions_of(study: Study, table: AnswerTable, application: Application | str, guideline: Guideline) -> Positions:
    """Return the positions of an application's sessions that are labelled under a guideline."""
    name = application if isinstance(application, str) else application.name
    scenarios = {setting.scenario for setting in table.settings}
    labelled = {scenario for scenario in scenarios if study.asks(guideline.name, scenario)}
    return array(
        "L",
        (
            position
            for position, setting in enumerate(table.settings)
            if setting.application == name and setting.scenario in labelled
        ),
    )


def cluster_of(table: AnswerTable, position: int) -> str:
    """Return the cluster of a dialogue; a dialogue without similar ones is a separate cluster."""
    return table.settings[position].cluster or table.sessions.label(position)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionLabels:
    """A question of a guideline about some dialogues, read annotator by annotator.

    Attributes:
        table: The answers.
        guideline: The guideline.
        question: The question.
        positions: Positions of the planned sessions; the denominator.
        rule: The defect rule by which one turn decides, for questions that are asked at each turn.
    """

    table: AnswerTable
    guideline: Guideline
    question: Question
    positions: Positions
    rule: DefectRule | None = None

    def setting(self, position: int) -> Setting:
        """Return the settings that the session at a position shares with its repeats."""
        return self.table.settings[position]

    def only(self, positions: Iterable[int]) -> QuestionLabels:
        """Return the same question about some of the dialogues."""
        return replace(self, positions=array("L", positions))

    def assigned_to(self, source: AnswerSource) -> QuestionLabels:
        """Return the same question about the dialogues that a source should label: only those can be missing."""
        assigned = self.table.assigned.get(source.name)
        if assigned is None:
            return self
        assigned_positions = set(assigned)
        return self.only(position for position in self.positions if position in assigned_positions)

    def labels(self, source: AnswerSource) -> DialogueLabels:
        """Return a source's label of each dialogue, in order of the positions."""
        return labels_of(
            self.table, source.name, self.guideline, self.question, rule=self.rule, positions=self.positions
        )


def versions_of(guideline: Guideline, sources: Iterable[AnswerSource]) -> dict[str, str]:
    """Return the content hashes of the instruments behind a number, by name."""
    return {
        f"guideline {guideline.name}": version_of(guideline),
        **{source.name if source.kind is None else f"annotator {source.name}": source.version for source in sources},
    }


def reason_of(annotation: Annotation, answer: Answer, guideline: Guideline) -> str:
    """Return an annotator's reason: the answer's reasoning, else the answers to the guideline's text questions."""
    if answer.reasoning:
        return answer.reasoning
    texts = {question.name for question in guideline.instrument.questions if question.scale.kind is ScaleKind.TEXT}
    return " ".join(one.value for one in annotation.answers if one.question in texts and one.turn is None and one.value)
