"""Logs of Inspect as dialogues with scores."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from theodolite.config.tool_results import (
    Criterion,
    StatedFigure,
    ToolDialogue,
    ToolResults,
    ToolScore,
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
from theodolite.domain.live import RecordedTurn

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
