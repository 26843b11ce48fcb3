"""Labels by people: samples to label, plans, and their exchange with files of other tools."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from xml.sax.saxutils import quoteattr

from theodolite.assessment.blinding import blinded, mask_for
from theodolite.assessment.manual_annotation import annotation_by, person_of, slips_of, turns_asked
from theodolite.assessment.schema_changes import allot, draw, shuffled
from theodolite.config.label_imports import AskedItem, LabelKey
from theodolite.domain.annotating.label_sample import (
    GivenLabel,
    KeptLabels,
    LabelSample,
    LabelSlip,
    SampledDialogue,
    SampleStratum,
    item_of,
)
from theodolite.domain.annotating.work import BlindDialogue
from theodolite.domain.annotation import (
    NON_RESPONSE_NAMES,
    NON_RESPONSE_OPTIONS,
    Annotation,
    AnnotatorKind,
    Answer,
    Outcome,
)
from theodolite.domain.annotator import Annotator
from theodolite.domain.answer_rules import AnswerSource
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.event import PersonProfile
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import SHORT, digest, version_of
from theodolite.domain.instrument import NOT_APPLICABLE, UNABLE, Question, QuestionLevel, ScaleKind
from theodolite.domain.study import Study
from theodolite.measurement.stratified_correction import LabelPlan, plan_labels
from theodolite.measurement.study.paired_labels import DEFECT, NO_VERDICT, SOUND, strata_of, verdicts_of
from theodolite.ports.store import Store
from theodolite.reporting.exporting.tables import ExportTable
from theodolite.reporting.queries.cases import pseudonyms

AT_TURN = "@"
"""Separates question and turn in the names of controls."""


def tasks_of(evidence: Evidence, guideline: Guideline) -> Iterator[dict[str, Any]]:
    """Yield one task for each dialogue that is labelled by a guideline, blinded.

    Labels of people are annotations, those of judges predictions.
    """
    texts: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in evidence.archive.annotations():
        if annotation.guideline == guideline.name:
            texts[annotation.dialogue].append(annotation)
    people, mask = pseudonyms(evidence), mask_for(evidence.study)
    for number, dialogue in enumerate(evidence.archive.dialogues(), 1):
        if not evidence.study.labelled_by(dialogue, guideline.name):
            continue
        seen = blinded(dialogue, item_of(dialogue.key), scenario=evidence.study.scenario(dialogue.scenario), mask=mask)
        lines = [(turn.number, turn.prompt, turn.response) for turn in seen.turns]
        yield {
            "id": number,
            "data": {
                "item": seen.name,
                "guideline": guideline.name,
                "material": seen.material,
                "dialogue": [
                    {"author": f"{who} {n}", "text": text}
                    for n, prompt, response in lines
                    for who, text in (("User", prompt), ("Reply", response))
                ],
            },
            "annotations": [
                {"completed_by": {"email": people[item.annotator]}, "result": _results(item, guideline)}
                for item in texts[dialogue.key]
                if item.annotator in people
            ],
            "predictions": [
                {"model_version": item.annotator_version[:12], "result": _results(item, guideline)}
                for item in texts[dialogue.key]
                if item.annotator not in people
            ],
        }


def _results(annotation: Annotation, guideline: Guideline) -> list[dict[str, Any]]:
    result = []
    for answer in annotation.answers:
        question = guideline.instrument.question(answer.question)
        value = answer.value if answer.outcome is Outcome.ANSWERED else NON_RESPONSE_NAMES.get(answer.outcome)
        if value is None or (answer.outcome is not Outcome.ANSWERED and not _allows(question, answer.outcome)):
            continue
        name = answer.question if answer.turn is None else f"{answer.question}{AT_TURN}{answer.turn}"
        kind = "textarea" if question.scale.kind is ScaleKind.TEXT else "choices"
        value_entry: Mapping[str, Any] = {"text" if kind == "textarea" else "choices": [value]}
        result.append({"from_name": name, "to_name": "dialogue", "type": kind, "value": value_entry})
    return result


def _allows(question: Question, outcome: Outcome) -> bool:
    return question.may_be_unable if outcome is Outcome.MISSING else question.may_not_apply


def label_config(guideline: Guideline, dialogues: Sequence[Dialogue]) -> str:
    """Return the labelling configuration that shows the tasks; turns as many as the longest dialogue has."""
    longest = max(dialogues, key=lambda dialogue: len(dialogue.turns), default=None)
    lines = [
        "<View>",
        '  <Paragraphs name="dialogue" value="$dialogue" layout="dialogue" nameKey="author" textKey="text"/>',
    ]
    for question in guideline.instrument.questions:
        for turn in turns_asked(question, longest) if longest else ():
            lines += _control(question, turn)
    return "\n".join([*lines, "</View>", ""])


def _control(question: Question, turn: int | None) -> list[str]:
    name = question.name if turn is None else f"{question.name}{AT_TURN}{turn}"
    requested = question.text if turn is None else f"Turn {turn}: {question.text}"
    head = f"  <Header value={quoteattr(requested)}/>"
    if question.scale.kind is ScaleKind.TEXT:
        return [head, f'  <TextArea name={quoteattr(name)} toName="dialogue"/>']
    own = [UNABLE] * question.may_be_unable + [NOT_APPLICABLE] * question.may_not_apply
    choices = [f"    <Choice value={quoteattr(label)}/>" for label in (*question.scale.categories, *own)]
    required = "false" if question.when or turn is not None else "true"
    begin = f'  <Choices name={quoteattr(name)} toName="dialogue" choice="single" required="{required}">'
    return [head, begin, *choices, "  </Choices>"]


USERS = ("user_id", "annotator", "annotator_kind", "replicate")
"""Columns of the table of users."""

_FIELDS = ("dialogue", "turn", "material")

_TAKEN = frozenset({*_FIELDS, "add", "create", "update", "serialize", "index", "count"})
"""Names that a question of a dataset cannot have."""

_LONGEST_TITLE, _LONGEST_NAME = 500, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgillaDataset:
    """One dataset as files of JSON.

    Attributes:
        name: Its name.
        settings: `.argilla/settings.json`.
        dataset: `.argilla/dataset.json`.
        records: `records.json`.
    """

    name: str
    settings: dict[str, Any]
    dataset: dict[str, Any]
    records: list[dict[str, Any]]


def datasets_of(evidence: Evidence, guideline: Guideline) -> Iterator[ArgillaDataset]:
    """Yield the datasets of a guideline: questions about dialogues and questions about turns, if it has them.

    Dialogues are blind. Answers of people and programs are responses, one answer
    each; there are no suggestions, because they would bias the annotator.
    """
    seen = list(_seen(evidence, guideline))
    texts: dict[str, list[Annotation]] = defaultdict(list)
    for annotation in evidence.archive.annotations():
        if annotation.guideline == guideline.name:
            texts[item_of(annotation.dialogue)].append(annotation)
    for level in QuestionLevel:
        questions = [question for question in guideline.instrument.questions if question.level is level]
        if questions:
            builder = _Builder(evidence=evidence, guideline=guideline, level=level, questions=questions)
            yield builder.dataset(seen, texts)


def _seen(evidence: Evidence, guideline: Guideline) -> Iterator[BlindDialogue]:
    mask = mask_for(evidence.study)
    for dialogue in (
        dialogue for dialogue in evidence.archive.dialogues() if evidence.study.labelled_by(dialogue, guideline.name)
    ):
        yield blinded(dialogue, item_of(dialogue.key), scenario=evidence.study.scenario(dialogue.scenario), mask=mask)


def users_table(evidence: Evidence) -> ExportTable:
    """Return the annotators behind the pseudonymous users of responses: people by number, programs by name."""
    people = pseudonyms(evidence)
    kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
    pairs = {
        (annotation.annotator, answer.replicate)
        for annotation in evidence.archive.annotations()
        for answer in annotation.answers
    }
    details = sorted((people.get(name, name), kinds.get(name, ""), replicate, name) for name, replicate in pairs)
    rows = ((user_id(evidence, name, nth), shown, kind, nth) for shown, kind, nth, name in details)
    return ExportTable(name="users", columns=USERS, rows=rows)


def user_id(evidence: Evidence, annotator: str, replicate: int) -> str:
    """Return the pseudonymous user of an annotator; each repeated answer has its own, as Argilla keeps only one."""
    made = digest("argilla user", evidence.run.key, annotator, str(replicate))[:32]
    return "-".join((made[:8], made[8:12], f"5{made[13:16]}", f"8{made[17:20]}", made[20:]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Builder:
    """Makes the dataset of one guideline and level of questions.

    Attributes:
        evidence: Evidence of the run.
        guideline: Guideline of the labels.
        level: Whether records are dialogues or turns.
        questions: The guideline's questions of that level.
    """

    evidence: Evidence
    guideline: Guideline
    level: QuestionLevel
    questions: Sequence[Question]

    def dataset(self, seen: Sequence[BlindDialogue], by_dialogue: dict[str, list[Annotation]]) -> ArgillaDataset:
        """Return the dataset with a record for each dialogue, or for each of its turns."""
        turns = self.level is QuestionLevel.TURN
        name = _slug(f"{self.guideline.name}-turns" if turns else self.guideline.name, ())
        records = [
            self._record(dialogue, turn, by_dialogue.get(dialogue.name, ()))
            for dialogue in seen
            for turn in ([item.number for item in dialogue.turns] if turns else [None])
        ]
        distribution = {"strategy": "overlap", "min_submitted": 1}
        dataset = {"name": name, "guidelines": self.guideline.definition or None, "allow_extra_metadata": True}
        return ArgillaDataset(
            name=name,
            settings=self._settings(distribution),
            dataset={**dataset, "status": "ready", "distribution": distribution},
            records=records,
        )

    def _settings(self, distribution: dict[str, Any]) -> dict[str, Any]:
        turn = [_field("turn", "text", "The turn that is asked about", required=True)]
        return {
            "guidelines": self.guideline.definition or None,
            "fields": [
                _field("dialogue", "chat", "Dialogue", required=True),
                *(turn if self.level is QuestionLevel.TURN else ()),
                _field("material", "text", "Source material", required=False),
            ],
            "questions": [self._question(question) for question in self.questions],
            "vectors": [],
            "metadata": [],
            "allow_extra_metadata": True,
            "distribution": distribution,
            "mapping": None,
        }

    def _question(self, question: Question) -> dict[str, Any]:
        return {
            "name": self._name(question),
            "title": question.text[:_LONGEST_TITLE],
            "description": f"{question.name}. Only where {question.when.text}." if question.when else question.name,
            "required": question.when is None,
            "settings": _answers(question),
        }

    def _name(self, question: Question) -> str:
        before = [_slug(item.name, ()) for item in self.questions[: self.questions.index(question)]]
        return _slug(question.name, (*_TAKEN, *before))

    def _record(self, dialogue: BlindDialogue, turn: int | None, statement: Sequence[Annotation]) -> dict[str, Any]:
        chat = [
            {"role": role, "content": text}
            for item in dialogue.turns
            for role, text in (("user", item.prompt), ("assistant", item.response))
        ]
        shown = {} if turn is None else {"turn": str(turn)}
        metadata = {"item": dialogue.name, "guideline_version": version_of(self.guideline)}
        return {
            "id": dialogue.name if turn is None else f"{dialogue.name}-{turn}",
            "fields": {"dialogue": chat, **shown, "material": dialogue.material},
            "metadata": metadata if turn is None else {**metadata, "turn": turn},
            "suggestions": {},
            "responses": self._responses(turn, statement),
            "vectors": {},
            "_server_id": None,
        }

    def _responses(self, turn: int | None, text: Sequence[Annotation]) -> dict[str, list[dict[str, str]]]:
        result: dict[str, list[dict[str, str]]] = defaultdict(list)
        known = {question.name: question for question in self.questions}
        for annotation in text:
            for answer in annotation.answers:
                value = _value(known[answer.question], answer) if answer.question in known else None
                if answer.turn == turn and value is not None:
                    user = user_id(self.evidence, annotation.annotator, answer.replicate)
                    result[self._name(known[answer.question])].append({"value": value, "user_id": user})
        return dict(result)


def _field(name: str, kind: str, title: str, *, required: bool) -> dict[str, Any]:
    settings = {"type": kind, "use_markdown": False}
    return {"name": name, "title": title, "description": None, "required": required, "settings": settings}


def _answers(question: Question) -> dict[str, Any]:
    """Return the permitted answers: a list of words, or a text."""
    if not question.scale.categories:
        return {"type": "text", "use_markdown": False}
    meanings = {label.value: label.meaning for label in question.scale.labels}
    own = [UNABLE] * question.may_be_unable + [NOT_APPLICABLE] * question.may_not_apply
    values = [*question.scale.categories, *own]
    options = [
        {"value": value, "text": _label_text(value, meanings.get(value, "")), "description": None} for value in values
    ]
    return {
        "type": "label_selection",
        "options": options,
        "visible_options": len(options) if len(options) > 2 else None,
    }


def _label_text(value: str, meaning: str) -> str:
    return f"{value}: {meaning}"[:_LONGEST_TITLE] if meaning else value


def _value(question: Question, answer: Answer) -> str | None:
    """Return an answer's value in a response; None if there is neither a value nor a word for its absence."""
    if answer.outcome is Outcome.ANSWERED:
        return answer.value
    may = {Outcome.MISSING: question.may_be_unable, Outcome.NOT_APPLICABLE: question.may_not_apply}
    return NON_RESPONSE_NAMES[answer.outcome] if may.get(answer.outcome) and question.scale.categories else None


