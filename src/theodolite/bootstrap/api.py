"""The Python interface: `run`, its async twin, and the result of a run, over the same use cases as the command."""

from __future__ import annotations

import asyncio
import json
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theodolite.bootstrap.comparing import differences_from
from theodolite.bootstrap.permission import code_request, key_request
from theodolite.bootstrap.python_study import HOME, Cases, Function, JudgeOption, PythonStudy
from theodolite.bootstrap.reports import WrittenFiles, dialogue_screen, write_reports
from theodolite.bootstrap.running import RunResult, run_study, slots_for
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.config.permissions import require_privacy_review
from theodolite.domain.annotation import Annotation
from theodolite.domain.comparison import Comparison
from theodolite.domain.dialogue import Dialogue
from theodolite.domain.errors import InputError, RunStopped, did_you_mean
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.gate import GateResult, GateState, worst_of
from theodolite.domain.plan import held_by_runs, selection_of
from theodolite.domain.run import Failure, Spending
from theodolite.execution.clients import Clients
from theodolite.measurement.sample_size import compare_sides
from theodolite.ports.progress import Progress
from theodolite.reporting.comparing.document import sides_of
from theodolite.reporting.comparing.text import comparison_text
from theodolite.reporting.exporting.dialogue_rows import dialogue_columns, dialogue_rows
from theodolite.reporting.exporting.figures import figures_of
from theodolite.reporting.queries.cases import cases_of, rules_of
from theodolite.reporting.queries.dispositions import accounts_of
from theodolite.reporting.queries.gates import gate_facts, gate_results, rate_text, subject_text
from theodolite.reporting.queries.rates import Rate, interval_words, lead_rates, rates_of
from theodolite.reporting.words import figures
from theodolite.reporting.words.descriptions import heading_of
from theodolite.reporting.words.estimates import rate_text as words_of_rate
from theodolite.usecases.running import RunOptions, RunStatus, check_endpoints

if TYPE_CHECKING:
    from pandas import DataFrame


