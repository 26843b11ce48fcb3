"""Values of a results file as documents cite them: text with the JSON Pointer (RFC 6901) that leads to the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from theodolite.domain.undefined_reasons import UNDEFINED, reason_text
from theodolite.reporting.words import figures


@dataclass(frozen=True, slots=True)
class Number:
    """A value of the results file, with its JSON Pointer."""

    pointer: str
    text: str


Part: TypeAlias = str | Number
Text: TypeAlias = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class CitedResults:
    """A results file as the source of citations."""

    data: Mapping[str, Any]

    def at(self, pointer: str) -> Any:
        """Return the value at a JSON Pointer; None if there is none."""
        value: Any = self.data
        for key in pointer.split("/")[1:]:
            name = key.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list):
                value = value[int(name)] if name.isdigit() and int(name) < len(value) else None
            else:
                value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def cite(self, pointer: str) -> Number:
        """Return a value of the file as text, with its pointer."""
        return Number(pointer, value_text(self.at(pointer)))

    def estimate(self, place: int) -> Number:
        """Return an estimate with its interval and count, with its pointer."""
        return Number(f"/estimates/{place}", estimate_text(self.at(f"/estimates/{place}")))

    def estimates(self, *measures: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the estimates of some measures over whole applications, with their pointers."""
        for position, entry in enumerate(self.data["estimates"]):
            if entry["measure"] in measures and not entry["subject"].get("group"):
                yield position, entry


def value_text(value: object) -> str:
    """Return a value of the results file as text."""
    if value is None:
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return figures.count(value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def estimate_text(entry: Mapping[str, Any]) -> str:
    """Return an estimate of the results file with interval and n, or the reason why there is none.

    A share of counted units is a percentage with its count; below ten units, the count alone.
    """
    value, n = entry.get("value"), entry.get("n")
    if value is None:
        return f"{UNDEFINED}: {reason_text(entry['undefined_reason'])}"
    low, high, n_counted = entry.get("low"), entry.get("high"), entry.get("count")
    if str(entry.get("unit", "")).startswith("fraction") and isinstance(n, int):
        of = (
            f"{figures.count(n_counted)} of {figures.count(n)}"
            if isinstance(n_counted, int)
            else f"n {figures.count(n)}"
        )
        if n < figures.FEW and isinstance(n_counted, int):
            return of
        ends = f" ({figures.span(low, high)})" if low is not None and high is not None else ""
        return f"{of}, {figures.percent(value)}{ends}"
    value = round(value, 3) + 0.0  # never -0.000
    interval = f" ({low:.3f} to {high:.3f})" if low is not None and high is not None else ""
    of = f", n {figures.count(n)}" if isinstance(n, int) else ""
    return f"{value:.3f}{interval}{of}"


_MEASURES: Final = {
    "zero_defect_bound": "Upper bound where no defect occurred",
    "exact_agreement": "Equal labels",
    "relaxed_agreement": "Equal or neighbouring labels",
    "cohen_kappa": "Cohen's kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac": "Gwet's AC",
    "macro_f1": "Macro F1",
    "class_f1": "F1 of a label",
}
"""Names of measures that are not their identifier with spaces."""

_DETAILS: Final = {"identity": "unweighted", "rmse": "root mean squared difference"}


def measure_name(entry: Mapping[str, Any]) -> str:
    """Return the name of an estimate's measure with its weighting or statistic, e.g. `Cohen's kappa (unweighted)`."""
    measure = entry["measure"]
    name = _MEASURES.get(measure, measure.replace("_", " ").capitalize())
    detail = entry.get("weighting") or entry.get("statistic") or ""
    return f"{name} ({_DETAILS.get(detail, detail.replace('_', ' '))})" if detail else name


def plain_text(parts: Text) -> str:
    """Return a text without its pointers."""
    return "".join(part.text if isinstance(part, Number) else part for part in parts)
