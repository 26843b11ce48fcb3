"""Numbers about judges and people, recomputed from the exported table by other libraries."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named
from tests.integration.published import recount
from tests.integration.published.recount import COEFFICIENT, SHARE
from theodolite.domain.evidence import Evidence
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.queries.cases import pseudonyms
from theodolite.reporting.results.document import results_document

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    """Return a study whose judge two people checked on a sample."""
    return evidence_named("certified")


@pytest.fixture(scope="module")
def table(evidence) -> pd.DataFrame:
    """Return the exported table, people by name."""
    names = {number: name for name, number in pseudonyms(evidence).items()}
    return pd.DataFrame(dialogue_rows(evidence)).replace({"judge": names})


@pytest.fixture(scope="module")
def results(evidence) -> dict:
    return results_document(evidence, findings_named("certified"), facts())


@pytest.fixture(scope="module")
def wide(table) -> pd.DataFrame:
    """Return the labels, one column for each annotator and one row for each dialogue."""
    return table[table.judge.notna()].pivot_table("label", "dialogue", "judge", aggfunc="first", dropna=False)


@pytest.fixture(scope="module")
def testers(table) -> pd.Series:
    return table.drop_duplicates("dialogue").set_index("dialogue").persona


def in_all(judged: pd.DataFrame, by: pd.Series, counts: pd.Series) -> float:
    """Return how many of all judged dialogues count, from the labelled ones of each part."""
    return sum(len(part) * counts.reindex(part.index).dropna().mean() for _, part in judged.groupby(by))


def shares_by_rule(wide: pd.DataFrame, person: str) -> dict[str, float]:
    """Return what is printed about verdicts of the judge, from a sample of each of its verdicts (defect: at most 3)."""
    read = wide[wide.grounded.notna()]
    alarm = read.grounded.astype(int) <= 3
    harm = wide[person].dropna().astype(int) <= 3
    harms, hits = in_all(read, alarm, harm), in_all(read[alarm], alarm[alarm], harm)
    right = in_all(read[~alarm], alarm[~alarm], ~harm)
    unread = in_all(wide[wide.grounded.isna()], pd.Series("", wide.index), harm)
    return {
        "judge_sensitivity": hits / harms,
        "judge_specificity": right / (len(read) - harms),
        "judge_precision": hits / alarm.sum(),
        "judge_clean_rate": right / (~alarm).sum(),
        "judge_rate": alarm.mean(),
        "judge_bias": alarm.mean() - harms / len(read),
        "corrected_rate": (harms + unread) / len(wide),
    }


def counted_flags(wide: pd.DataFrame, entry: dict) -> pd.Series | None:
    """Return the dialogues that a counted share of a judge's validation is about; None for another number."""
    measure, names, label = entry["measure"], entry["subject"]["annotators"], entry["subject"].get("label")
    if len(names) == 1:
        return wide.grounded.isna() if measure == "unparseable_share" else None
    shared = wide[names].dropna()
    first, second = shared[names[0]], shared[names[1]]
    alarm, harm = second.astype(int) <= 3, first.astype(int) <= 3
    return {
        "exact_agreement": first == second if "grounded" not in names else None,
        "class_precision": first[second == label] == label,
        "class_recall": second[first == label] == label,
        "judge_precision": harm[alarm],
        "judge_clean_rate": ~harm[~alarm],
        "judge_rate": wide.grounded.dropna().astype(int) <= 3,
    }.get(measure)


def test_counted_shares_of_a_judge(results, wide, testers):
    derived = set()
    for entry in results["judge_validations"][0]["estimates"]:
        flags = counted_flags(wide, entry)
        if flags is None or entry["value"] is None:
            continue
        assert (entry["count"], entry["n"]) == (int(flags.sum()), len(flags)), entry["subject"]
        pairs = flags.groupby(testers.loc[flags.index]).agg(["sum", "size"]).to_numpy()
        clusters = tuple(sorted((int(count), int(n)) for count, n in pairs))
        interval = (
            recount.clustered_interval(clusters)[:2]
            if entry["method"] == "beta-binomial"
            else recount.rate_interval(int(flags.sum()), len(flags))
        )
        assert (entry["low"], entry["high"]) == pytest.approx(interval, abs=SHARE), entry["measure"]
        derived.add(entry["measure"])
    assert len(derived) == 7


def test_diagnostics_of_a_judge(results, table):
    texts = (table.prompt + "\n" + table.response).groupby([table.dialogue, table.turn]).first().str.casefold()
    judged = table[table.judge == "grounded"]
    quoted = judged[judged.quote.notna()]
    ungrounded = [
        row.dialogue
        for row in quoted.itertuples()
        for turn, text in re.findall(r"\[(\d+)\] ([^|]*[^| ])", row.quote)
        if text.casefold() not in texts[row.dialogue, int(turn)]
    ]
    (diagnosed,) = results["judge_diagnostics"]
    assert (diagnosed["verdicts"], diagnosed["quoting"]) == (judged.dialogue.nunique(), quoted.dialogue.nunique())
    assert diagnosed["ungrounded"] == ungrounded


def test_sample_of_labels(results, wide):
    people = wide[["anna", "ben"]].dropna(how="all")
    (report,), (sample,) = results["judge_validations"], results["label_samples"]
    assert (report["judged"], report["labelled"]) == (len(wide), len(people))
    for stratum in sample["strata"]:
        verdicts = {"defect": set("123"), "sound": set("45"), "no verdict": {""}}[stratum["name"].partition(": ")[2]]
        mine = wide[wide.grounded.fillna("").isin(verdicts)]
        drawn = mine.index.isin(people.index).sum()
        assert (stratum["dialogues"], stratum["drawn"]) == (len(mine), drawn)
        assert stratum["inclusion"] == pytest.approx(drawn / len(mine))


COEFFICIENTS = {
    "cohen_kappa": lambda part: recount.kappa(part, np.ones(len(part))),
    "gwet_ac": lambda part: recount.gwet(part, list("12345")),
    "krippendorff_alpha": lambda part: recount.ordinal_alpha(part, list("12345")),
}


def test_validation_of_a_judge(results, wide, testers):
    derived = defaultdict(int)
    for entry in results["judge_validations"][0]["estimates"]:
        measure, names = entry["measure"], entry["subject"]["annotators"]
        shared = wide[names].dropna()
        if measure in {"exact_agreement", "relaxed_agreement"}:
            numbers, read = shared.astype(int), wide[wide[names[1]].notna()]
            near = (numbers[names[0]] - numbers[names[1]]).abs() <= (measure == "relaxed_agreement")
            again = in_all(read, read[names[1]], near) / len(read) if "grounded" in names else near.mean()
            assert (entry["value"], entry["n"]) == (pytest.approx(again, abs=SHARE), len(shared))
        elif measure in COEFFICIENTS:
            again = recount.clustered_log_interval(shared, testers.loc[shared.index], COEFFICIENTS[measure])
            assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(again, abs=COEFFICIENT), measure
        elif entry["subject"].get("rule") and measure != "length_bias":
            assert entry["value"] == pytest.approx(shares_by_rule(wide, names[0])[measure], abs=SHARE)
        else:
            continue
        derived[measure] += 1
    assert len(derived) == 12
