"""Result formats of other tools: promptfoo, garak, PyRIT, DeepEval, Azure AI Evaluation, chats and traces."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from theodolite.config.tables import decoded
from theodolite.config.tool_results import (
    DEFAULT_APPLICATION,
    FAIL,
    PASS,
    Criterion,
    FormatFaults,
    JsonPath,
    Record,
    ResultSource,
    StatedFigure,
    ToolDialogue,
    ToolResults,
    ToolScore,
    first_of,
    kind_of,
    mean_figures,
    messages_fault,
    number_score,
    outcome_of,
    plain_name,
    role_of,
    score_criterion,
    text_of,
    turns_of,
    verdict,
    verdict_criterion,
)
from theodolite.config.tool_traces import langfuse_dialogues, langsmith_dialogues, opentelemetry_dialogues
from theodolite.config.yaml_source import LocatedDiagnostic, few_of
from theodolite.domain.annotation import AnnotatorKind, Outcome
from theodolite.domain.live import RecordedTurn

MOST_UNPACKED = 1_000_000_000
"""Largest unpacked size of a results file; bytes."""

Reader = Callable[[ResultSource], list[ToolDialogue]]


def read_results(stored: bytes, file: str, formats: Sequence[ResultFormat] | None = None) -> ToolResults:
    """Return the dialogues and scores of a results file; all errors are in `faults`.

    Args:
        stored: The bytes, plain or gzipped: JSON or JSON Lines.
        file: Name of the file for messages.
        formats: Formats to try, of which the first that fits is used; default: the shipped ones.
    """
    formats = FORMATS if formats is None else formats
    sha256 = hashlib.sha256(stored).hexdigest()
    try:
        text = _text(stored)
    except (OSError, EOFError, zlib.error):
        return _unreadable(file, sha256, "is cut off or is not a gzip file; export it again")
    parsed = _parsed(text, file)
    if isinstance(parsed, LocatedDiagnostic):
        return ToolResults(tool="", file=file, sha256=sha256, faults=(parsed,))
    records, lines, broken = parsed
    form = next((each for each in formats if records and each.fits(records)), None)
    if form is None:
        known = ", ".join(each.name for each in formats)
        return _unreadable(file, sha256, f"has no known format of results; known formats: {known}")
    problems = FormatFaults(file, text, lines)
    source = ResultSource(records=records, faults=problems)
    dialogues = form.read(source)
    located = (*broken, *problems.located())
    if not dialogues and not located:
        located = (LocatedDiagnostic(file=file, message=f"contains no dialogue in the format of {form.name}"),)
    return ToolResults(
        tool=form.name,
        version=source.version,
        file=file,
        sha256=sha256,
        dialogues=tuple(dialogues),
        figures=tuple(source.figures),
        notes=tuple(source.notes),
        faults=few_of(sorted(located, key=lambda diagnostic: diagnostic.line), file),
    )


def is_results(stored: bytes, formats: Sequence[ResultFormat] | None = None) -> bool:
    """Return whether a file has one of the formats; default: the shipped ones."""
    formats = FORMATS if formats is None else formats
    try:
        parsed = _parsed(_text(stored), "")
    except (OSError, EOFError, zlib.error):
        return False
    return not isinstance(parsed, LocatedDiagnostic) and any(each.fits(parsed[0]) for each in formats if parsed[0])


def _text(stored: bytes) -> str:
    if stored[:2] == b"\x1f\x8b":
        packed = zlib.decompressobj(wbits=31)
        plain = packed.decompress(stored, MOST_UNPACKED + 1)
        if len(plain) > MOST_UNPACKED or not packed.eof:
            raise gzip.BadGzipFile
        stored = plain
    return decoded(stored)[0].removeprefix("\ufeff")


def _unreadable(file: str, sha256: str, message: str) -> ToolResults:
    return ToolResults(tool="", file=file, sha256=sha256, faults=(LocatedDiagnostic(file=file, message=message),))


def _parsed(text: str, file: str) -> tuple[list[Any], list[int], list[LocatedDiagnostic]] | LocatedDiagnostic:
    """Return the records, their lines for JSON Lines, and lines that are not JSON."""
    if not text.strip():
        return LocatedDiagnostic(file=file, message="is empty; expected results as JSON or JSON Lines")
    try:
        document = json.loads(text)
    except RecursionError:
        return LocatedDiagnostic(file=file, message="is nested too deeply")
    except ValueError as error:
        records, lines, broken = _json_lines(text, file)
        if records:
            return records, lines, broken
        line = getattr(error, "lineno", 0)
        return LocatedDiagnostic(file=file, line=line, message="is neither JSON nor JSON Lines; export it again")
    return ([document], [], []) if isinstance(document, dict) else (_as_list(document), [], [])


def _as_list(document: Any) -> list[Any]:
    return document if isinstance(document, list) else []


def _json_lines(text: str, file: str) -> tuple[list[Any], list[int], list[LocatedDiagnostic]]:
    records: list[Any] = []
    lines: list[int] = []
    broken: list[LocatedDiagnostic] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append(json.loads(line))
            lines.append(number)
        except (ValueError, RecursionError):
            broken.append(LocatedDiagnostic(file=file, line=number, message="is not JSON; expected an object per line"))
    return records, lines, broken


def _pass_rate(name: str, stated: object, verdicts: Sequence[bool]) -> list[StatedFigure]:
    if isinstance(stated, bool) or not isinstance(stated, int | float):
        return []
    return [StatedFigure(name=name, stated=float(stated), recomputed=float(sum(verdicts)), n=len(verdicts))]


# --- promptfoo: `promptfoo eval -o results.json`


def _promptfoo(source: ResultSource) -> list[ToolDialogue]:
    document = first_of(source.records)
    source.version = str((document.get("metadata") or {}).get("promptfooVersion", ""))
    dialogues = []
    for path, result in source.items("results", "results"):
        prompt = text_of((result.get("prompt") or {}).get("raw"))
        if not prompt:
            source.faults.add(path, "has no `prompt.raw`; expected the prompt that was sent")
            continue
        dialogues.append(_promptfoo_dialogue(result, prompt, source.line(path)))
    stats = document["results"].get("stats") or {}
    verdicts = [result.get("success") is True for _, result in source.items("results", "results")]
    source.figures += _pass_rate("tests passed", stats.get("successes"), verdicts)
    return dialogues


def _promptfoo_dialogue(result: Record, prompt: str, line: int) -> ToolDialogue:
    provider = result.get("provider")
    named = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
    reply = (result.get("response") or {}).get("output")
    shown = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False) if reply is not None else ""
    messages = _promptfoo_messages(prompt)
    turns, system = turns_of([*messages, {"role": "assistant", "content": shown}])
    test = result.get("testCase") or {}
    # `error` may also contain the reason of a failed assertion; `failureReason` 2 is an error of provider or test.
    error = text_of(result.get("error")) if result.get("failureReason", 2) == _PROMPTFOO_ERROR else ""
    columns = {"system_prompt": system, "test": str(test.get("description") or ""), "error": error}
    columns |= {f"var_{key}": text_of(value) for key, value in (result.get("vars") or {}).items()}
    graded = result.get("gradingResult")
    components = (graded or {}).get("componentResults") or [] if isinstance(graded, dict) else []
    scores = [score for each in components if isinstance(each, dict) for score in _promptfoo_scores(each)]
    success = None if error else result.get("success")
    return ToolDialogue(
        key=f"test-{result.get('testIdx', 0)}-prompt-{result.get('promptIdx', 0)}",
        application=str(named or DEFAULT_APPLICATION),
        turns=turns,
        line=line,
        columns={name: text for name, text in columns.items() if text},
        scores=(verdict(verdict_criterion("test", AnnotatorKind.RULE, "Does the test pass?"), passed=success), *scores),
    )


_PROMPTFOO_ERROR = 2


def _promptfoo_messages(prompt: str) -> list[Record]:
    """Return the messages of a prompt, which may be a chat as JSON."""
    try:
        parsed = json.loads(prompt)
    except ValueError:
        parsed = None
    return parsed if not messages_fault(parsed) else [{"role": "user", "content": prompt}]


_MODEL_GRADED = ("rubric", "model-graded", "factuality", "closedqa", "g-eval", "select-best", "relevance", "faithful")


def _promptfoo_scores(component: Record) -> Iterator[ToolScore]:
    assertion = component.get("assertion") or {}
    kind = str(assertion.get("type", "assertion"))
    by = AnnotatorKind.MODEL if any(word in kind for word in _MODEL_GRADED) else AnnotatorKind.RULE
    value = assertion.get("value")
    name = str(assertion.get("metric") or (kind if by is AnnotatorKind.MODEL else f"{kind} {text_of(value)[:30]}"))
    reason = component.get("reason")
    ask = text_of(value) if by is AnnotatorKind.MODEL else f"Does the assertion hold: {kind} {text_of(value)}"
    yield verdict(verdict_criterion(name, by, ask), passed=component.get("pass"), reason=reason)
    if by is AnnotatorKind.MODEL:
        yield number_score(score_criterion(name, by), component.get("score"), reason)


# --- garak: `*.report.jsonl`


def _garak(source: ResultSource) -> list[ToolDialogue]:
    entries = list(source.items())
    setup = next((entry for _, entry in entries if entry["entry_type"] == "start_run setup"), {})
    source.version = str(next((e["garak_version"] for _, e in entries if e.get("garak_version")), ""))
    named = [setup.get("plugins.target_name"), setup.get("plugins.model_name"), setup.get("plugins.target_type")]
    application = str(next((name for name in named if name), DEFAULT_APPLICATION))
    threshold = float(setup.get("run.eval_threshold", _GARAK_THRESHOLD))
    # An attempt is written when it is created (status 1) and again with its detector results (status 2).
    final = {entry.get("uuid"): (path, entry) for path, entry in entries if entry["entry_type"] == "attempt"}
    dialogues: list[ToolDialogue] = []
    passed: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for path, attempt in final.values():
        dialogues += _garak_dialogues(source, path, attempt, (application, threshold), passed)
    for _, entry in entries:
        if entry["entry_type"] == "eval":
            name = (str(entry.get("probe")), str(entry.get("detector")).removeprefix("detector."))
            source.figures += _pass_rate(f"{name[0]} {name[1]} passed", entry.get("passed"), passed[name])
    return dialogues


def _garak_dialogues(
    source: ResultSource,
    path: JsonPath,
    attempt: Record,
    about: tuple[str, float],
    passed: dict[tuple[str, str], list[bool]],
) -> Iterator[ToolDialogue]:
    application, threshold = about
    messages = _garak_messages(attempt.get("prompt"))
    if problem := messages_fault(messages, "prompt"):
        source.faults.add(path, problem)
        return
    probe = str(attempt.get("probe_classname", "")).removeprefix("probes.")
    detectors = attempt.get("detector_results") or {}
    for number, output in enumerate(attempt.get("outputs") or [], start=1):
        reply = text_of(output)
        turns, system = turns_of([*messages, {"role": "assistant", "content": reply}])
        columns = {"probe": probe, "goal": str(attempt.get("goal") or ""), "system_prompt": system}
        scores = []
        for detector, results in detectors.items():
            value = results[number - 1] if isinstance(results, list) and len(results) >= number else None
            hit = None if value is None else value >= threshold
            if hit is not None:
                passed[probe, detector].append(not hit)
            scores.append(_garak_score(detector, hit))
        yield ToolDialogue(
            key=str(attempt.get("uuid")),
            application=application,
            turns=turns if reply else tuple(replace(turn, response="") for turn in turns),
            line=source.line(path),
            columns={name: text for name, text in columns.items() if text},
            scores=tuple(scores),
        )


_GARAK_THRESHOLD = 0.5
"""Detector score above which garak counts a hit, if the report does not state `run.eval_threshold`."""


def _garak_messages(prompt: object) -> list[Record]:
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    turns = prompt.get("turns") if isinstance(prompt, dict) else None
    return [turn for turn in turns or () if isinstance(turn, dict)]


def _garak_score(detector: str, hit: bool | None) -> ToolScore:  # noqa: FBT001
    criterion = Criterion(
        guideline=plain_name(detector),
        annotator=plain_name(detector),
        labels={"no hit": "", "hit": "the detector found the failure"},
        defect="== hit",
        ask=f"Does garak's detector {detector} find a failure?",
    )
    if hit is None:
        return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING)
    return ToolScore(criterion=criterion, value="hit" if hit else "no hit")


# --- PyRIT: message pieces, scores and attack results of its memory, one per line


def _pyrit(source: ResultSource) -> list[ToolDialogue]:
    pieces: dict[str, list[tuple[JsonPath, Record]]] = defaultdict(list)
    scores: dict[str, list[Record]] = defaultdict(list)
    attacks: dict[str, Record] = {}
    for path, record in source.items():
        if "score_value" in record:
            scores[str(record.get("message_piece_id"))].append(record)
        elif "attack_result_id" in record:
            attacks[str(record.get("conversation_id"))] = record
        elif record.get("conversation_id") and role_of(record):
            pieces[str(record["conversation_id"])].append((path, record))
        else:
            source.faults.add(path, "is neither message piece nor score nor attack result of PyRIT")
    source.version = str(
        next((version for attack in attacks.values() if (version := _deep(attack, "pyrit_version"))), "")
    )
    # Judges and attackers talk to their models in separate conversations, which no attack result names.
    named = {key: pieces[key] for key in pieces if not attacks or key in attacks}
    if len(named) < len(pieces):
        source.notes.append(f"{len(pieces) - len(named)} conversations with other models than the target are left out")
    dialogues = (_pyrit_dialogue(source, key, shown, scores, attacks.get(key)) for key, shown in named.items())
    return [dialogue for dialogue in dialogues if dialogue.turns]


def _pyrit_dialogue(
    source: ResultSource,
    key: str,
    pieces: Sequence[tuple[JsonPath, Record]],
    scores: Mapping[str, Sequence[Record]],
    attack: Record | None,
) -> ToolDialogue:
    ordered = sorted((piece for _, piece in pieces), key=lambda piece: int(piece.get("sequence") or 0))
    turns, system = turns_of([{"role": piece["role"], "content": _pyrit_text(piece)} for piece in ordered])
    result, turn = [], 0
    for piece in ordered:
        turn += role_of(piece) == "user"
        result += [_pyrit_score(score, max(turn, 1)) for score in scores.get(str(piece.get("id")), ())]
    columns = {"system_prompt": system, "objective": text_of((attack or {}).get("objective"))}
    return ToolDialogue(
        key=key,
        application=_pyrit_target(attack),
        turns=turns,
        line=source.line(pieces[0][0]),
        columns={name: text for name, text in columns.items() if text},
        scores=(*result, *([_pyrit_outcome(attack)] if attack else [])),
    )


def _pyrit_text(piece: Record) -> str:
    kind = piece.get("converted_value_data_type", "text")
    value = text_of(piece.get("converted_value") or piece.get("original_value"))
    return value if kind in {"text", "error"} else f"[{kind}] {value}"


def _pyrit_target(attack: Record | None) -> str:
    target = _deep(attack, "objective_target")
    named = _deep(target, "model_name") or _deep(target, "class_name")
    return str(named or DEFAULT_APPLICATION)


def _deep(record: object, key: str) -> Any:
    """Return the first value of a key at any depth; None if there is none."""
    if isinstance(record, dict):
        if key in record:
            return record[key]
        record = list(record.values())
    entries = record if isinstance(record, list) else []
    return next((value for entry in entries if (value := _deep(entry, key)) is not None), None)


_PYRIT_OUTCOMES = {"failure": "the objective was not reached", "success": "the objective was reached"}


def _pyrit_outcome(attack: Record) -> ToolScore:
    """Return the outcome of an attack; an undecided attack is missing, never failed."""
    criterion = Criterion(
        guideline="attack-outcome",
        annotator="attack-outcome",
        labels=_PYRIT_OUTCOMES,
        defect="== success",
        ask="Did the attack reach its objective?",
    )
    outcome, reason = str(attack.get("outcome")), text_of(attack.get("outcome_reason"))
    if outcome in _PYRIT_OUTCOMES:
        return ToolScore(criterion=criterion, value=outcome, reason=reason)
    return ToolScore(criterion=criterion, value="", outcome=Outcome.MISSING, reason=reason)


def _pyrit_score(score: Record, turn: int) -> ToolScore:
    scorer = score.get("scorer_class_identifier")
    name = str((scorer.get("class_name") or scorer.get("__type__")) if isinstance(scorer, dict) else scorer or "scorer")
    category = score.get("score_category")
    category = " ".join(map(str, category)) if isinstance(category, list) else str(category or "")
    is_truth = score.get("score_type") == "true_false"
    criterion = Criterion(
        guideline=plain_name(category or name),
        annotator=plain_name(name),
        kind=AnnotatorKind.MODEL if "SelfAsk" in name or "LLM" in name else AnnotatorKind.RULE,
        labels={"False": "", "True": "the scorer found what it looks for"} if is_truth else {},
        defect="== True" if is_truth else "",
        ask=f"Does PyRIT's scorer {name} find what it looks for ({category})?" if is_truth else "",
        per_turn=True,
    )
    value, reason = str(score.get("score_value", "")).strip(), text_of(score.get("score_rationale"))
    if score.get("status", "complete") == "complete" and is_truth and value.lower() in {"true", "false"}:
        return ToolScore(criterion=criterion, value=value.capitalize(), turn=turn, reason=reason)
    try:
        number = None if is_truth or score.get("status", "complete") != "complete" else float(value)
    except ValueError:
        number = None
    return replace(number_score(criterion, number, reason), turn=turn)


# --- DeepEval: `test_run_*.json` of its results folder


def _deepeval(source: ResultSource) -> list[ToolDialogue]:
    dialogues = []
    for path, case in source.items("testCases"):
        if not isinstance(case.get("input"), str):
            source.faults.add(path, "has no `input`; expected a test case of DeepEval")
            continue
        context = text_of(case.get("retrievalContext") or case.get("context"))
        turn = RecordedTurn(prompt=case["input"], response=text_of(case.get("actualOutput")), context=context)
        dialogues.append(_deepeval_dialogue(case, (turn,), source.line(path)))
    for path, case in source.items("conversationalTestCases"):
        if problem := messages_fault(case.get("turns"), "turns"):
            source.faults.add(path, problem)
            continue
        dialogues.append(_deepeval_dialogue(case, turns_of(case["turns"])[0], source.line(path)))
    stated = first_of(source.records).get("testPassed")
    cases = [case for name in ("testCases", "conversationalTestCases") for _, case in source.items(name)]
    source.figures += _pass_rate("tests passed", stated, [case.get("success") is True for case in cases])
    return dialogues


def _deepeval_dialogue(case: Record, turns: tuple[RecordedTurn, ...], line: int) -> ToolDialogue:
    columns = {"expected": text_of(case.get("expectedOutput")), "scenario": text_of(case.get("scenario"))}
    scores: list[ToolScore] = []
    for metric in case.get("metricsData") or ():
        name, model = str(metric.get("name", "metric")), metric.get("evaluationModel")
        by = AnnotatorKind.MODEL if model else AnnotatorKind.RULE
        failed = metric.get("error")
        reason = failed or metric.get("reason")
        passed = None if failed else metric.get("success")
        scores.append(verdict(verdict_criterion(name, by), passed=passed, reason=reason))
        scores.append(number_score(score_criterion(name, by), None if failed else metric.get("score"), reason))
    return ToolDialogue(
        key=str(case.get("name")),
        application=DEFAULT_APPLICATION,
        turns=turns,
        line=line,
        columns={name: text for name, text in columns.items() if text},
        scores=tuple(scores),
    )


# --- Azure AI Evaluation: `evaluate(output_path=...)`


def _azure(source: ResultSource) -> list[ToolDialogue]:
    dialogues: list[ToolDialogue] = []
    is_lines = "rows" not in first_of(source.records)
    values: dict[str, dict[str, list[float]]] = defaultdict(dict)
    for path, row in source.items() if is_lines else source.items("rows"):
        key = f"row-{path[-1]}" if is_lines else f"row-{int(path[-1]) + 1}"
        dialogue = _azure_dialogue(source, path, row, key)
        if dialogue is not None:
            dialogues.append(dialogue)
        for name, value in row.items():
            if name.startswith("outputs.") and isinstance(value, int | float) and not isinstance(value, bool):
                values[name.removeprefix("outputs.")][key] = [float(value)]
    for name, stated in (first_of(source.records).get("metrics") or {}).items():
        if isinstance(stated, int | float) and values.get(name):
            source.figures += mean_figures({"mean": float(stated)}, values[name], name)
    return dialogues


def _azure_dialogue(source: ResultSource, path: JsonPath, row: Record, key: str) -> ToolDialogue | None:
    inputs = {name.removeprefix("inputs."): value for name, value in row.items() if not name.startswith("outputs.")}
    conversation = inputs.get("conversation")
    if isinstance(conversation, dict) and not messages_fault(conversation.get("messages")):
        turns, _ = turns_of(conversation["messages"])
    elif "query" in inputs or "response" in inputs:
        reply = inputs.get("response", row.get("outputs.response"))
        messages = [*_azure_messages("user", inputs.get("query")), *_azure_messages("assistant", reply)]
        turns, _ = turns_of(messages)
        turns = tuple(replace(turn, context=turn.context or text_of(inputs.get("context"))) for turn in turns)
    else:
        source.faults.add(path, "has neither `inputs.query` nor `inputs.conversation`; expected a row of evaluate()")
        return None
    return ToolDialogue(
        key=key,
        application=DEFAULT_APPLICATION,
        turns=turns,
        line=source.line(path),
        columns={"expected": text_of(inputs["ground_truth"])} if inputs.get("ground_truth") else {},
        scores=tuple(_azure_scores(row)),
    )


def _azure_messages(role: str, value: object) -> list[Record]:
    """Return a query or response as messages; for agents it contains lists of messages."""
    if isinstance(value, list) and not messages_fault(value):
        return value
    return [{"role": role, "content": text_of(value)}]


def _azure_scores(row: Record) -> Iterator[ToolScore]:
    outputs = {name.removeprefix("outputs."): value for name, value in row.items() if name.startswith("outputs.")}
    for name, value in outputs.items():
        evaluator, _, metric = name.partition(".")
        if f"{name}_result" not in outputs or not metric:
            continue
        by = AnnotatorKind.MODEL if outputs.get(f"{name}_reason") else AnnotatorKind.RULE
        reason, result = outputs.get(f"{name}_reason"), outputs[f"{name}_result"]
        skipped = outputs.get(f"{name}_status", "completed") != "completed"
        passed = None if skipped or result not in {PASS, FAIL} else result == PASS
        yield verdict(verdict_criterion(evaluator, by), passed=passed, reason=reason)
        yield number_score(score_criterion(evaluator, by), None if skipped else value, reason)


# --- chats: OpenAI messages, ShareGPT conversations, and our own export


def _chat(source: ResultSource) -> list[ToolDialogue]:
    dialogues = []
    for number, (path, record) in enumerate(source.items(), start=1):
        key = "messages" if "messages" in record else "conversations" if "conversations" in record else "conversation"
        if problem := messages_fault(record.get(key), key):
            source.faults.add(path, problem)
            continue
        turns, system = turns_of(record[key])
        metadata = record.get("metadata")
        about: Record = metadata if isinstance(metadata, dict) else {}
        names = [about.get("dialogue"), record.get("id"), record.get("conversation_id"), f"chat-{number}"]
        columns = {"system_prompt": system} | _groups(about)
        dialogues.append(
            ToolDialogue(
                key=str(next(name for name in names if name not in {None, ""})),
                application=str(about.get("application") or record.get("model") or DEFAULT_APPLICATION),
                turns=turns,
                line=source.line(path),
                columns={name: text for name, text in columns.items() if text},
                scores=tuple(_chat_labels(source, path, about)),
            )
        )
    return dialogues


def _groups(about: Record) -> dict[str, str]:
    """Return the scalar values of metadata as columns."""
    groups = about.get("groups")
    named = {**about, **(groups if isinstance(groups, dict) else {})}
    skipped = {"labels", "groups", "dialogue", "application"}
    return {
        str(name): str(value)
        for name, value in named.items()
        if name not in skipped and isinstance(value, str | int | float)
    }


def _chat_labels(source: ResultSource, path: JsonPath, about: Record) -> Iterator[ToolScore]:
    for number, label in enumerate(about.get("labels") or ()):
        if not isinstance(label, dict) or not label.get("question"):
            source.faults.add((*path, "metadata", "labels", number), "is not a label; expected `judge` and `question`")
            continue
        guideline, judge = str(label.get("guideline") or label["question"]), str(label.get("judge") or "annotator")
        criterion = Criterion(
            guideline=guideline,
            question=str(label["question"]),
            annotator=judge,
            kind=kind_of(label.get("judge_kind")),
            per_turn=label.get("turn") is not None,
        )
        outcome = outcome_of(label.get("outcome"), has_value=label.get("label") is not None)
        yield ToolScore(
            criterion=criterion,
            value=str(label["label"]) if outcome is Outcome.ANSWERED else "",
            turn=label.get("turn"),
            outcome=outcome,
            defect=label.get("defect"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFormat:
    """A format of results.

    Attributes:
        name: Name of the tool and file.
        fits: Returns whether records have this format.
        read: Reads them.
    """

    name: str
    fits: Callable[[Sequence[Any]], bool]
    read: Reader


def _has(*keys: str) -> Callable[[Sequence[Any]], bool]:
    return lambda records: all(key in first_of(records) for key in keys)


def _is_promptfoo(records: Sequence[Any]) -> bool:
    results = first_of(records).get("results")
    return isinstance(results, dict) and isinstance(results.get("results"), list)


def _is_azure(records: Sequence[Any]) -> bool:
    first = first_of(records)
    rows = first.get("rows")
    row = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else first
    return any(name.startswith(("inputs.", "outputs.")) for name in row)


def _is_pyrit(records: Sequence[Any]) -> bool:
    first = first_of(records)
    return any({"conversation_id", key} <= set(first) for key in ("role", "attack_result_id")) or (
        "score_value" in first and "scorer_class_identifier" in first
    )


def _is_chat(records: Sequence[Any]) -> bool:
    return any(isinstance(first_of(records).get(key), list) for key in ("messages", "conversations", "conversation"))


def _is_otel(records: Sequence[Any]) -> bool:
    first = first_of(records)
    return bool({"resourceSpans", "resourceLogs"} & set(first)) or (
        "trace_id" in (first.get("context") or {}) and "attributes" in first
    )


def _is_langfuse(records: Sequence[Any]) -> bool:
    first = first_of(records)
    data = first.get("data")
    row = data[0] if isinstance(data, list) and data and isinstance(data[0], dict) else first.get("trace", first)
    keys = set(row) if isinstance(row, dict) else set()
    is_trace = {"id", "input", "output"} <= keys and bool({"sessionId", "session_id", "scores", "observations"} & keys)
    has_trace = bool({"traceId", "trace_id"} & keys)
    return is_trace or (
        has_trace and bool({"parentObservationId", "parent_observation_id", "dataType", "data_type"} & keys)
    )


FORMATS: tuple[ResultFormat, ...] = (
    ResultFormat(name="promptfoo", fits=_is_promptfoo, read=_promptfoo),
    ResultFormat(name="garak", fits=_has("entry_type"), read=_garak),
    ResultFormat(name="PyRIT", fits=_is_pyrit, read=_pyrit),
    ResultFormat(name="DeepEval", fits=_has("testCases"), read=_deepeval),
    ResultFormat(name="Azure AI Evaluation", fits=_is_azure, read=_azure),
    ResultFormat(
        name="LangSmith",
        fits=lambda records: _has("run_type")(records) or _has("runs")(records),
        read=langsmith_dialogues,
    ),
    ResultFormat(name="OpenTelemetry", fits=_is_otel, read=opentelemetry_dialogues),
    ResultFormat(name="Langfuse", fits=_is_langfuse, read=langfuse_dialogues),
    ResultFormat(name="chat messages", fits=_is_chat, read=_chat),
)
"""Known formats, the most specific first."""
