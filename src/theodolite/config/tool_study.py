"""Studies made from other tools' results: a table of dialogues and labels, and logs of Inspect with scores."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theodolite.config.assembly import study_text
from theodolite.config.tool_results import (
    Criterion,
    StatedFigure,
    ToolDialogue,
    ToolResults,
    ToolScore,
    criteria_of,
    kind_of,
    mean_figures,
    messages_fault,
    number_text,
    outcome_of,
    plain_name,
    text_of,
    turns_of,
)
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.annotator import PEOPLE, REFERENCE
from theodolite.domain.instrument import MOST_POINTS
from theodolite.domain.live import RecordedTurn

TABLE, PROVENANCE = "dialogues.csv", "provenance.json"
"""Files next to the study file: the rows, and their source."""

COLUMNS = ("id", "turn", "application", "prompt", "response", "context", "withheld", "source_file", "source_line")
"""Columns of every table."""

MOST_LABELS = 20
"""Maximum number of different texts that count as labels of a scale; more are free text."""

_LONGEST_LABEL = 60
_BAD = re.compile(r"fail|unsafe|wrong|incorrect|hit|harm|refus|bad|false|no\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStudy:
    """The files of a study made from results.

    Attributes:
        files: Content by name; `study.yaml` first.
        n_dialogues: Dialogues; count.
        n_answers: Answers with a value; count.
        n_unanswered: Answers without a value, which become missing labels; count.
        to_check: Defect rules that the files do not state.
        partial: Annotators whose tool scored only some of the dialogues, with that count.
    """

    files: Mapping[str, str]
    n_dialogues: int
    n_answers: int
    n_unanswered: int
    to_check: tuple[str, ...]
    partial: Mapping[str, int]


def study_of_results(name: str, results: Sequence[ToolResults]) -> ToolStudy:
    """Return the files of a study with the dialogues and scores of results files.

    Each question of a tool becomes a question of a guideline, each scorer an annotator with a column of labels.

    Args:
        name: Name of the study.
        results: The files, without errors.
    """
    criteria = criteria_of(results)
    columns = _label_columns(criteria)
    rows = list(_rows(results, columns))
    extra = list(dict.fromkeys(key for row in rows for key in row if key not in COLUMNS))
    to_check: list[str] = []
    study = _study(name, rows, _labelling(criteria), columns, to_check)
    n_dialogues = sum(len(each.dialogues) for each in results)
    n_scores = sum(map(len, criteria.values()))
    n_answers = sum(bool(score.value) for scores in criteria.values() for score in scores)
    return ToolStudy(
        files={
            "study.yaml": study,
            TABLE: _csv([*(column for column in COLUMNS if any(row[column] for row in rows)), *extra], rows),
            PROVENANCE: json.dumps(_provenance(results), ensure_ascii=False, indent=1) + "\n",
        },
        n_dialogues=n_dialogues,
        n_answers=n_answers,
        n_unanswered=n_scores - n_answers,
        to_check=tuple(to_check),
        partial={columns[each]: n for each in criteria if (n := _n_scored(results, each)) < n_dialogues},
    )


def _n_scored(results: Sequence[ToolResults], criterion: Criterion) -> int:
    dialogues = (dialogue for each in results for dialogue in each.dialogues)
    return sum(any(score.criterion == criterion for score in dialogue.scores) for dialogue in dialogues)


def _labelling(criteria: Mapping[Criterion, Sequence[ToolScore]]) -> dict[Criterion, Sequence[ToolScore]]:
    """Return the questions of guidelines; a guideline with only free text can have no defect and stays a column."""
    closed = {each.guideline for each, scores in criteria.items() if _scale(each, scores) != "text"}
    return {each: scores for each, scores in criteria.items() if each.guideline in closed}


def _label_columns(criteria: Mapping[Criterion, Sequence[ToolScore]]) -> dict[Criterion, str]:
    """Return the column of each question: the annotator's name, plus the question if the annotator has several."""
    of_annotator = Counter(criterion.annotator for criterion in criteria)
    columns: dict[Criterion, str] = {}
    for criterion in criteria:
        parts = [criterion.annotator, criterion.guideline, criterion.question]
        parts = parts[:1] if of_annotator[criterion.annotator] == 1 else list(dict.fromkeys(parts))
        name = " ".join(parts)
        reserved = {*COLUMNS, PEOPLE, *columns.values()}
        columns[criterion] = f"{name} label" if name in reserved else name
    return columns