def _slug(name: str, taken: Sequence[str]) -> str:
    """Return a name in characters that Argilla accepts, different from those in use."""
    plain = re.sub(r"[^a-z0-9_-]", "_", name.lower()).strip("-_")[:_LONGEST_NAME] or "question"
    while plain in taken:
        plain = f"{plain}_"
    return plain


def labels_to_keep(evidence: Evidence, given: Sequence[GivenLabel]) -> KeptLabels:
    """Return the new labels of a file; reading one file twice adds none.

    A further revision contains everything that the person has answered so far.

    Args:
        evidence: Evidence of the run, including earlier labels.
        given: Valid labels.

    Raises:
        InputError: If a person labels by another guideline than the study states.
    """
    keys = {item_of(dialogue.key): dialogue.key for dialogue in evidence.archive.dialogues()}
    earlier = _latest(evidence.archive.annotations())
    new, revised, unchanged = [], [], 0
    for (item, guideline, name), labels in _by_annotation(given).items():
        annotator = person_of(evidence.study, name, guideline)
        before = earlier.get((keys[item], annotator.name))
        answers = _merged(before.answers if before else (), labels)
        if before and before.answers == answers:
            unchanged += 1
        elif before:
            revised.append(replace(before, answers=answers, revision=before.revision + 1))
        else:
            new.append(annotation_by(annotator, evidence.study.guideline(guideline), keys[item], answers))
    return KeptLabels(new=tuple(new), revised=tuple(revised), unchanged=unchanged)


