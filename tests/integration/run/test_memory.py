"""Memory of measurement and report does not grow with the texts of dialogues."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest

from tests.fakes.builders import group, guideline, judge, live, study
from tests.fakes.evidence import facts
from tests.fakes.report import assets
from theodolite.domain.annotation import Annotation, Answer, Outcome
from theodolite.domain.dialogue import Dialogue, Ending, Turn
from theodolite.domain.run import Run, RunState, Spending
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Sampling
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_pieces
from theodolite.reporting.results.document import results_pieces
from theodolite.reporting.terminal.summary import summary_text
from theodolite.reporting.words.reading_aids import read_words
from theodolite.testing.planning import draw_plan
from theodolite.usecases.measuring import evidence_of

SAID = 2_000
"""Letters that are said in each turn; count."""

LETTERS = 200_000
"""Letters of dialogues in the report; count."""

BYTES_A_DIALOGUE = 500
"""What may be held for each planned dialogue: a place in the register, in lists and sets of the report."""


class EndlessStore:
    """A store that generates its records on reading and stores none."""

    def __init__(self, study, sessions):
        self._study, self._sessions = study, sessions

    def _at(self, at):
        return range(len(self._sessions)) if at is None else sorted(at)

    def dialogues(self, run, at=None):
        for place in self._at(at):
            session = self._sessions[place]
            yield Dialogue(
                key=f"dialogue {place}",
                label=session.label,
                application=session.application,
                application_version="v",
                scenario=session.scenario,
                scenario_version="v",
                level=session.level,
                held_by=session.held_by,
                pair_key=session.pair_key,
                cluster=session.cluster,
                turns=tuple(Turn(number=n, prompt=f"{place} {n} " * (SAID // 8), response="x" * SAID) for n in (1, 2)),
                ending=Ending.TURN_LIMIT,
            )

    def annotations(self, run, at=None):
        for place in self._at(at):
            value = "no" if place % 10 == 0 else "yes"
            reason = f"because of {place} " * (SAID // 20)
            answer = Answer(question="label", outcome=Outcome.ANSWERED, value=value, reasoning=reason)
            yield Annotation(
                unit=f"unit {place}",
                dialogue=f"dialogue {place}",
                annotator="large",
                annotator_version="v",
                guideline="polite",
                instrument_version="v",
                answers=(answer,),
            )

    def spending(self, run):
        return Spending()

    def live_spending(self, study, models=()):
        return Spending()

    def journals(self, units):
        return {}

    def __getattr__(self, name):
        """Return nothing for all other reads: final labels, failures, manual labels, files."""
        return lambda *_, **__: ()


def peak_bytes(n):
    """Return the peak memory of reading, measuring and reporting a run of n dialogues; bytes."""
    large = study(
        applications=(live(),),
        scenarios=(Scenario(name="shop", goal="Buy", turns=2),),
        personas=(group("Ana", "Ben"),),
        guidelines=(guideline(),),
        annotators=(judge("large"),),
        sampling=Sampling(dialogues=n),
    )
    plan, sessions = draw_plan(large)
    assert plan.n_sessions == n
    store = EndlessStore(large, sessions)
    run = Run(
        key="r",
        number=1,
        study=large.name,
        study_version="v",
        plan_version="v",
        state=RunState.FINISHED,
        started=facts().generated,
    )
    tracemalloc.start()
    try:
        evidence = evidence_of(store, large, sessions, run)
        findings = measure_study(evidence)
        text = summary_text(evidence, findings, facts(), read_words(assets()["words.yaml"]))
        pieces = report_pieces(evidence, findings, facts(), assets(), letters=LETTERS)
        written = sum(len(piece) for piece in itertools.chain(results_pieces(evidence, findings, facts()), pieces))
        assert f"of {n:,}" in text
        assert written > LETTERS / 2  # the rest is room for what judges were asked
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.timeout(300)
def test_memory_per_dialogue_is_a_few_references_without_texts():
    peak_bytes(20)  # what is made once, for whoever is first
    small, large = peak_bytes(150), peak_bytes(600)

    assert (large - small) / 450 < BYTES_A_DIALOGUE < SAID
