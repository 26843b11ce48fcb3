"""Realism as entries of the results file."""

from __future__ import annotations

from theodolite.domain.findings.realism import GroupCover, RateContrast, Realism, SpokenSide, StyleContrast, StyleSpread
from theodolite.domain.identity import Json
from theodolite.reporting.results.number_entries import number_entry
from theodolite.reporting.results.subjects import subject_entry


def realism_entry(realism: Realism) -> dict[str, Json]:
    """Return one entry of the list `realism`."""
    return {
        "scenario": realism.people.scenario,
        "people": _side(realism.people),
        "simulated": _side(realism.simulated),
        "style": [_style(contrast) for contrast in realism.styles],
        "rates": [_rate(contrast) for contrast in realism.rates],
        "groups": [_cover(cover) for cover in realism.groups],
    }


def _side(side: SpokenSide) -> dict[str, Json]:
    return {
        "level": side.level.value,
        "tester_type": side.held_by.value,
        "dialogues": side.n,
        "applications": list(side.applications),
    }


def _style(contrast: StyleContrast) -> dict[str, Json]:
    return {
        "mark": contrast.mark.value,
        "people": _spread(contrast.people),
        "simulated": _spread(contrast.simulated),
        "difference": number_entry(contrast.difference),
    }


def _spread(spread: StyleSpread) -> dict[str, Json]:
    return {**number_entry(spread.mean), "quartiles": list(spread.quartiles) if spread.quartiles else None}


def _rate(contrast: RateContrast) -> dict[str, Json]:
    return {
        "subject": subject_entry(contrast.subject),
        "people": number_entry(contrast.people),
        "simulated": number_entry(contrast.simulated),
        "difference": number_entry(contrast.difference),
    }


def _cover(cover: GroupCover) -> dict[str, Json]:
    return {
        "group": cover.name,
        "both": list(cover.both),
        "people_only": list(cover.people_only),
        "simulated_only": list(cover.simulated_only),
    }
