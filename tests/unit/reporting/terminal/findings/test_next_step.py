from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, facts, live_evidence, xstest_evidence
from theodolite.domain.annotation import AnnotatorKind
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import accounts_of
from theodolite.reporting.terminal.findings import next_step


def step(evidence):
    accounts = accounts_of(evidence.study, cases_of(evidence.answers))
    return next_step(evidence, measure_study(evidence), facts(), accounts)


def by_rule(*, example):
    """Return the live study with a rule in the judge's place, so that no judge is untried."""
    evidence = live_evidence()
    study = evidence.study
    judge = replace(study.annotators[0], kind=AnnotatorKind.RULE)
    groups = tuple(replace(group, example=example) for group in study.personas)
    return replace(evidence, study=replace(study, annotators=(judge,), personas=groups))


def by_nobody():
    """Return the live study with dialogues and nobody who labels them."""
    evidence = live_evidence()
    study = replace(evidence.study, annotators=())
    return changed(replace(evidence, study=study), annotations=[], failures=[])


def without(evidence, n):
    """Return the evidence less the first dialogues' annotations."""
    return changed(evidence, annotations=[*evidence.archive.annotations()][n:])


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (live_evidence(held=3), "go on where this run stopped"),
        (live_evidence(script=("hello",)), "replace the script with a model (large)"),
        (without(live_evidence(), 20), "find out why 23 of 60 lack labels; most often: missing (20)"),
        (by_nobody(), "let a judge or people label: nobody has yet"),
        (live_evidence(), "label 40 dialogues (about 20 min)"),
        (by_rule(example=True), "replace the example rows of customers"),
        (by_rule(example=False), "add personas rather than repeats: 6 of them carry all this evidence"),
        (xstest_evidence(), ""),
    ],
    ids=[
        "unfinished",
        "scripted",
        "unmeasured",
        "unlabelled",
        "untried judge",
        "example rows",
        "few personas",
        "nothing",
    ],
)
def test_the_next_step_is_the_most_effective_one(evidence, words):
    assert step(evidence).startswith(words)
    assert bool(step(evidence)) == bool(words)
