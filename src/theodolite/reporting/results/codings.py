"""What came of coding testers' own words, and of their tasks, as entries of the results file."""

from __future__ import annotations

from collections.abc import Mapping

from theodolite.domain.codings.finding import CodeAgreement, CoderPair, CodingFinding, ThemeShare
from theodolite.domain.findings.task_tally import TaskTally
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry


def coding_entry(found: CodingFinding) -> dict[str, Json]:
    """Return one entry of the list `codings`."""
    return {
        "questionnaire": found.questionnaire,
        "question": found.question,
        "text": found.text,
        "codebook": found.codebook,
        "codebook_name": found.name,
        "codebook_revision": found.revision,
        "answers": found.n,
        "coders": found.n_coders,
        "states": {state.value: n for state, n in found.states.items()},
        "alike": number_entry(found.alike),
        "alpha": number_entry(found.alpha),
        "codes": [_agreement(one) for one in found.codes],
        "pairs": [_pair(one, found.coders) for one in found.pairs],
        "themes": [_theme(one) for one in found.themes],
        "quotes": [
            {"text": one.text, "codes": list(one.codes), "application": one.application, "level": one.level.value}
            for one in found.quotes
        ],
    }


def _agreement(one: CodeAgreement) -> dict[str, Json]:
    return {
        "code": one.code,
        "given": one.n_given,
        "alike": number_entry(one.alike),
        "alpha": number_entry(one.alpha),
    }


def _pair(one: CoderPair, coders: Mapping[str, str]) -> dict[str, Json]:
    return {
        "coders": [coders[one.first], coders[one.second]],
        "answers": one.n,
        "alike": number_entry(one.alike),
        "alpha": number_entry(one.alpha),
        "codes": [_agreement(code) for code in one.codes],
    }


def _theme(one: ThemeShare) -> dict[str, Json]:
    return {
        "code": one.code,
        "application": one.application,
        "level": one.level.value,
        "group": {one.group[0]: one.group[1]} if one.group else {},
        "n": one.n,
        "undecided": one.n_undecided,
        "uncoded": one.n_uncoded,
        "testers": one.n_people,
        "withheld": one.share is None,
        "share": number_entry(one.share) if one.share is not None else None,
        "bounds": list(one.bounds) if one.bounds is not None else None,
    }


def task_entry(one: TaskTally) -> dict[str, Json]:
    """Return one entry of the list `tasks`."""
    return {
        "application": one.application,
        "level": one.level.value,
        "sessions": one.n_sessions,
        "unsaid": one.n_unsaid,
        "done": number_entry(one.done),
    }
