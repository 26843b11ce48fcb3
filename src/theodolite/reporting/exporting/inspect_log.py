"""Inspect logs: a run as `.eval` files, one for each application, written without Inspect.

An `.eval` file is a zip archive of JSON. Version 2 of its layout is written here: Inspect reads
old versions of it, while the layout that it writes itself may change
(https://inspect.aisi.org.uk/eval-logs.html).
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import IO, Any, Final

from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.dialogue import Dialogue, TesterType, Turn
from theodolite.domain.estimate import Findings, Measurement
from theodolite.domain.estimate_subject import Measure
from theodolite.domain.evidence import Evidence
from theodolite.domain.findings.number import Estimate
from theodolite.domain.flow import Speaker
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import digest
from theodolite.domain.plan import Setting
from theodolite.domain.run import Failure, RunState
from theodolite.domain.status import Call
from theodolite.reporting.exporting.dialogue_rows import RecordChunk, is_defect, record_chunks, score_of
from theodolite.reporting.queries.cases import pseudonyms

_VERSION: Final = 2
_ANY_DAY: Final = (1980, 1, 1, 0, 0, 0)
_LONGEST_NAME: Final = 60
_ROLES: Mapping[Speaker, str] = {Speaker.SYSTEM: "system", Speaker.USER: "user", Speaker.ASSISTANT: "assistant"}


@dataclass(slots=True)
class _Usage:
    """Tokens by model."""

    tokens: dict[str, list[int]] = field(default_factory=dict)

    def add(self, model: str, call: Call) -> None:
        """Count a call."""
        sums = self.tokens.setdefault(model, [0, 0])
        sums[0] += call.reply.tokens_in
        sums[1] += call.reply.tokens_out

    def as_json(self) -> dict[str, Any]:
        """Return input, output and total tokens by model."""
        return {
            model: {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
            for model, (read, written) in self.tokens.items()
            if read or written
        }


def inspect_log_name(evidence: Evidence, application: str) -> str:
    """Return the file name of an application's log, in the form that Inspect sorts and shows."""
    started = evidence.run.started.strftime("%Y-%m-%dT%H-%M-%S+00-00")
    task = re.sub(r"[^A-Za-z0-9]+", "-", f"{evidence.study.name}-{application}").strip("-")[:_LONGEST_NAME]
    return f"{started}_{task}_{digest(evidence.run.key, application)[:22]}.eval"