def _latest(annotations: Iterable[Annotation]) -> Mapping[tuple[str, str], Annotation]:
    return {
        (annotation.dialogue, annotation.annotator): annotation for annotation in annotations if not annotation.unit
    }


def _by_annotation(answers: Sequence[GivenLabel]) -> Mapping[tuple[str, str, str], list[GivenLabel]]:
    result: dict[tuple[str, str, str], list[GivenLabel]] = defaultdict(list)
    for label in answers:
        result[label.item, label.guideline, label.annotator].append(label)
    return result


def _merged(before: Sequence[Answer], labels: Sequence[GivenLabel]) -> tuple[Answer, ...]:
    answers = {(answer.question, answer.turn, answer.replicate): answer for answer in before}
    for label in labels:
        answers[label.question, label.turn, label.replicate] = Answer(
            question=label.question,
            outcome=label.outcome,
            value=label.value,
            turn=label.turn,
            replicate=label.replicate,
            reasoning=label.reason,
        )
    return tuple(answers.values())


def label_key(evidence: Evidence) -> LabelKey:
    """Return the expected content of a label file of a run."""
    study = evidence.study
    items = {
        (item_of(dialogue.key), guideline.name): AskedItem(
            guideline=guideline.name,
            version=version_of(guideline)[:SHORT],
            questions={item.name: turns_asked(item, dialogue) for item in guideline.instrument.questions},
        )
        for dialogue in evidence.archive.dialogues()
        for guideline in study.guidelines
        if study.asks(guideline.name, dialogue.scenario)
    }
    return LabelKey(
        items=items,
        questions={
            (item.name, question.name): question for item in study.guidelines for question in item.instrument.questions
        },
        own_words=NON_RESPONSE_OPTIONS,
        annotators=tuple(annotator.name for annotator in study.annotators if annotator.by_hand),
        judges=tuple(annotator.name for annotator in study.annotators if not annotator.by_hand),
    )


