"""Bounds: numbers that a record refuses, with one wording for all records."""

from __future__ import annotations

from theodolite.domain.errors import InputError


def require_counts(record: str, /, **counts: int | None) -> None:
    """Refuse counts below 1; None stands for "no limit" and passes.

    Args:
        record: What messages call the record.
        counts: Field to its value.

    Raises:
        InputError: If a count is below 1; names all of them.
    """
    _refuse(record, "of at least 1", {name: count for name, count in counts.items() if count is not None and count < 1})


def require_positive(record: str, /, **amounts: float | None) -> None:
    """Refuse amounts that are not above 0; None stands for "no limit" and passes.

    Args:
        record: What messages call the record.
        amounts: Field to its value.

    Raises:
        InputError: If an amount is not above 0; names all of them.
    """
    # Asked this way round, so that a value that is no number at all (NaN) is refused too.
    below = {name: amount for name, amount in amounts.items() if amount is not None and not amount > 0}
    _refuse(record, "above 0", below)


def _refuse(record: str, wanted: str, values: dict[str, int] | dict[str, float]) -> None:
    if values:
        names = " and ".join(f"`{name}`" for name in values)
        came = ", ".join(f"{name}={value!r}" for name, value in values.items())
        message = f"{record} needs {names} {wanted}; {came}"
        raise InputError(message)
