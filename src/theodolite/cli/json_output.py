"""JSON output of commands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from theodolite.config.calls import CallEstimate, EndpointCalls, Range
from theodolite.config.yaml_source import InvalidStudyError, LocatedDiagnostic
from theodolite.usecases.running import RunStatus


def error_json(error: BaseException, *, exit_code: int) -> str:
    """Return the object of a command that ended with an error; a study's faults one by one."""
    if isinstance(error, InvalidStudyError):
        return faults_json(error.placed, exit_code=exit_code)
    words = error.format_message() if isinstance(error, click.ClickException) else str(error)
    return as_line({"exit_code": exit_code, "error": words or "stopped"})


def faults_json(placed: Sequence[LocatedDiagnostic], *, exit_code: int, **more: object) -> str:
    """Return the object that says what is wrong with a study, and where; and what else a command has found."""
    found = [
        {
            "file": fault.file,
            "line": fault.line,
            "column": fault.column,
            "severity": fault.severity.value,
            "message": fault.message,
        }
        for fault in placed
    ]
    return as_line({"exit_code": exit_code, "faults": found, **more})


def counts_of(status: RunStatus) -> dict[str, object]:
    """Return where a run stands, for an object."""
    return {
        "stopped": status.stopped,
        "planned": status.planned,
        "sessions": dict(status.sessions),
        "annotations": dict(status.annotations),
    }


def as_line(found: dict[str, Any]) -> str:
    """Return an object on one line, in plain letters that every pipe carries."""
    return json.dumps(found, allow_nan=False)


def estimate_entry(estimate: CallEstimate) -> dict[str, Any]:
    """Return what a run will take; tokens are counts, costs US dollars, null where no price is known."""
    return {
        "dialogues": estimate.dialogues,
        "recorded": estimate.recorded,
        "calls": estimate.calls,
        "tokens_in": _tokens(estimate.tokens_in),
        "tokens_out": _tokens(estimate.tokens_out),
        "cost_usd": _cost(estimate.cost_usd),
        "unpriced": list(estimate.unpriced),
        "endpoints": [_endpoint(endpoint) for endpoint in estimate.endpoints],
        "assumption": estimate.assumption,
    }


def _endpoint(endpoint: EndpointCalls) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "kind": "model" if endpoint.is_model else "application",
        "calls": endpoint.calls,
        "tokens_in": _tokens(endpoint.tokens_in),
        "tokens_out": _tokens(endpoint.tokens_out),
        "cost_usd": _cost(endpoint.cost_usd) if endpoint.cost_usd is not None else None,
    }


def _tokens(guess: Range) -> dict[str, int]:
    return {"low": round(guess.low), "high": round(guess.high)}


def _cost(guess: Range) -> dict[str, float]:
    return {"low": round(guess.low, 6), "high": round(guess.high, 6)}