def keep_descriptions(store: Store, annotator_attributes: Mapping[str, Mapping[str, str]], *, now: datetime) -> int:
    """Store attributes of people as further revisions of their profiles; return the number of changes; count.

    Other attributes of a profile are unchanged. Reading a file twice adds nothing.

    Args:
        store: The database.
        annotator_attributes: Annotator to attribute to group.
        now: The present moment.
    """
    changed = 0
    for name, groups in annotator_attributes.items():
        before = store.profile(name) or PersonProfile()
        if any(before.annotator_attributes.get(attribute) != group for attribute, group in groups.items()):
            store.add_profile(name, replace(before, groups={**before.groups, **groups}), now=now)
            changed += 1
    return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRequest:
    """Sample for people to label.

    Attributes:
        n: Number of dialogues; count.
        guideline: Name of the guideline; empty if the study has only one with a judge.
        judge: Name of the annotator whose labels define the strata; empty for the first judge.
        seed: Seed of the sample.
    """

    n: int
    guideline: str = ""
    judge: str = ""
    seed: int = 1


def guideline_for(study: Study, name: str) -> Guideline:
    """Return the guideline that people are to label by.

    Raises:
        InputError: If the name is unknown, or none is given and several match.
    """
    known = {guideline.name: guideline for guideline in study.guidelines}
    if name:
        if name not in known:
            message = (
                f"study `{study.name}` has no guideline `{name}`; known: {_listed(known)}{did_you_mean(name, known)}"
            )
            raise InputError(message)
        return known[name]
    judged = {a.guideline for a in study.annotators if a.kind is AnnotatorKind.MODEL} & known.keys()
    if len(judged or known) != 1:
        several = [item for item in known if item in (judged or known)]
        begin = f"study `{study.name}` has {len(several)} guidelines to label by"
        message = f"{begin}; name one with --guideline: {_listed(several)}"
        raise InputError(message)
    return known[next(iter(judged or known))]


