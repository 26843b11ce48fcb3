"""Draws `growth.svg` from `growth.json`: throughput by workers, cost by dialogues, and cores by testers.

python benchmarks/chart_growth.py

Filled marks are measured; dashed lines continue the slope between the smallest and the largest measured size.
Prints the table of the extrapolation as Markdown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log10
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, TOP, BOTTOM = 1320, 360, 60, 310
SIZES = (1_000, 10_000, 100_000, 1_000_000, 100_000_000)
COLOURS = {"SQLite": "#0072b2", "PostgreSQL": "#d55e00"}
TURN_CPU_S = 17 / 200
"""CPU time of the server for a turn with a streamed reply of 150 pieces: 50 testers in `CHAT.md`; seconds."""

TURNS_A_MINUTE = 1.0
"""Messages of a tester; a minute is left for reading, thinking and typing."""

DAY_S = 86_400


@dataclass(frozen=True)
class Slope:
    """Cost of a run by its dialogues: `start + n * each`, between the smallest and the largest measured run."""

    start: float
    each: float

    def at(self, n: float) -> float:
        """Return the cost of so many dialogues."""
        return max(self.start, 0.0) + n * self.each


def slope_of(points: list[dict], name: str) -> Slope:
    """Return the slope of one cost."""
    first, last = points[0], points[-1]
    each = (last[name] - first[name]) / (last["dialogues"] - first["dialogues"])
    return Slope(first[name] - each * first["dialogues"], each)


def of(points: list[dict], kind: str, *, workers: int | None = None) -> list[dict]:
    """Return the points of one database, by dialogues."""
    chosen = [p for p in points if p["kind"] == kind and workers in (None, p["workers"])]
    return sorted(chosen, key=lambda p: p["dialogues"])


def text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12, colour: str = "#333") -> str:
    """Return a text element."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def throughput(points: list[dict]) -> list[str]:
    """Return the left panel: dialogues per second by workers, of the smallest size that all databases have."""
    least = {kind: min((p["dialogues"] for p in points if p["kind"] == kind), default=0) for kind in COLOURS}
    if common := set.intersection(*({p["dialogues"] for p in points if p["kind"] == kind} for kind in COLOURS)):
        least = dict.fromkeys(COLOURS, min(common))
    bars = [p for kind in COLOURS for p in points if p["kind"] == kind and p["dialogues"] == least[kind]]
    rates = [p["dialogues"] / p["calls_s"] for p in bars]
    sizes = " and ".join(f"{n} dialogues on {kind}" for kind, n in least.items() if n)
    parts = [
        text(20, 24, "Dialogues per second by workers", size=14),
        text(20, 42, f"first to last call; {sizes}", size=11),
    ]
    for index, (p, rate) in enumerate(zip(bars, rates, strict=True)):
        x, height = 40 + 85 * index, (BOTTOM - TOP - 30) * rate / max(rates)
        parts += [
            f'<rect x="{x}" y="{BOTTOM - height:.1f}" width="56" height="{height:.1f}" fill="{COLOURS[p["kind"]]}"/>',
            text(x + 28, BOTTOM - height - 6, f"{rate:.0f}", anchor="middle"),
            text(x + 28, BOTTOM + 16, f"{p['workers']} worker{'s' * (p['workers'] > 1)}", anchor="middle", size=11),
            text(x + 28, BOTTOM + 31, p["kind"], anchor="middle", size=11, colour=COLOURS[p["kind"]]),
        ]
    return parts


