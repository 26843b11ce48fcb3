"""Series of stars with one thing wrong from a known place on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from theodolite.domain.monitoring import History, Score

GOOD = (0.02, 0.03, 0.10, 0.35, 0.50)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
RUNS, STARS, ANCHORS, WRONG_FROM = 40, 25, 40, 25
IN_RUN = STARS + ANCHORS


def stars(rng, n, shares=GOOD):
    return rng.choice([1, 2, 3, 4, 5], n, p=shares).astype(float)


def series(wrong="nothing", *, seed=2024, with_anchors=True, **of_score):
    """Return 40 daily runs of 25 stars, and of 40 anchors that people scored; something is wrong from run 25 on."""
    rng = np.random.default_rng(seed)
    human = stars(rng, ANCHORS, (0.1, 0.15, 0.25, 0.25, 0.25))
    scores = []
    for run in range(RUNS):
        is_wrong = run >= WRONG_FROM
        marks = stars(rng, STARS, (0.2,) * 5 if is_wrong and wrong == "hallucination" else GOOD)
        anchors = human + rng.choice([-1, 0, 0, 0, 0, 1], ANCHORS)
        if is_wrong and wrong in {"slip", "judge"}:
            marks -= rng.random(STARS) < 0.6
        if is_wrong and wrong == "judge":
            anchors -= rng.random(ANCHORS) < 0.6
        if is_wrong and wrong == "alternation":
            marks = np.array([5.0, 4.0] * STARS)[:STARS]
        times = {"at": BEGIN + timedelta(days=run), "batch": f"run {run:02d}", **of_score}
        for place, mark in enumerate(np.clip(anchors, 1, 5) if with_anchors else ()):
            score = float(mark), float(human[place])
            scores.append(Score(value=score[0], human=score[1], item=f"anchor {place}", is_anchor=True, **times))
        scores += [Score(value=float(mark), defect=bool(mark <= 3), **times) for mark in np.clip(marks, 1, 5)]
    return History(name=wrong, scores=tuple(scores), lowest=1, highest=5)