def judge_for(study: Study, guideline: Guideline, name: str) -> Annotator | None:
    """Return the annotator that defines the strata: the named one, else the first model, else the first rule.

    Raises:
        InputError: If the one named does not label by the guideline, or is a person.
    """
    judges = [a for a in study.annotators if a.guideline == guideline.name and a.kind is not AnnotatorKind.PERSON]
    judges.sort(key=lambda judge: judge.kind is not AnnotatorKind.MODEL)
    if not name:
        return judges[0] if judges else None
    result = next((judge for judge in judges if judge.name == name), None)
    if result is None:
        names = [judge.name for judge in judges]
        tail = did_you_mean(name, names) or (f"; its judges: {_listed(names)}" if names else "; it has no judge")
        message = f"no judge `{name}` labels by guideline `{guideline.name}`{tail}"
        raise InputError(message)
    return result


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts:
    """People's labels so far of dialogues with readable texts.

    Attributes:
        strata: Stratum of each dialogue.
        labels: Whether people found a defect in it; None without labels.
    """

    strata: tuple[str, ...]
    labels: tuple[bool | None, ...]

    @property
    def n_labelled(self) -> int:
        """Labelled dialogues; count."""
        return sum(label is not None for label in self.labels)

    @property
    def n_open(self) -> int:
        """Dialogues without labels; count."""
        return len(self.labels) - self.n_labelled

    def plan(self, n: int) -> LabelPlan:
        """Return which dialogues to label next, and the interval to expect then."""
        return plan_labels(self.strata, self.labels, budget=min(n, self.n_open))