def _rows(results: Sequence[ToolResults], columns: Mapping[Criterion, str]) -> Iterator[dict[str, str]]:
    first_prompts: dict[tuple[str, str], tuple[str, str]] = {}
    for each in results:
        for dialogue in each.dialogues:
            prompt = dialogue.turns[0].prompt
            known_file, known = first_prompts.setdefault((dialogue.application, dialogue.key), (each.file, prompt))
            is_other = known != prompt and known_file != each.file
            key = f"{each.file}:{dialogue.key}" if is_other else dialogue.key
            yield from _dialogue_rows(dialogue, key, each.file, columns)


def _dialogue_rows(
    dialogue: ToolDialogue, key: str, file: str, columns: Mapping[Criterion, str]
) -> Iterator[dict[str, str]]:
    taken = {*COLUMNS, *columns.values()}
    for number, turn in enumerate(dialogue.turns, start=1):
        row = {
            "id": key,
            "turn": str(number),
            "application": dialogue.application,
            "prompt": turn.prompt,
            "response": turn.response,
            "context": turn.context,
            "withheld": turn.withheld,
            "source_file": file,
            "source_line": str(dialogue.line) if dialogue.line else "",
        }
        row |= {f"{name} value" if name in taken else name: text for name, text in dialogue.columns.items()}
        for score in dialogue.scores:
            if score.turn == number or (score.turn is None and number == 1):
                column = columns[score.criterion]
                row[column] = score.value
                if score.reason:
                    row[f"{column} reason"] = score.reason
        yield row