def cost(points: list[dict]) -> list[str]:
    """Return the right panel: CPU time, memory and storage by dialogues on two logarithmic axes."""
    left, right = 480, 840
    series = {
        "CPU time, s": ("cpu_s", 1.0, "#0072b2"),
        "peak memory, MiB": ("peak_mib", 1.0, "#d55e00"),
        "stored, MB": ("bytes", 1e-6, "#009e73"),
    }
    low, high, x_low, x_high = 0.0, 7.0, log10(300), 8.0

    def place(n: float, value: float) -> tuple[float, float]:
        x = left + (right - left) * (log10(n) - x_low) / (x_high - x_low)
        return x, BOTTOM - (BOTTOM - TOP) * (log10(max(value, 1.0)) - low) / (high - low)

    parts = [text(left, 24, "Cost of a run by dialogues, SQLite, 1 worker", size=14)]
    parts.append(text(left, 42, "marks: measured; dashed: continued slope", size=11))
    for power in range(8):
        y = place(1_000, 10.0**power)[1]
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(left - 6, y + 4, f"10^{power}", anchor="end", size=11))
    parts += [text(place(n, 1)[0], BOTTOM + 16, f"10^{log10(n):.0f}", anchor="middle", size=11) for n in SIZES]
    ends: list[tuple[float, float, str, str]] = []
    for label, (name, unit, colour) in series.items():
        slope, last = slope_of(points, name), points[-1]["dialogues"]
        (x, y), (x_end, y_end) = (place(n, unit * slope.at(n)) for n in (last, SIZES[-1]))
        parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x_end:.1f}" y2="{y_end:.1f}" stroke="{colour}" stroke-dasharray="5 4"/>'
        )
        ends.append((y_end, x_end + 6, label, colour))
        for p in points:
            x, y = place(p["dialogues"], unit * p[name])
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    lowest = 0.0
    for y, x, label, colour in sorted(ends):  # labels of close lines would cover each other
        lowest = max(y + 4, lowest + 14)
        parts.append(text(x, lowest, label, size=11, colour=colour))
    return parts


def cores_of(testers: float) -> float:
    """Return the cores that the web server needs for so many testers at once."""
    return testers * TURNS_A_MINUTE / 60 * TURN_CPU_S


def testers() -> list[str]:
    """Return the third panel: cores of the web server by testers at once; one process uses one core."""
    left, right, sizes = 1010, 1280, (10, 100, 1_000, 10_000)

    def place(n: float, cores: float) -> tuple[float, float]:
        return left + (right - left) * (log10(n) - 1) / 3, BOTTOM - (BOTTOM - TOP) * (log10(cores) + 2) / 4

    parts = [text(left - 10, 24, "Cores of the web server by testers at once", size=14)]
    parts.append(text(left - 10, 42, "mark: measured CPU time; dashed: proportional", size=11))
    for power in range(-2, 3):
        y = place(10, 10.0**power)[1]
        parts.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(left - 6, y + 4, f"{10.0**power:g}", anchor="end", size=11))
    parts += [text(place(n, 1)[0], BOTTOM + 16, f"{n:,}", anchor="middle", size=11) for n in sizes]
    (x, y), (x_end, y_end) = place(10, cores_of(10)), place(10_000, cores_of(10_000))
    parts.append(
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x_end:.1f}" y2="{y_end:.1f}" stroke="#0072b2" stroke-dasharray="5 4"/>'
    )
    x, y = place(50, cores_of(50))
    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#0072b2"/>')
    x, y = place(1 / cores_of(1), 1.0)
    parts.append(text(x - 8, y - 6, f"one process: {1 / cores_of(1):.0f} testers", anchor="end", size=11))
    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="none" stroke="#0072b2"/>')
    return parts


def table(points: list[dict]) -> str:
    """Return the extrapolation as Markdown."""
    cpu, memory, stored = (slope_of(points, name) for name in ("cpu_s", "peak_mib", "bytes"))
    largest = points[-1]["dialogues"]
    rows = ["| dialogues | | CPU time | peak memory of `run` | stored |", "|---|---|---|---|---|"]
    for n in SIZES:
        seconds = cpu.at(n)
        spent = f"{seconds / DAY_S:.1f} days" if seconds > DAY_S else f"{seconds / 60:.1f} min"
        kind = "within the measured sizes" if n <= largest else "continued slope"
        rows.append(f"| {n:,} | {kind} | {spent} | {memory.at(n) / 1024:,.1f} GiB | {stored.at(n) / 1e6:,.0f} MB |")
    return "\n".join(rows)


def main() -> None:
    """Write the chart and print the table."""
    found = json.loads((HERE / "growth.json").read_text(encoding="utf-8"))
    sizes = of(found["points"], "SQLite", workers=1)
    about = f"{found['date']}, {found['cores']} cores shared with other programs, load {found['load']:.1f}; ratios count, not seconds."
    parts = [
        *throughput(found["points"]),
        *cost(sizes),
        *testers(),
        text(20, HEIGHT - 4, about, size=10, colour="#666"),
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" role="img">'
    )
    title = "<title>Throughput by workers, cost by dialogues, cores by testers</title>"
    background = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
    svg = "\n".join([head, title, background, *parts, "</svg>"])
    (HERE / "growth.svg").write_text(svg + "\n", encoding="utf-8")
    print(table(sizes))


if __name__ == "__main__":
    main()