def label_counts(evidence: Evidence, guideline: Guideline, judge: str) -> LabelCounts:
    """Return the results of labelling by hand so far, by stratum.

    If several people labelled a dialogue, the first in the study's order counts.

    Args:
        evidence: All records of one run.
        guideline: Guideline of the labels.
        judge: Annotator with the verdicts that define the strata; empty for none.
    """
    held, of_place = evidence.answers.dialogues, strata_of(evidence, guideline, judge)
    positions = [position for position in of_place if (item := held[position]) is not None and not item.withheld]
    result = _verdicts_by_hand(evidence, guideline, positions)
    labels = tuple(None if verdict == NO_VERDICT else verdict == DEFECT for verdict in result)
    return LabelCounts(strata=tuple(of_place[position] for position in positions), labels=labels)


def _verdicts_by_hand(evidence: Evidence, guideline: Guideline, positions: Sequence[int]) -> list[str]:
    people = [
        AnswerSource(name=annotator.name, kind=annotator.kind, version="", by_hand=True)
        for annotator in evidence.study.annotators
        if annotator.by_hand and annotator.guideline == guideline.name
    ]
    by_person = [verdicts_of(evidence.answers, guideline, array("L", positions), person) for person in people]
    return [
        next((verdict for verdict in verdicts if verdict != NO_VERDICT), NO_VERDICT)
        for verdicts in (zip(*by_person, strict=True) if by_person else [()] * len(positions))
    ]


def planned_labels(evidence: Evidence, request: LabelRequest) -> tuple[LabelCounts, LabelPlan]:
    """Return people's labels so far, and the gain from further labels.

    Raises:
        InputError: If the sample is ambiguous, or nothing is left to label.
    """
    guideline = guideline_for(evidence.study, request.guideline)
    judge = judge_for(evidence.study, guideline, request.judge)
    counts = label_counts(evidence, guideline, judge.name if judge else "")
    if not counts.n_open:
        message = (
            f"nothing is left to label by `{guideline.name}`: no dialogue of study `{evidence.study.name}` is open"
        )
        raise InputError(message)
    return counts, counts.plan(request.n)


EXPECTED_SPREAD = {DEFECT: 0.45, SOUND: 0.2}
"""Expected standard deviation of labels within a judge's verdict before any label exists.

A judge that is right on 72 of 100 defects and wrong on 4 of 100 non-defects.
"""

_UNKNOWN_SPREAD = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLabels:
    """A label sample with the slips of its file."""

    sample: LabelSample
    slips: tuple[LabelSlip, ...]


