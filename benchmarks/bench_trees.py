"""How long a measurement tree over a million single answers takes, with a thousand replicates.

python benchmarks/bench_trees.py [--write]

Three levels of testing, 160 questions, 2,083 dialogues a level: 999,840 leaves. Half of the questions are summed up by
a mean, half by a scale-normalised median. Beside ours stands the plain way: draw dialogues, put their answers together,
take mean or median of each question, work up the tree, once a replicate. It is run for a few replicates, which must
equal ours, and its time is scaled up. CPU seconds are stated beside the clock's, since other work shares the machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src")]

import numpy as np  # noqa: E402
from theodolite.domain.instrument import Orientation  # noqa: E402
from theodolite.domain.tree import AnswersNode, Edge, SummaryNode, TreeDesign, ValueRange  # noqa: E402
from theodolite.measurement.trees.leaves import LeafTable, SessionFacts  # noqa: E402
from theodolite.measurement.trees.measuring import Draws, measure_tree  # noqa: E402
from theodolite.measurement.trees.replicates import compiled, replicated, resampled  # noqa: E402

LEVELS = ("model testing", "red teaming", "field testing")
QUESTIONS, DIALOGUES, REPLICATES, NAIVE = 160, 2_083, 1_000, 8


def design() -> TreeDesign:
    nodes = [SummaryNode(name="root", summary="max", edges=tuple(Edge(child=level) for level in LEVELS))]
    for level in LEVELS:
        halves = {"labelling": range(QUESTIONS // 2), "perception": range(QUESTIONS // 2, QUESTIONS)}
        nodes.append(SummaryNode(name=level, summary="mean", edges=tuple(Edge(child=f"{level} {h}") for h in halves)))
        for half, numbers in halves.items():
            edges = tuple(Edge(child=f"{level} {n}") for n in numbers)
            nodes.append(SummaryNode(name=f"{level} {half}", summary="mean", edges=edges))
        for n in range(QUESTIONS):
            labels = n < QUESTIONS // 2
            nodes.append(
                SummaryNode(
                    name=f"{level} {n}",
                    summary="mean" if labels else "scale-normalised median",
                    edges=(Edge(child=f"{level} {n} answers"),),
                )
            )
            nodes.append(
                AnswersNode(
                    name=f"{level} {n} answers",
                    question=f"q{n}",
                    levels=(level,),
                    range=ValueRange(lowest=0, highest=1 if labels else 4),
                    orientation=Orientation.HIGHER_IS_WORSE,
                )
            )
    return TreeDesign(name="bench", nodes=tuple(nodes))


def leaves() -> LeafTable:
    rng = np.random.default_rng(0)
    n_sessions = len(LEVELS) * DIALOGUES
    question = np.tile(np.arange(QUESTIONS), n_sessions)
    labels = question < QUESTIONS // 2
    text = np.where(labels, rng.random(len(question)) < 0.2, rng.integers(0, 5, len(question))).astype(np.int64)
    nought = np.zeros(len(question), dtype=np.int64)
    return LeafTable(
        sessions=tuple(SessionFacts(f"{level} {n}", "", level, "person") for level in LEVELS for n in range(DIALOGUES)),
        questions=tuple(f"q{n}" for n in range(QUESTIONS)),
        answerers=(("ann", "person"),),
        texts=("0", "1", "2", "3", "4"),
        session=np.repeat(np.arange(n_sessions), QUESTIONS),
        question=question,
        answerer=nought,
        turn=nought - 1,
        text=text,
        outcome=nought,
    )


def naive(table: LeafTable, weights: np.ndarray) -> float:
    """Return the root of one replicate, computed the plain way."""
    values = table.text.reshape(-1, QUESTIONS).astype(float)
    drawn = np.repeat(np.arange(len(weights)), weights.astype(int))
    by_level = []
    for number in range(len(LEVELS)):
        rows = drawn[(drawn >= number * DIALOGUES) & (drawn < (number + 1) * DIALOGUES)]
        found = [
            np.mean(values[rows, n]) if n < QUESTIONS // 2 else np.median(values[rows, n]) / 4 for n in range(QUESTIONS)
        ]
        by_level.append((np.mean(found[: QUESTIONS // 2]) + np.mean(found[QUESTIONS // 2 :])) / 2)
    return max(by_level)


def timed(work) -> tuple[float, float, object]:
    clock, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - clock, time.process_time() - cpu, result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    tree, table = design(), leaves()
    runs = [timed(lambda: measure_tree(tree, leaves(), draws=Draws(replicates=REPLICATES))) for _ in range(3)]
    bare = [timed(lambda: replicated(compiled(tree, leaves()), REPLICATES, 1)) for _ in range(3)]
    making = min(timed(leaves)[1] for _ in range(3))
    weights = np.concatenate(list(resampled(table, REPLICATES, 1)))[:NAIVE]
    slow_clock, slow_cpu, plain = timed(lambda: [naive(table, row) for row in weights])
    same = np.allclose(plain, bare[0][2]["root"][:NAIVE], rtol=0, atol=1e-12)
    whole, replicates = (min(run[1] for run in each) - making for each in (runs, bare))
    scaled = slow_cpu / NAIVE * REPLICATES
    lines = [
        "# Results of the tree benchmark",
        "",
        "Written by `python benchmarks/bench_trees.py --write`; one run on one machine. The ratio counts, not the seconds.",
        "",
        f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end.",
        "",
        f"A tree of {len(table):,} leaves, {len(tree.nodes)} nodes, {len(LEVELS) * DIALOGUES:,} dialogues, {REPLICATES:,} replicates.",
        "",
        "| | CPU s | clock s | times ours |",
        "|---|---|---|---|",
        f"| all replicates of all nodes | {replicates:.2f} | {min(r[0] for r in bare):.2f} | 1.0 |",
        f"| the same with bounds, accounts, spread and odds (`measure_tree`) | {whole:.2f} | {min(r[0] for r in runs):.2f} | {whole / replicates:.1f} |",
        f"| the plain way, {NAIVE} replicates scaled up | {scaled:.1f} | {slow_clock / NAIVE * REPLICATES:.1f} | {scaled / replicates:.1f} |",
        "",
        f"The {NAIVE} replicates computed the plain way equal ours: {'yes' if same else 'NO'}.",
        "Wanted: a million leaves with a thousand replicates within 3 s of the processor, the plain way at least 10"
        f" times slower. Met: {'yes' if whole <= 3.0 and scaled / replicates >= 10 else 'no'}.",
    ]
    print("\n".join(lines))
    if parser.parse_args().write:
        (ROOT / "benchmarks" / "TREES.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