class Silent:
    """Observes a run without output."""

    def begin(self, *, sessions: int, annotations: int, done: int, annotated: int) -> None:
        """Ignore the event."""

    def session(self, result: Dialogue | Failure) -> None:
        """Ignore the event."""

    def annotation(self, result: Annotation | Failure) -> None:
        """Ignore the event."""

    def over(self, *, sessions: int, annotations: int) -> None:
        """Ignore the event."""

    def spent(self, total: Spending) -> None:
        """Ignore the event."""

    def end(self) -> None:
        """Ignore the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """The arguments of one call of `run`."""

    study: str | Mapping[str, Any]
    applications: Mapping[str, Function] = field(default_factory=dict)
    cases: Cases | None = None
    judges: Mapping[str, JudgeOption | Function] = field(default_factory=dict)
    options: RunOptions
    out: str | None = None
    allow_code: bool = False
    only: Sequence[str] = ()
    allow_keys: bool = False
    progress: Progress | None = None

    def open(self) -> StudyContext:
        """Write the study if it was given as a dict, open it and store permissions.

        Raises:
            InputError: If the parts of the study cannot be used.
        """
        if isinstance(self.study, Mapping):
            return self._open_written(self.study)
        if self.applications or self.judges or self.cases is not None:
            message = (
                f"`applications`, `cases` and `judges` belong to a study that is given as a dict; `{self.study}` is a"
                " path. Write them into its file, or pass the study as a dict"
            )
            raise InputError(message)
        context = open_study(self.study)
        if self.allow_code and (request := code_request(context.loaded)) is not None:
            request.remember()
        if self.allow_keys and (keys := key_request(context.loaded, context.environ)) is not None:
            keys.remember()
        return context

    def _open_written(self, content: Mapping[str, Any]) -> StudyContext:
        name = content.get("study")
        if not isinstance(name, str) or not name.strip() or "/" in name or name.startswith("."):
            message = f'the study needs a name: `{{"study": "smoke", ...}}`; got {name!r}'
            raise InputError(message)
        written = PythonStudy(content=content, applications=self.applications, cases=self.cases, judges=self.judges)
        folder = Path(HOME) / name
        written.write(folder)
        return replace(open_study(str(folder)), passed=written.passed)

    async def hold(self, context: StudyContext) -> RunResult:
        """Run the study until its plan is complete or a stop condition holds."""
        part = selection_of(self.only, held_by_runs(context.sessions), context.loaded.study.personas)
        options = replace(self.options, concurrency=slots_for(context), selection=part)
        return await run_study(context, options, progress=self.progress or Silent(), before_asking=_check_endpoint)

    def result(self, context: StudyContext, result: RunResult) -> StudyRun:
        """Measure the run and write its report."""
        evidence = context.evidence()
        findings = context.findings(evidence)
        written = write_reports(context, evidence, findings, out=self.out)
        return StudyRun(status=result.status, evidence=evidence, findings=findings, written=written, context=context)


def run(
    study: str | Mapping[str, Any],
    *,
    applications: Mapping[str, Function] | None = None,
    cases: Cases | None = None,
    judges: Mapping[str, JudgeOption | Function] | None = None,
    limit: int | None = None,
    only: Sequence[str] = (),
    new_run: bool = False,
    retry_failed: bool = False,
    cache: bool = False,
    out: str | None = None,
    allow_code: bool = False,
    allow_keys: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Test, score, measure and report a study; a later call resumes it.

    It works in a notebook as well: the event loop runs in its own thread.
    A study given as a dict is written to `theodolite-studies/NAME`, an
    ordinary study folder; its functions run in this process. Functions that are
    not async run on threads, several at a time.

    Args:
        study: A folder with a study file, or the file; or the content of a study file as a dict.
        applications: With a dict: functions from prompt to reply, sync or async, by name.
        cases: With a dict: test cases, a DataFrame or a list of dicts with `prompt`, and optionally `id`,
            `expected` and further columns, by which results are grouped.
        judges: With a dict: judges by name, made by `rule` and `judge`.
        limit: Run only the first dialogues of the plan; count, None for all.
        only: Run only these dialogues, e.g. `["application=v2"]`, as the option `--only`.
        new_run: Start a new run of the same plan; every call is made again.
        retry_failed: Retry failed dialogues and annotations.
        cache: Answer repeated requests to models from the cache, but never those to applications.
        out: Folder for report.html and results.json; default: the study folder.
        allow_code: Allow the code that a study file names, in its current version; stored in the workspace.
        allow_keys: Send the keys that a study file names to the hosts that it names; stored in the workspace.
        progress: Receives progress reports; None for no receiver.

    Raises:
        StudyError: If the study has errors; lists all of them, as `theodolite check` does.
        InputError: If the study runs code, or sends keys, that were not allowed.
        RunStopped: If an endpoint cannot be used.
        StoreError: If the database fails; acknowledged data are stored.
    """
    call = _Call(
        study=study,
        applications=applications or {},
        cases=cases,
        judges=judges or {},
        only=only,
        options=RunOptions(limit=limit, new_run=new_run, retry_failed=retry_failed, cache=cache),
        out=out,
        allow_code=allow_code,
        allow_keys=allow_keys,
        progress=progress,
    )
    context = call.open()
    try:
        with ThreadPoolExecutor(max_workers=1) as room:
            result = room.submit(asyncio.run, call.hold(context)).result()
        return call.result(context, result)
    finally:
        context.close()


async def run_async(
    study: str | Mapping[str, Any],
    *,
    applications: Mapping[str, Function] | None = None,
    cases: Cases | None = None,
    judges: Mapping[str, JudgeOption | Function] | None = None,
    limit: int | None = None,
    only: Sequence[str] = (),
    new_run: bool = False,
    retry_failed: bool = False,
    cache: bool = False,
    out: str | None = None,
    allow_code: bool = False,
    allow_keys: bool = False,
    progress: Progress | None = None,
) -> StudyRun:
    """Run like `run`, but in the caller's event loop, e.g. for functions that belong to it; same arguments."""
    call = _Call(
        study=study,
        applications=applications or {},
        cases=cases,
        judges=judges or {},
        only=only,
        options=RunOptions(limit=limit, new_run=new_run, retry_failed=retry_failed, cache=cache),
        out=out,
        allow_code=allow_code,
        allow_keys=allow_keys,
        progress=progress,
    )
    # The database refuses threads that run an event loop, so all access to it runs in another thread.
    context = await asyncio.to_thread(call.open)
    try:
        result = await call.hold(context)
        return await asyncio.to_thread(call.result, context, result)
    finally:
        await asyncio.to_thread(context.close)