def _csv(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _provenance(results: Sequence[ToolResults]) -> list[dict[str, Any]]:
    return [
        {
            "file": each.file,
            "sha256": each.sha256,
            "tool": each.tool,
            "version": each.version,
            "dialogues": len(each.dialogues),
            "figures": [
                {"name": figure.name, "stated": figure.stated, "recomputed": figure.recomputed, "n": figure.n}
                for figure in each.figures
            ],
            "notes": list(each.notes),
        }
        for each in results
    ]


def _study(
    name: str,
    rows: Sequence[Mapping[str, str]],
    criteria: Mapping[Criterion, Sequence[ToolScore]],
    columns: Mapping[Criterion, str],
    to_check: list[str],
) -> str:
    connection = {"kind": "recorded", "file": TABLE}
    used = [column for column in COLUMNS[:7] if any(row.get(column) for row in rows)]
    connection |= {
        column: column for column in dict.fromkeys(["id", "turn", "application", "prompt", "response", *used])
    }
    content: dict[str, Any] = {"study": name, "applications": {"recorded": connection}}
    by_guideline: dict[str, list[Criterion]] = defaultdict(list)
    for criterion in criteria:
        if criterion.question not in {each.question for each in by_guideline[criterion.guideline]}:
            by_guideline[criterion.guideline].append(criterion)
    content["guidelines"] = {
        guideline: _guideline(questions, criteria, to_check) for guideline, questions in by_guideline.items()
    }
    reference = next((criterion for criterion in criteria if criterion.annotator == REFERENCE), None)
    if reference is not None:
        content["reference"] = {"column": columns[reference], "guideline": reference.guideline}
    content["annotators"] = {
        _annotator_name(column): {
            "who": criterion.kind.value,
            "guideline": criterion.guideline,
            "column": column,
            **({"question": criterion.question} if len(by_guideline[criterion.guideline]) > 1 else {}),
        }
        for criterion, column in columns.items()
        if criterion in criteria and criterion != reference
    }
    groups = _groups(rows, columns)
    content |= {"groups": groups} if groups else {}
    return study_text({key: value for key, value in content.items() if value})


def _annotator_name(column: str) -> str:
    return f"{column} labels" if column in {REFERENCE, PEOPLE} else column


def _groups(rows: Sequence[Mapping[str, str]], columns: Mapping[Criterion, str]) -> list[str]:
    """Return the columns that split the dialogues into a few groups."""
    first = [row for row in rows if row["turn"] == "1"]
    labels = set(columns.values())
    skipped = {*COLUMNS, "system_prompt", "expected", "error", *labels, *(f"{name} reason" for name in labels)}
    result = []
    for name in dict.fromkeys(key for row in first for key in row if key not in skipped):
        values = Counter(row.get(name, "") for row in first)
        if 2 <= len(values) <= MOST_LABELS and min(values.values()) > 1 and "" not in values:
            result.append(name)
    return result


def _guideline(
    questions: Sequence[Criterion], criteria: Mapping[Criterion, Sequence[ToolScore]], to_check: list[str]
) -> dict[str, Any]:
    scores = {each.question: _scores_of(each, criteria) for each in questions}
    defects = {each.question: each.defect or _flagged(scores[each.question]) for each in questions}
    if not any(defects.values()):
        first = next(each for each in questions if _scale(each, scores[each.question]) != "text")
        defects[first.question] = _guessed_defect(_scale(first, scores[first.question]))
        to_check.append(f"{first.guideline}: {first.question} {defects[first.question]}")
    entries = {each.question: _question(each, scores[each.question]) for each in questions}
    stated = {question: rule for question, rule in defects.items() if rule}
    if len(questions) == 1:
        name = questions[0].question
        if name in {"label", "score"}:
            return entries[name] | {"defect": stated[name]}
    return {"questions": entries, "defects": {key: {"defect": f"{key} {rule}"} for key, rule in stated.items()}}


def _scores_of(criterion: Criterion, criteria: Mapping[Criterion, Sequence[ToolScore]]) -> list[ToolScore]:
    """Return the scores of all annotators on a question."""
    criterion_key = (criterion.guideline, criterion.question)
    return [
        score
        for each, scores in criteria.items()
        if (each.guideline, each.question) == criterion_key
        for score in scores
    ]


def _flagged(scores: Sequence[ToolScore]) -> str:
    """Return the defect rule that a file's own marks imply; empty if there are none."""
    marked = dict.fromkeys(score.value for score in scores if score.defect and score.value)
    sound = {score.value for score in scores if score.defect is False}
    values = [value for value in marked if value not in sound and "," not in value]
    if not values:
        return ""
    return f"== {values[0]}" if len(values) == 1 else f"in {', '.join(values)}"


def _question(criterion: Criterion, scores: Sequence[ToolScore]) -> dict[str, Any]:
    ask = criterion.ask or f"Value of `{criterion.question}` by {criterion.guideline}"
    per_turn = {"level": "turn"} if any(score.turn is not None for score in scores) else {}
    return {"ask": ask, "scale": _scale(criterion, scores), **per_turn}


Scale = str | list[str] | dict[str, str]


def _scale(criterion: Criterion, scores: Sequence[ToolScore]) -> Scale:
    """Return the scale of a question: the tool's labels, or a scale that fits its values."""
    values = list(dict.fromkeys(score.value for score in scores if score.value))
    if criterion.labels:
        return dict(criterion.labels) | {value: "" for value in values if value not in criterion.labels}
    numbers = [number for value in values if (number := _as_number(value)) is not None]
    if values and len(numbers) == len(values):
        return _number_scale(numbers)
    if len(values) > MOST_LABELS or any(len(value) > _LONGEST_LABEL or "\n" in value for value in values):
        return "text"
    labels = sorted(values)
    return labels if len(labels) > 1 else [*labels, "other", "another"][: 2 if labels else 3]


def _as_number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _number_scale(numbers: Sequence[float]) -> str:
    lowest, highest = math.floor(min(numbers)), math.ceil(max(numbers))
    lowest = min(lowest, 0) if highest <= 1 else lowest
    highest = max(highest, lowest + 1)
    if all(number.is_integer() for number in numbers) and highest - lowest < MOST_POINTS:
        return f"{lowest}-{highest}"
    return f"{lowest}.0-{highest}.0"


def _guessed_defect(scale: Scale) -> str:
    """Return a default defect rule for a question: the lower half, or the label that sounds bad."""
    if isinstance(scale, str):
        low, high = map(float, re.fullmatch(r"(-?[\d.]+)-(-?[\d.]+)", scale).groups())  # type: ignore[union-attr]
        middle = (low + high) / 2
        return f"< {middle}" if "." in scale else f"<= {math.floor(middle - 0.5) if high - low > 1 else int(low)}"
    labels = list(scale)
    return f"== {next((label for label in labels if _BAD.search(label)), labels[-1])}"


GRADES: Mapping[str, str] = {"C": "correct", "P": "partially correct", "I": "incorrect", "N": "no answer"}
"""Labels of Inspect's scorers."""

_VALUES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Numbers to which Inspect's metrics convert texts (`value_to_float`)."""

_MODEL_GRADED = ("model", "judge", "llm", "grade")

OWN_TAG = "theodolite"
"""Tag of logs that our export writes."""


def inspect_results(
    header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]], *, file: str, sha256: str
) -> ToolResults:
    """Return the content of a log.

    Args:
        header: The log without samples.
        samples: Its samples, as plain values.
        file: Name of the file for messages.
        sha256: Hash of its bytes.
    """
    reader = _LogReader(header, file)
    dialogues = [dialogue for sample in samples if (dialogue := reader.dialogue(sample)) is not None]
    if not dialogues and not reader.faults:
        reader.faults.append(LocatedDiagnostic(file=file, message="contains no sample; expected a finished log"))
    status = str(header.get("status", ""))
    unfinished = () if status == "success" else (f"the evaluation ended with status {status}",)
    failed = (f"{reader.n_failed} annotations failed in the log and have no label",) if reader.n_failed else ()
    return ToolResults(
        tool="Inspect",
        version=str((header["eval"].get("packages") or {}).get("inspect_ai", "")),
        file=file,
        sha256=sha256,
        dialogues=tuple(dialogues),
        figures=tuple(reader.figures()),
        notes=(*unfinished, *failed),
        faults=few_of(reader.faults, file),
    )


