"""From measurements to the page that people read."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from contenders import FLOOR, OURS
from job import CALLS
from measured import Measured
from trials import Trial

SAMPLES_WANTED = 100_000
START_WANTED_S = 0.6
FLOOR_START_S = 0.25
"""CPU of the floor's start and one sample on the machine where the targets were set; seconds."""

COLD = f"{OURS}, cold start"
"""Ours in an empty workspace, which knows nothing of what the account bears."""


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """A contender without latency: one sample and many.

    `report_one` and `report_many` are `theodolite report` of the same samples once more,
    for what a run does when all calls are answered: read back, measure, write the report.
    """

    one: Measured
    many: Measured
    report_one: Measured | None = None
    report_many: Measured | None = None

    @property
    def marginal_ms(self) -> float:
        return self._marginal_ms(self.one, self.many)

    @property
    def report_ms(self) -> float:
        """The part of the marginal cost that reading back, measuring and reporting take; 0 where there is none."""
        if self.report_one is None or self.report_many is None:
            return 0.0
        return self._marginal_ms(self.report_one, self.report_many)

    @staticmethod
    def _marginal_ms(one: Measured, many: Measured) -> float:
        return 1000 * (many.cpu_s - one.cpu_s) / (many.n - one.n)

    def better(self, other: Overhead) -> Overhead:
        """The less of two measurements, each part by itself: whatever else a machine does only adds to them."""
        return Overhead(
            one=_less(self.one, other.one),
            many=_less(self.many, other.many),
            report_one=_less(self.report_one, other.report_one),
            report_many=_less(self.report_many, other.report_many),
        )

    @property
    def disk_marginal(self) -> float:
        return self.many.disk_bytes / self.many.n


def _less(first: Measured | None, second: Measured | None) -> Measured | None:
    both = [one for one in (first, second) if one is not None]
    whole = [one for one in both if one.code == 0]
    return min(whole or both, key=lambda one: one.cpu_s, default=None)


