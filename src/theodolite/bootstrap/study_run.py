"""The result of a run from Python: rows for data frames, comparisons, dialogues, gates and a notebook view."""

from __future__ import annotations

import json
import webbrowser
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from theodolite.bootstrap.comparing import differences_from
from theodolite.bootstrap.reports import WrittenFiles, dialogue_screen
from theodolite.bootstrap.study_context import StudyContext
from theodolite.config.permissions import require_privacy_review
from theodolite.domain.comparison import Comparison
from theodolite.domain.errors import InputError, did_you_mean
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.gate import GateResult, GateState, worst_of
from theodolite.measurement.sample_size import compare_sides
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
from theodolite.usecases.running import RunStatus

if TYPE_CHECKING:
    from pandas import DataFrame

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