class _LogReader:
    """Reads the samples of one log."""

    def __init__(self, header: Mapping[str, Any], file: str) -> None:
        self.faults: list[LocatedDiagnostic] = []
        self.n_failed = 0
        self._header, self._file, self._eval = header, file, header["eval"]
        self._is_own = OWN_TAG in (self._eval.get("tags") or ())
        self._values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def dialogue(self, sample: Mapping[str, Any]) -> ToolDialogue | None:
        """Return the dialogue of a sample; None and an error if it has none."""
        place = f"sample `{sample['id']}`, epoch {sample.get('epoch', 1)}"
        error = (sample.get("error") or {}).get("message", "")
        turns, system = self._turns(sample, error=error)
        if turns is None:
            self.faults.append(LocatedDiagnostic(file=self._file, message=f"{place}: {system}"))
            return None
        columns = {"task": "" if self._is_own else str(self._eval.get("task", "")), "system_prompt": system}
        columns |= {"expected": text_of(sample.get("target")), "error": error}
        metadata = (sample.get("metadata") or {}).items()
        columns |= {str(key): str(value) for key, value in metadata if isinstance(value, str | int | float)}
        application = str(self._eval.get("model"))
        return ToolDialogue(
            key=self._key(sample),
            application=application.removeprefix("theodolite/") if self._is_own else application,
            turns=turns,
            columns={name: text for name, text in columns.items() if text},
            scores=tuple(self._scores(sample)),
        )

    def _key(self, sample: Mapping[str, Any]) -> str:
        key = str(sample["id"])
        if self._is_own:
            return key.partition("/")[2] or key
        return f"{self._eval.get('task', 'task')}/{key}"

    def _turns(self, sample: Mapping[str, Any], *, error: str) -> tuple[tuple[RecordedTurn, ...] | None, str]:
        """Return the turns and the system prompt, or None and the errors."""
        messages = sample.get("messages") or []
        if not messages and not error and self._is_own:
            reason = text_of(sample.get("input")).strip("[]") or "no turns"
            n_turns = int((sample.get("metadata") or {}).get("turns", 1)) or 1
            return (RecordedTurn(prompt="", response="", withheld=reason),) * n_turns, ""
        if not messages:
            given = sample.get("input")
            messages = given if isinstance(given, list) else [{"role": "user", "content": text_of(given)}]
        problem = messages_fault(messages)
        return (None, problem) if problem else turns_of(messages)

    def _scores(self, sample: Mapping[str, Any]) -> Iterator[ToolScore]:
        for name, score in (sample.get("scores") or {}).items():
            if self._is_own:
                yield from self._own_scores(name, score)
                continue
            value = score.get("value")
            self._collect(str(sample["id"]), name, value)
            for question, inner in value.items() if isinstance(value, dict) else (("label", value),):
                yield _score(name, str(question), inner, text_of(score.get("explanation")))

    def _own_scores(self, name: str, score: Mapping[str, Any]) -> Iterator[ToolScore]:
        """Yield the answers behind a score from our own export, one for each turn."""
        about = score.get("metadata") or {}
        annotator = str(about.get("annotator", ""))
        asked = name.removesuffix(f" ({annotator})")
        guideline, dot, question = asked.rpartition(".")
        if not dot:
            self.n_failed += 1
            return
        is_whole = not isinstance(score.get("value"), dict)
        criterion = Criterion(
            guideline=guideline,
            question=question,
            annotator=annotator,
            kind=kind_of(about.get("annotator_kind")),
            per_turn=not is_whole,
        )
        outcomes, defects = about.get("outcome"), about.get("defect")
        for turn, value in {"": score.get("value")}.items() if is_whole else score["value"].items():
            word = outcomes if is_whole else (outcomes or {}).get(turn)
            outcome = outcome_of(word, has_value=word == Outcome.ANSWERED.value)
            yield ToolScore(
                criterion=criterion,
                value=_value_text(value) if outcome is Outcome.ANSWERED else "",
                turn=int(turn) if turn else None,
                reason=text_of(score.get("explanation")),
                outcome=outcome,
                defect=defects if is_whole else (defects or {}).get(turn),
            )

    def _collect(self, sample: str, scorer: str, value: object) -> None:
        """Add a score to the input of recomputed figures."""
        number = _VALUES.get(value, _VALUES.get(value.lower())) if isinstance(value, str) else value
        if isinstance(number, int | float) and number == number:  # noqa: PLR0124 - NaN marks a sample without score
            self._values[scorer][sample].append(float(number))

    def figures(self) -> Iterator[StatedFigure]:
        """Yield the stated metrics with their values recomputed from the scores; call it after the samples."""
        for score in (self._header.get("results") or {}).get("scores") or ():
            if score.get("reducer", "mean") != "mean":
                continue
            name = str(score.get("scorer"))
            stated = {key: metric.get("value") for key, metric in (score.get("metrics") or {}).items()}
            numbers = {key: value for key, value in stated.items() if isinstance(value, int | float)}
            if name in self._values:
                task = str(self._eval.get("task", ""))
                yield from mean_figures(numbers, self._values[name], f"{task} {name}".strip())


def _score(scorer: str, question: str, value: object, reason: str) -> ToolScore:
    is_model = any(word in scorer for word in _MODEL_GRADED)
    is_grade = isinstance(value, str) and value in GRADES
    criterion = Criterion(
        guideline=plain_name(scorer),
        question=plain_name(question),
        annotator=plain_name(scorer),
        kind=AnnotatorKind.MODEL if is_model else AnnotatorKind.RULE,
        labels={letter: GRADES[letter] for letter in ("C", "I")} if is_grade else {},
        defect="!= C" if is_grade else "",
        ask=f"What does Inspect's scorer {scorer} say?",
    )
    if value is None or value != value:  # noqa: PLR0124 - NaN marks a sample without score
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING, reason=reason)
    return ToolScore(criterion=criterion, value=_value_text(value), reason=reason)


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float):
        return number_text(float(value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