@dataclass(frozen=True, kw_only=True)
class Pressure:
    """A contender against a latency."""

    latency_ms: float
    concurrency: int
    runs: Mapping[str, Measured]

    def efficiency(self, name: str) -> float:
        run = self.runs[name]
        ideal_s = -(-run.n // self.concurrency) * CALLS * self.latency_ms / 1000
        return ideal_s / run.span_s


def page(
    overheads: Mapping[str, Overhead],
    pressures: Sequence[Pressure],
    trials: Sequence[Trial],
    large: Measured,
    start_s: float,
    missing: Sequence[str],
    *,
    load: float,
    when: str,
) -> str:
    """Return the whole page."""
    return "\n".join(
        [
            "# Results of the race",
            "",
            "Written by `make bench`; the numbers of one run on one machine. Ratios within it count, not the seconds.",
            "",
            f"{when}. Python {platform.python_version()}, {platform.machine()}, {_cores()} cores, load {load:.1f} at the start.",
            f"theodolite {version('theodolite')}, aiohttp {version('aiohttp')}, Django {version('django')}.",
            f"Not measured, since not installed (`make bench-peers`): {', '.join(missing) or 'none'}.",
            "",
            "The job: N dialogues of 3 turns with a simulated user and a judge, 7 calls a sample, against one loopback server.",
            "Ours is the command `theodolite run`: it plans, stores every reply before the next request, measures and writes the report.",
            "Nobody has more calls in flight than `at a time` says; ours has half as many dialogues again under way, whose replies are being stored.",
            "The floor writes one line a sample at its end and keeps nothing of a sample before.",
            "Floor and ours took turns, and the least of their rounds counts; other tools ran once.",
            "",
            *_overhead_table(overheads),
            "",
            *_pressure_table(pressures),
            "",
            *_trial_table(trials),
            "",
            *_targets(overheads, pressures, large, start_s),
            "",
        ]
    )


def _cores() -> int:
    import os

    return os.cpu_count() or 1


def _overhead_table(overheads: Mapping[str, Overhead]) -> list[str]:
    floor = overheads[FLOOR].marginal_ms
    rows = [
        f"| {name} | {o.many.n} | {o.marginal_ms:.2f} | {o.marginal_ms / floor:.1f} | {o.many.n / o.many.span_s:.0f} "
        f"| {o.one.cpu_s:.2f} | {o.many.peak_mib:.0f} | {o.disk_marginal:.0f} | {'yes' if o.many.is_whole else 'no'} |"
        for name, o in overheads.items()
    ]
    mine = overheads[OURS]
    if mine.report_ms:
        engine = mine.marginal_ms - mine.report_ms
        what = "its calls and its journal alone"
        rows.insert(2, f"| of which {what} | {mine.many.n} | {engine:.2f} | {engine / floor:.1f} | | | | | |")
        what = "reading back, measuring, report"
        rows.insert(
            3, f"| of which {what} | {mine.many.n} | {mine.report_ms:.2f} | {mine.report_ms / floor:.1f} | | | | | |"
        )
    return [
        "## Without latency, 100 dialogues at a time",
        "",
        "| | N | CPU ms a sample (marginal) | times the floor | samples/s | CPU s of one sample, start included | peak MiB | bytes on disk a sample, report left out | all calls answered |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
    ]


def _pressure_table(pressures: Sequence[Pressure]) -> list[str]:
    rows = [
        f"| {p.latency_ms:g} ms | {p.concurrency} | {name} | {run.n} | {p.efficiency(name):.3f} "
        f"| {p.efficiency(name) / p.efficiency(FLOOR):.3f} | {run.lead_s:.1f} | {run.n / run.wall_s:.0f} "
        f"| {run.cpu_s:.1f} | {run.peak_mib:.0f} | {run.max_inflight} |"
        for p in pressures
        for name, run in p.runs.items()
    ]
    return [
        "## With latency",
        "",
        "Efficiency is the ideal time over the time from the first call to the last reply. Ours is warm where an earlier run",
        "in the same workspace has left what the account bears, and cold in an empty workspace.",
        "Before its first call ours knocks once at each endpoint and then enters every dialogue and every annotation into",
        "its ledger: `before` is the time from the first knock to the first call.",
        "",
        "| latency | at a time | | N | efficiency | of the floor's | before, s | samples/s, start and report included | CPU s | peak MiB | most in flight |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *rows,
    ]


def _trial_table(trials: Sequence[Trial]) -> list[str]:
    return [
        "## Under trial",
        "",
        "| tried | came | wanted | met |",
        "|---|---|---|---|",
        *(f"| {t.what} | {t.came} | {t.wanted} | {'yes' if t.met else 'no'} |" for t in trials),
    ]


def _start_rows(start_s: float, floor_s: float) -> list[tuple[str, str, str, bool]]:
    """Return how long a start takes, in seconds and as a multiple of the floor's, which the machine's speed leaves alone."""
    what, wanted = "CPU of `theodolite run --stage test` of one sample", START_WANTED_S / FLOOR_START_S
    beside = f"of the floor's {floor_s:.2f} s for one sample ({FLOOR_START_S} s where the {START_WANTED_S} s were set)"
    return [
        (what, f"{start_s:.2f} s", f"under {START_WANTED_S}", start_s < START_WANTED_S),
        (
            f"the same, {beside}",
            f"{start_s / floor_s:.1f} times",
            f"under {wanted:.1f}",
            start_s / floor_s < wanted,
        ),
    ]


def _targets(
    overheads: Mapping[str, Overhead], pressures: Sequence[Pressure], large: Measured, start_s: float
) -> list[str]:
    mine, floor = overheads[OURS], overheads[FLOOR]
    ratio = mine.marginal_ms / floor.marginal_ms
    small = mine.many if large.n > mine.many.n else mine.one  # what is bounded has grown to its bound by then
    mib_a_sample = (large.peak_mib - small.peak_mib) / (large.n - small.n)
    far_mib = large.peak_mib + mib_a_sample * max(0, SAMPLES_WANTED - large.n)
    points = f"{small.n:,} ({small.peak_mib:.0f} MiB) and {large.n:,} ({large.peak_mib:.0f} MiB)"
    shown = f"extrapolated from {points}" if large.n < SAMPLES_WANTED else "run in full"
    rows = [("CPU of the floor, measuring and report included", f"{ratio:.2f} times", "at most 2.5", ratio <= 2.5)]
    if mine.report_ms:
        same = (mine.marginal_ms - mine.report_ms) / floor.marginal_ms
        rows.append(("CPU of the floor, for the work that both do", f"{same:.2f} times", "at most 2.5", same <= 2.5))
    rows += [
        (
            f"efficiency at {p.concurrency} x {p.latency_ms:g} ms, of the floor's",
            f"{share:.3f}",
            "at least 0.9",
            share >= 0.9,
        )
        for p in pressures
        for share in [p.efficiency(OURS) / p.efficiency(FLOOR)]
    ]
    rows += [
        (f"cold start at {p.concurrency} x {p.latency_ms:g} ms", f"{late_s:+.1f} s", "at most 2 s more", late_s <= 2)
        for p in pressures
        for late_s in [p.runs[COLD].span_s - p.runs[OURS].span_s]
    ]
    rows += [
        (
            f"memory at {SAMPLES_WANTED:,} samples, {shown}",
            f"{far_mib:.0f} MiB",
            "under 300",
            far_mib < 300,
        ),
        (
            "bytes on disk a sample, report left out",
            f"{mine.disk_marginal:.0f}",
            "at most 4096",
            mine.disk_marginal <= 4096,
        ),
        *_start_rows(start_s, floor.one.cpu_s),
    ]
    for name, peer in overheads.items():
        if name not in {OURS, FLOOR} and peer.one.is_whole and peer.many.is_whole:
            times, wanted = peer.marginal_ms / mine.marginal_ms, 10 if name == "promptfoo" else 30
            rows.append((f"CPU less than {name}", f"{times:.0f} times", f"at least {wanted}", times >= wanted))
    return [
        "## Targets",
        "",
        "| | measured | wanted | met |",
        "|---|---|---|---|",
        *(f"| {what} | {got} | {wanted} | {'yes' if met else 'no'} |" for what, got, wanted, met in rows),
    ]
