"""Logs of Inspect, read through its public API."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from theodolite.domain.errors import InputError

EXTRA = "pip install 'theodolite[inspect]'"
"""The command that installs Inspect."""


def require_inspect(path: Path) -> None:
    """Reject a log if Inspect is not installed.

    Raises:
        InputError: If it is not; names the extra.
    """
    if find_spec("inspect_ai") is None:
        message = f"`{path}` is a log of Inspect, which is not installed; try  {EXTRA}"
        raise InputError(message)


def read_inspect_log(path: Path) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Return a log's header and its samples one by one, as plain values without events.

    Raises:
        InputError: If Inspect is not installed, or cannot read the file.
    """
    require_inspect(path)
    from inspect_ai.log import read_eval_log

    try:
        header = read_eval_log(str(path), header_only=True).model_dump(mode="json", exclude_none=True)
    except Exception as error:  # Inspect raises whatever its archive and schema readers raise
        message = f"`{path}` cannot be read as a log of Inspect: {type(error).__name__}: {str(error)[:200]}"
        raise InputError(message) from error
    return header, _samples(path)


def _samples(path: Path) -> Iterator[dict[str, Any]]:
    from inspect_ai.log import read_eval_log, read_eval_log_samples

    try:
        has_ids = bool(read_eval_log(str(path), header_only=True).eval.dataset.sample_ids)
        samples = (
            read_eval_log_samples(str(path), all_samples_required=False, resolve_attachments=True)
            if has_ids
            else read_eval_log(str(path), resolve_attachments=True).samples or ()  # older logs name no samples
        )
        for sample in samples:
            yield sample.model_dump(mode="json", exclude={"events", "store", "attachments"}, exclude_none=True)
    except Exception as error:  # as above
        message = f"a sample of `{path}` cannot be read: {type(error).__name__}: {str(error)[:200]}"
        raise InputError(message) from error