async def _check_endpoint(context: StudyContext, clients: Clients, options: RunOptions) -> None:
    checks = await check_endpoints(context.endpoints(clients, options.kinds, options.selection))
    dead = [f"{context.users_of(check.name)} cannot be used: {check.answer}" for check in checks if not check.alive]
    if dead:
        raise RunStopped("; ".join(dead))


_WIDTH = 100
"""Width of a dialogue as text; characters."""


@dataclass(frozen=True, slots=True, repr=False)
class DialogueSet:
    """Some dialogues of a run.

    Attributes:
        labels: Their names, as on the screens.
        evidence: All records of the run.
    """

    labels: tuple[str, ...]
    evidence: Evidence

    def to_frame(self) -> DataFrame:
        """Return one row per dialogue, turn and label, as `theodolite export` writes them."""
        selected = set(self.labels)
        return _frame(self.evidence, (row for row in dialogue_rows(self.evidence) if row["dialogue"] in selected))

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"{figures.number_of(len(self.labels), 'dialogue')}: {', '.join(self.labels[:6])}"


@dataclass(frozen=True, slots=True, repr=False)
class RunComparison:
    """Paired comparison of two applications of one run.

    Attributes:
        comparison: All paired rates.
        evidence: All records of the run.
    """

    comparison: Comparison
    evidence: Evidence

    @property
    def fixed(self) -> DialogueSet:
        """Dialogues of both sides where the first has a defect and the second does not."""
        return self._flips(is_fixed=True)

    @property
    def regressed(self) -> DialogueSet:
        """Dialogues of both sides where the second has a defect and the first does not."""
        return self._flips(is_fixed=False)

    def _flips(self, *, is_fixed: bool) -> DialogueSet:
        flips = [flip for rate in self.comparison.rates for flip in rate.flips if flip.is_fixed is is_fixed]
        labels = dict.fromkeys(label for flip in flips for label in (flip.first, flip.second))
        return DialogueSet(tuple(labels), self.evidence)

    def __repr__(self) -> str:
        return comparison_text((self.comparison,))


@dataclass(frozen=True, slots=True)
class GatesOfRun:
    """The gates of a study on the rates of a run."""

    results: tuple[GateResult, ...]

    @property
    def met(self) -> bool:
        """Whether every gate is met; an inconclusive gate is not met. True without gates."""
        return not self.results or worst_of(self.results) is GateState.MET

    def __repr__(self) -> str:
        lines = [
            f"{result.gate.name}  {subject_text(result)}  {rate_text(result)}  {result.state.value}"
            for result in self.results
        ]
        return "\n".join(lines) or "no gates"