def write_inspect_log(
    file: IO[bytes], evidence: Evidence, findings: Findings, application: str, *, include_text: bool = False
) -> int:
    """Write the log of one application, sample by sample, and return the number of samples; count.

    A dialogue is a sample: its texts are messages, each annotator's answers to a question are a score,
    and model calls are events within a span for each turn and judge. A session that failed is a sample
    with an error. Defect rates with their intervals are the results. Records have no times of
    their own, so events start at the start of the run plus the latencies before them.

    Args:
        file: The file, open for writing.
        evidence: All records of one run.
        findings: Its measurements.
        application: Name of the application.
        include_text: Whether texts of sessions with people are included.
    """
    writer = _LogWriter(evidence, application, include_text=include_text)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _store(archive, "_journal/start.json", {"version": _VERSION, "eval": writer.spec(), "plan": writer.plan()})
        for sample in writer.samples():
            _store(archive, f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        _store(archive, "summaries.json", writer.summaries)
        _store(archive, "header.json", writer.header(findings))
    return len(writer.summaries)


def _store(archive: zipfile.ZipFile, name: str, content: object) -> None:
    text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    archive.writestr(zipfile.ZipInfo(name, _ANY_DAY), text, zipfile.ZIP_DEFLATED)


class _LogWriter:
    """Makes the parts of one application's log."""

    def __init__(self, evidence: Evidence, application: str, *, include_text: bool) -> None:
        self.summaries: list[dict[str, Any]] = []
        self._evidence, self._application, self._include_text = evidence, application, include_text
        self._people = pseudonyms(evidence)
        self._guidelines = {guideline.name: guideline for guideline in evidence.study.guidelines}
        self._kinds = {annotator.name: annotator.kind.value for annotator in evidence.study.annotators}
        self._positions = [
            position
            for position in range(len(evidence.sessions))
            if evidence.sessions.setting(position).application == application
        ]
        self._usage = _Usage()
        self._model = f"theodolite/{application}"

    def spec(self) -> dict[str, Any]:
        """Return the evaluated application."""
        run, study = self._evidence.run, self._evidence.study
        return {
            "eval_id": digest(run.key, self._application)[:22],
            "run_id": run.key,
            "created": _time(run.started),
            "task": study.name,
            "task_id": digest(study.name, self._application)[:22],
            "task_version": 0,
            "dataset": {
                "name": study.name,
                "samples": len(self._positions),
                "sample_ids": [self._evidence.sessions.label(position) for position in self._positions],
                "shuffled": False,
            },
            "model": self._model,
            "model_args": {"version": study.application_version(self._application)},
            "config": {"epochs": 1},
            "tags": ["theodolite"],
            "metadata": {"study": study.name, "run": run.number, "study_version": run.study_version},
        }

    def plan(self) -> dict[str, Any]:
        """Return the origin of the dialogues."""
        testers = {self._evidence.sessions.setting(position).held_by.value for position in self._positions}
        return {"name": "theodolite", "steps": [{"solver": name.replace(" ", "_")} for name in sorted(testers)]}

    def header(self, findings: Findings) -> dict[str, Any]:
        """Return the log without its samples; call it after `samples`."""
        run = self._evidence.run
        rates = [
            measurement
            for measurement in findings.measurements
            if measurement.measure is Measure.DEFECT_RATE
            and measurement.application == self._application
            and measurement.subject.group is None
        ]
        completed = sum(bool(summary["completed"]) for summary in self.summaries)
        return {
            "version": _VERSION,
            "status": "success" if run.state is RunState.FINISHED else "cancelled",
            "eval": self.spec(),
            "plan": self.plan(),
            "results": {
                "total_samples": len(self._positions),
                "completed_samples": completed,
                "scores": [self._rate(rate) for rate in rates],
            },
            "stats": {
                "started_at": _time(run.started),
                "completed_at": _time(run.finished or run.started),
                "model_usage": self._usage.as_json(),
            },
        }

    def _rate(self, rate: Measurement) -> dict[str, Any]:
        names = " and ".join(self._people.get(name, name) for name in rate.subject.annotators)
        counts = {
            name: getattr(rate.outcomes, name) for name in ("planned", "used", "missing", "failed", "unparseable")
        }
        metrics = {}
        if isinstance(rate.result, Estimate):
            more = {"low": rate.result.low, "high": rate.result.high, "n": rate.result.n, "method": rate.result.method}
            metrics["defect_rate"] = {"name": "defect_rate", "value": rate.result.value, "metadata": more | counts}
        else:
            counts |= {"undefined_reason": rate.result.reason}
        name = f"{rate.subject.guideline}.{rate.subject.rule}"
        params = {"guideline": rate.subject.guideline, "rule": rate.subject.rule, "annotators": names}
        return {"name": f"{name} ({names})", "scorer": name, "params": params, "metrics": metrics, "metadata": counts}

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the samples in order of the plan; sessions that were not run have none."""
        mine = set(self._positions)
        for chunk in record_chunks(self._evidence):
            for position in chunk.positions:
                sample = self._sample(chunk, position) if position in mine else None
                if sample is not None:
                    self.summaries.append(_summary(sample))
                    yield sample

    def _sample(self, chunk: RecordChunk, position: int) -> dict[str, Any] | None:
        session, setting = self._evidence.sessions[position], self._evidence.sessions.setting(position)
        dialogue = chunk.dialogues.get(session.label)
        failures = chunk.failures.get(session.label, [])
        failed = next((failure for failure in failures if not failure.annotator), None)
        if dialogue is None and failed is None:
            return None
        sample = self._empty_sample(session.label, session.repeat, setting)
        if dialogue is None:
            return sample | {"error": _error(failed)} if failed else None
        hidden = dialogue.held_by is TesterType.PERSON and not self._include_text
        messages = [] if hidden else list(_messages(dialogue, self._model))
        answers = [message for message in messages if message["role"] == "assistant"]
        stop = [{"message": answers[-1], "stop_reason": "stop"}] if answers else []
        events, usage = self._events(chunk, dialogue, hidden=hidden)
        return sample | {
            "input": messages[0]["content"] if messages else f"[{_hidden_words(dialogue, hidden=hidden)}]",
            "messages": messages,
            "output": {"model": self._model, "choices": stop},
            "scores": self._scores(chunk, dialogue, failures),
            "metadata": sample["metadata"] | {"ending": dialogue.ending.value, "turns": len(dialogue.turns)},
            "events": events,
            "model_usage": usage.as_json(),
        }

    def _empty_sample(self, label: str, repeat: int, setting: Setting) -> dict[str, Any]:
        return {
            "id": label,
            "epoch": 1,
            "input": "",
            "target": "",
            "messages": [],
            "output": {"model": self._model, "choices": []},
            "scores": {},
            "metadata": {
                "scenario": setting.scenario,
                "level": setting.level.value,
                "tester_type": setting.held_by.value,
                "repeat": repeat,
                **{f"group_{name}": value for name, value in setting.groups.items()},
            },
            "store": {},
            "events": [],
            "model_usage": {},
            "attachments": {},
        }

    def _scores(self, chunk: RecordChunk, dialogue: Dialogue, failures: Sequence[Failure]) -> dict[str, Any]:
        scores: dict[str, Any] = {}
        for annotation in chunk.annotations.get(dialogue.key, []):
            guideline = self._guidelines.get(annotation.guideline)
            by_question: dict[str, list[Answer]] = {}
            for answer in annotation.answers:
                by_question.setdefault(answer.question, []).append(answer)
            judge = self._people.get(annotation.annotator, annotation.annotator)
            for question, answers in by_question.items():
                name = f"{annotation.guideline}.{question} ({judge})"
                scores[name] = self._score(annotation, answers, guideline, dialogue)
        for final in chunk.finals.get(dialogue.key, []):
            answer = Answer(question=final.question, outcome=final.outcome, value=final.value)
            scores[f"{final.guideline}.{final.question} (reference)"] = {
                "value": _value(answer, self._guidelines.get(final.guideline)),
                "explanation": final.rationale or None,
                "metadata": {"annotator": "reference", "annotator_kind": "final label", "outcome": final.outcome.value},
            }
        for failure in failures:
            if failure.annotator:
                judge = self._people.get(failure.annotator, failure.annotator)
                more = {"annotator": judge, "outcome": Outcome.FAILED.value, "failure": failure.kind.value}
                scores[f"failed ({judge})"] = {
                    "value": Outcome.FAILED.value,
                    "explanation": failure.message,
                    "metadata": more,
                }
        return scores

    def _score(
        self, annotation: Annotation, answers: Sequence[Answer], guideline: Guideline | None, dialogue: Dialogue
    ) -> dict[str, Any]:
        first = answers[0]
        is_whole = first.turn is None
        values = {str(answer.turn): _value(answer, guideline) for answer in answers}
        more: dict[str, Any] = {
            "annotator": self._people.get(annotation.annotator, annotation.annotator),
            "annotator_kind": self._kinds.get(annotation.annotator, ""),
            "outcome": first.outcome.value if is_whole else {str(one.turn): one.outcome.value for one in answers},
            "defect": is_defect(first, guideline, dialogue)
            if is_whole
            else {str(one.turn): is_defect(one, guideline, dialogue) for one in answers},
        }
        quotes = [{"turn": quote.turn, "text": quote.text} for answer in answers for quote in answer.evidence]
        hidden = dialogue.held_by is TesterType.PERSON and not self._include_text
        if quotes and not hidden:
            more["quotes"] = quotes
        reasons = [answer.reasoning for answer in answers if answer.reasoning]
        return {
            "value": values["None"] if is_whole else values,
            "answer": first.value if is_whole else None,
            "explanation": None if hidden else "\n".join(reasons) or None,
            "metadata": more,
        }

    def _events(self, chunk: RecordChunk, dialogue: Dialogue, *, hidden: bool) -> tuple[list[dict[str, Any]], _Usage]:
        clock, usage = _Clock(self._evidence.run.started), _Usage()
        events: list[dict[str, Any]] = []
        if hidden:
            return events, usage
        calls = chunk.calls.get(dialogue.key, ())
        messages = list(_messages(dialogue, self._model))
        for turn in dialogue.turns:
            span, history = digest(dialogue.key, str(turn.number))[:22], messages[: 2 * turn.number - 1]
            inside = list(self._turn_events(turn, calls, clock, usage, span, history))
            events += _span(span, f"turn {turn.number}", "turn", inside, clock) if inside else []
        for annotation in chunk.annotations.get(dialogue.key, []):
            span, judge = digest(annotation.unit, "judge")[:22], annotation.annotator
            inside = []
            for call in chunk.calls.get(annotation.unit, ()):
                model = call.reply.answered_as or judge
                inside.append(_model_event(call, model, "grader", span, clock))
                usage.add(model, call)
            if inside:
                events += _span(span, judge, "scorer", inside, clock)
        for model, (read, written) in usage.tokens.items():
            sums = self._usage.tokens.setdefault(model, [0, 0])
            sums[0] += read
            sums[1] += written
        return events, usage

    def _turn_events(
        self,
        turn: Turn,
        calls: Sequence[Call],
        clock: _Clock,
        usage: _Usage,
        span: str,
        history: Sequence[Mapping[str, Any]],
    ) -> Iterator[dict[str, Any]]:
        for position, role in ((turn.prompt_at, "user"), (turn.response_at, "application")):
            call = calls[position] if position is not None and position < len(calls) else None
            if call is None or call.reply.withheld or call.reply.recorded:
                continue
            model = call.reply.answered_as or (self._model if role == "application" else "theodolite/simulated-user")
            usage.add(model, call)
            event = _model_event(call, model, role, span, clock)
            if role == "application" and not event["input"]:
                event["input"] = [{"role": one["role"], "content": one["content"]} for one in history]
            yield event


@dataclass(slots=True)
class _Clock:
    """The time of the next event: the start of the run plus the latencies so far."""

    start: datetime
    passed_s: float = 0.0

    def times(self) -> dict[str, Any]:
        """Return the date fields of an event."""
        return {"timestamp": _time(self.start + timedelta(seconds=self.passed_s)), "working_start": self.passed_s}


def _span(name: str, title: str, kind: str, inside: Sequence[dict[str, Any]], clock: _Clock) -> list[dict[str, Any]]:
    start = {key: inside[0][key] for key in ("timestamp", "working_start")}
    begin = {"event": "span_begin", "id": name, "span_id": name, "name": title, "type": kind, "pending": None, **start}
    return [begin, *inside, {"event": "span_end", "id": name, "span_id": name, **clock.times()}]


def _model_event(call: Call, model: str, role: str, span: str, clock: _Clock) -> dict[str, Any]:
    times = clock.times()
    clock.passed_s += call.reply.latency_s
    reply = call.reply
    usage = {
        "input_tokens": reply.tokens_in,
        "output_tokens": reply.tokens_out,
        "total_tokens": reply.tokens_in + reply.tokens_out,
    }
    return {
        "event": "model",
        "span_id": span,
        "model": model,
        "role": role,
        "input": [{"role": _ROLES[message.speaker], "content": message.text} for message in call.prompt or ()],
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": {
            "model": model,
            "choices": [
                {"message": {"role": "assistant", "content": reply.text, "source": "generate"}, "stop_reason": "stop"}
            ],
            "usage": usage,
            "time": reply.latency_s,
        },
        "working_time": reply.latency_s,
        **times,
    }


def _messages(dialogue: Dialogue, model: str) -> Iterator[dict[str, Any]]:
    for turn in dialogue.turns:
        hidden = f"[{turn.withheld}]" if turn.withheld else ""
        source = "generate" if dialogue.held_by is TesterType.SIMULATED_USER else "input"
        yield {"role": "user", "content": hidden or turn.prompt, "source": source}
        yield {"role": "assistant", "content": hidden or turn.response, "source": "generate", "model": model}


def _hidden_words(dialogue: Dialogue, *, hidden: bool) -> str:
    return "session of a person; exported with --include-text" if hidden else dialogue.withheld or "no turns"


def _value(answer: Answer, guideline: Guideline | None) -> float | str:
    """Return a label as Inspect's scores have it: a number on numeric scales, else the text; else its outcome."""
    if answer.value is None:
        return answer.outcome.value
    number = score_of(answer, guideline)
    return answer.value if number is None else number


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    shown = {key: sample[key] for key in ("id", "epoch", "input", "target", "metadata", "scores", "model_usage")}
    error = sample.get("error")
    shown |= {"completed": error is None, "message_count": len(sample["messages"])}
    return shown | ({"error": error["message"]} if error else {})


def _error(failure: Failure) -> dict[str, str]:
    message = f"{failure.party.value}: {failure.kind.value}. {failure.message}"
    return {"message": message, "traceback": message, "traceback_ansi": message}


def _time(when: datetime) -> str:
    return when.isoformat()
