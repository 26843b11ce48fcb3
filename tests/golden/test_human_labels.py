"""Agreement, scores and repeats, recomputed from the labels that others published."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from functools import cache

import pytest

from tests.golden.published import HERE
from theodolite.measurement.agreement import exact_agreement
from theodolite.measurement.alpha import krippendorff_alpha
from theodolite.measurement.kappa import cohen_kappa
from theodolite.measurement.proportion import pass_hat_k
from theodolite.measurement.scores import score_agreement

NAN = float("nan")


@cache
def rows(name):
    with gzip.open(HERE / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def table(units):
    """Return ratings by annotator from one list of labels a unit, gaps at the end."""
    most = max(map(len, units))
    return [[unit[place] if place < len(unit) else NAN for unit in units] for place in range(most)]


@pytest.mark.parametrize(("name", "alpha"), [("350", 0.16086021565770), ("990", 0.14324966231784)])
def test_alpha_of_dices_is_the_published_one(name, alpha):
    units = [["NUY".index(letter) for letter in row["labels"]] for row in rows("dices_labels") if row["set"] == name]

    assert krippendorff_alpha(table(units)).value == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize(
    ("question", "alpha"),
    [
        ("grammar", 0.41512699786609),
        ("fluency", 0.43239839448969),
        ("verbosity", 0.39914229351971),
        ("structure", 0.39855770141111),
        ("success", 0.36271557044547),
        ("overall", 0.43510077944257),
    ],
)
def test_ordinal_alphas_of_recipes_are_the_published_ones(question, alpha):
    units = [[int(digit) for digit in row["scores"]] for row in rows("recipe_scores") if row["question"] == question]

    assert krippendorff_alpha(table(units), scale="ordinal").value == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize(("pair", "kappa"), [((1, 2), 0.85), ((1, 3), 0.88), ((2, 3), 0.86)], ids=str)
def test_kappas_of_pandalms_people_are_the_published_ones(pair, kappa):
    first, second = ([row[f"annotator{number}"] for row in rows("pandalm_labels")] for number in pair)

    assert cohen_kappa(first, second, categories=["0", "1", "2"]).value == pytest.approx(kappa, abs=5e-3)


def test_missing_labels_of_pandalms_judge_are_counted_and_never_agree():
    judge = [row["judge"] or None for row in rows("pandalm_labels")]
    person = [row["annotator1"] for row in rows("pandalm_labels")]

    assert judge.count(None) == 25
    assert exact_agreement(judge, person).n == 999 - 25
    assert exact_agreement([label or "none" for label in judge], person).n == 999


@pytest.mark.parametrize(
    ("choose", "printed"),
    [
        (lambda row: 1 + max(range(4), key=lambda k: row[k]), (1.201643, 0.140091, 0.086990, 0.081134)),
        (lambda row: sum((k + 1) * row[k] for k in range(4)), (0.918676, 0.177301, 0.086675, 0.065928)),
    ],
    ids=["most probable", "expected"],
)
def test_scores_of_llm_rubric_agree_with_people_as_published(choose, printed):
    judged = [choose([float(row[f"answer{k}"]) for k in (1, 2, 3, 4)]) for row in rows("llm_rubric_q0")]
    people = [float(row["score"]) for row in rows("llm_rubric_q0")]

    found = score_agreement(judged, people)

    values = [part.value for part in (found.rmse, found.pearson, found.spearman, found.kendall)]
    assert values == pytest.approx(printed, abs=5.1e-7)


def test_clusters_by_person_widen_the_intervals_of_llm_rubrics_judge():
    judged = [sum(k * float(row[f"answer{k}"]) for k in (1, 2, 3, 4)) for row in rows("llm_rubric_q0")]
    people = [float(row["score"]) for row in rows("llm_rubric_q0")]
    persons = [row["person"] for row in rows("llm_rubric_q0")]

    alone, together = score_agreement(judged, people), score_agreement(judged, people, clusters=persons)

    assert together.bias.n_clusters == 13
    assert together.bias.high - together.bias.low > alone.bias.high - alone.bias.low


@pytest.mark.parametrize(("k", "printed"), [(1, 0.420), (2, 0.273), (3, 0.220), (4, 0.200)])
def test_pass_hat_k_of_tau_bench_is_the_published_one(k, printed):
    tasks = defaultdict(list)
    for row in rows("tau_bench_airline"):
        tasks[row["task"]].append(row["reward"] == "1")

    assert pass_hat_k(list(tasks.values()), k).value == pytest.approx(printed, abs=5.1e-4)