@dataclass(frozen=True, slots=True)
class DialogueText:
    """One dialogue with its labels, reasons, quotes and the calls of its judges, as `theodolite show` prints it."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StudyRun:
    """The result of running a study.

    Attributes:
        status: Status of the run; `status.stopped` states why it is not finished, if it is not.
        evidence: All records of the run.
        findings: All numbers of the run.
        written: Paths of report and results.
        context: The study with its folder and database.
    """

    status: RunStatus
    evidence: Evidence
    findings: Findings
    written: WrittenFiles
    context: StudyContext

    def to_frame(self, *, include_text: bool = False) -> DataFrame:
        """Return one row per dialogue, turn and label, with the columns of `theodolite export`.

        Args:
            include_text: Whether texts of sessions with people are included; needs a finished privacy review.

        Raises:
            InputError: If pandas is not installed, or the review is missing.
        """
        if include_text and any(dialogue.held_by.value == "person" for dialogue in self.evidence.archive.dialogues()):
            require_privacy_review(self.context.loaded.folder, self.evidence.run.number)
        return _frame(self.evidence, dialogue_rows(self.evidence, include_text=include_text))

    def compare(self, first: str, second: str) -> RunComparison:
        """Return two applications of this run, pair by pair.

        Raises:
            InputError: If the run has no application of that name.
        """
        text = Path(self.written.results).read_text(encoding="utf-8")
        sides = {side.application: side for side in sides_of(json.loads(text), self.written.results)}
        for name in (first, second):
            if name not in sides:
                near = did_you_mean(name, sides) or f"; it has {', '.join(sides)}"
                message = f"the run has no application `{name}`{near}"
                raise InputError(message)
        return RunComparison(compare_sides(sides[first], sides[second]), self.evidence)

    def dialogue(self, label: str) -> DialogueText:
        """Return one dialogue with all annotations of it, e.g. `v2/c014`.

        Raises:
            InputError: If the run has no dialogue of that name.
        """
        return DialogueText(dialogue_screen(self.context, label, width=_WIDTH, raw=True))

    @property
    def gates(self) -> GatesOfRun:
        """The gates of the study on the rates of this run."""
        facts = gate_facts(self.evidence, self.context.clock.now())
        return GatesOfRun(gate_results(self.evidence.study, self.findings, facts))

    def gates_against(self, baseline: str) -> GatesOfRun:
        """Return the gates of the study, with `worse_by` compared with a baseline.

        Args:
            baseline: A run (`STUDY@1`, `@1`), a results file or an application of the study; empty for none.
        """
        differences = differences_from(baseline, self.context, self.evidence, self.findings) if baseline else {}
        facts = replace(gate_facts(self.evidence, self.context.clock.now()), differences=differences)
        return GatesOfRun(gate_results(self.evidence.study, self.findings, facts))

    def view(self) -> str:
        """Open the report in a browser and return its path."""
        path = Path(self.written.report).resolve()
        webbrowser.open(path.as_uri())
        return str(path)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> tuple[str, str, str, str, str]:
        """Return the five lines of the text form."""
        study, run = self.evidence.study, self.evidence.run
        state = "" if not self.status.stopped else f"  stopped: {self.status.stopped}"
        completed = (
            f"{figures.count(self.evidence.answers.n_completed)} of {figures.count(len(self.evidence.sessions))}"
        )
        gates = self.gates.results
        worst = f"{figures.number_of(len(gates), 'gate')}: {worst_of(gates).value}" if gates else "no gates"
        return (
            f"{study.name}  run {run.number}  {run.state.value}{state}",
            f"Rates         {self._rates_text()}",
            f"Completeness  {completed} dialogues; {self._labelled_text()}",
            f"Gates         {worst}",
            f"Report        {self.written.report}",
        )

    def _rates_text(self) -> str:
        rates = rates_of(self.findings, self.evidence.study)
        lead = [
            rate
            for guideline, one in rules_of(self.evidence.study)
            for rate in lead_rates(rates, guideline.name, one.name)
        ]
        shown = [f"{rate.measurement.application} {rate.annotator} {_rate_words(rate)}" for rate in lead[:2]]
        more = f"; {len(lead) - 2} more in to_frame() and the report" if len(lead) > 2 else ""
        return ("; ".join(shown) or "none: no label and no defect rule") + more

    def _labelled_text(self) -> str:
        accounts = accounts_of(self.evidence.study, cases_of(self.evidence.answers))
        labelled, planned = (
            sum(account.labelled.n for account in accounts),
            sum(account.planned for account in accounts),
        )
        return f"{figures.count(labelled)} of {figures.count(planned)} labelled"

    def _repr_html_(self) -> str:
        """Return rates as figures, completeness and gates, for notebooks."""
        head, _, completeness, gates, _ = self._lines()
        plots = figures_of(self.evidence, self.findings)
        titles = ", ".join(heading_of(guideline, one) for guideline, one in rules_of(self.evidence.study))
        parts = [figure.svg for figure in plots[:4]]
        more = f"<p>{len(plots) - 4} more figures are in the report.</p>" if len(plots) > 4 else ""
        texts = (f"<p>{escape(line)}</p>" for line in (completeness, gates, f"Report: {self.written.report}"))
        return f"<div><h3>{escape(head)}</h3><p>{escape(titles)}</p>{''.join(parts)}{more}{''.join(texts)}</div>"


def _rate_words(rate: Rate) -> str:
    """Return a rate with its interval, or with its bound where no defect was found, as in figures and summaries."""
    result = rate.measurement.result
    if rate.defects or rate.estimate is None or result.n < figures.FEW:
        return words_of_rate(result)
    return f"0 of {figures.count(result.n)} ({figures.percent(0.0)}, {interval_words(rate)})"


def _frame(evidence: Evidence, rows: Iterable[Mapping[str, object]]) -> DataFrame:
    try:
        import pandas as pd  # large, and needed only for data frames
    except ImportError as error:
        message = "data frames need pandas, which is not installed; type: pip install 'theodolite[pandas]'"
        raise InputError(message) from error
    return pd.DataFrame(list(rows), columns=list(dialogue_columns(evidence)))