def draw_labels(evidence: Evidence, request: LabelRequest) -> DrawnLabels:
    """Draw the dialogues that people are to label.

    They come from all verdicts of the judge, those without a defect and those
    that cannot be read included, each with its probability. What a person has
    labelled before is not drawn again.

    Raises:
        InputError: If the sample is ambiguous, or nothing is left to label.
    """
    guideline = guideline_for(evidence.study, request.guideline)
    judge = judge_for(evidence.study, guideline, request.judge)
    completed, find = evidence.answers.dialogues, evidence.sessions.find
    dialogues = {dialogue.key: find(dialogue.label) or 0 for dialogue in evidence.archive.dialogues()}
    readable = {
        key: position for key, position in dialogues.items() if not (item := completed[position]) or not item.withheld
    }
    strata = _open_strata(evidence, guideline, judge.name if judge else "", readable)
    shares = _shares(evidence, guideline, judge.name if judge else "", strata, request.n)
    sampled = draw(strata, shares, request.seed)
    order = shuffled([key for keys in sampled.values() for key in keys], request.seed)
    if not order:
        raise InputError(_why_nothing(evidence.study, guideline, dialogues, readable))
    sample = LabelSample(
        study=evidence.study.name,
        guideline=guideline.name,
        guideline_version=version_of(guideline),
        judge=judge.name if judge else "",
        judge_version=evidence.study.annotator_version(judge.name) if judge else "",
        seed=request.seed,
        strata=_strata_of(strata, sampled),
        dialogues=_sampled(strata, sampled, order),
        withheld=len(dialogues) - len(readable),
    )
    chosen = {item.key: item for item in evidence.archive.dialogues([dialogues[key] for key in order])}
    return DrawnLabels(sample=sample, slips=tuple(slip for key in order for slip in slips_of(guideline, chosen[key])))


def _open_strata(
    evidence: Evidence, guideline: Guideline, judge: str, readable: Mapping[str, int]
) -> dict[str, list[str]]:
    """Return the keys of the readable dialogues without labels by hand, by stratum."""
    people = {annotator.name for annotator in evidence.study.annotators if annotator.by_hand}
    answers = (annotation for annotation in evidence.archive.annotations() if annotation.annotator in people)
    labelled = {annotation.dialogue for annotation in answers if annotation.guideline == guideline.name}
    of_session = strata_of(evidence, guideline, judge)
    result: dict[str, list[str]] = defaultdict(list)
    for key, position in readable.items():
        if position in of_session and key not in labelled:
            result[of_session[position]].append(key)
    return dict(sorted(result.items()))


def _shares(
    evidence: Evidence, guideline: Guideline, judge: str, strata: Mapping[str, list[str]], n: int
) -> dict[str, int]:
    """Return the sample size of each stratum: from the labels so far, else from the expectation for judges."""
    sizes = {name: len(keys) for name, keys in strata.items()}
    known = label_counts(evidence, guideline, judge)
    if not known.n_labelled or n >= sum(sizes.values()):
        return allot(sizes, _weights(strata), n)
    return known.plan(n).take


def _weights(strata: Mapping[str, object]) -> dict[str, float]:
    return {name: EXPECTED_SPREAD.get(name.rpartition(": ")[2], _UNKNOWN_SPREAD) for name in strata}


def _strata_of(strata: Mapping[str, list[str]], sampled: Mapping[str, tuple[str, ...]]) -> tuple[SampleStratum, ...]:
    return tuple(
        SampleStratum(name=name, n_dialogues=len(keys), n_drawn=len(sampled[name])) for name, keys in strata.items()
    )


def _sampled(
    strata: Mapping[str, list[str]], sampled: Mapping[str, tuple[str, ...]], order: list[str]
) -> tuple[SampledDialogue, ...]:
    by_key = {
        key: SampledDialogue(dialogue=key, stratum=name, inclusion=len(keys) / len(strata[name]))
        for name, keys in sampled.items()
        for key in keys
    }
    return tuple(by_key[key] for key in order)


def _why_nothing(study: Study, guideline: Guideline, dialogues: Mapping[str, int], readable: Mapping[str, int]) -> str:
    if not dialogues:
        return f"no dialogue of `{study.name}` was held yet. Run some:  theodolite run STUDY --stage test"
    if not readable:
        return f"the texts of all {len(dialogues):,} dialogues of `{study.name}` are withheld, so nobody can label them"
    return (
        f"people have labelled all readable dialogues of `{study.name}` by `{guideline.name}`; nothing is left to draw"
    )
