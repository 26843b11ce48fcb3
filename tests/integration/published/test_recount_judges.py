"""Numbers about judges, orders and codings, recomputed from the exported table by other libraries."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from tests.fakes.codings import CONSENSUS, WORK, coded_evidence
from tests.fakes.evidence import changed, facts
from tests.fakes.evidence_variants import labelled_evidence
from tests.fakes.report import evidence_named, findings_named
from tests.integration.published import recount
from tests.integration.published.recount import COEFFICIENT, SHARE
from tests.unit.measurement.study.test_judge_diagnostics import cast, judged, mark
from theodolite.domain.annotation import Annotation
from theodolite.domain.evidence import Evidence
from theodolite.domain.shown_order import ShownOrder
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting import tables as exporting
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


def check_interval(entry: dict, again: tuple[float, float, float], within: float = COEFFICIENT) -> None:
    """Compare value and both ends."""
    printed = tuple(entry[name] for name in ("value", "low", "high"))
    assert printed == pytest.approx(again, abs=within), entry


DRAWN = 0.01
"""How far ends from 40,000 random draws may be from those of a lattice, which are good to 0.01 too."""


def stratified_draws(wide: pd.DataFrame, person: str, testers: pd.Series) -> dict[str, np.ndarray]:
    """Return equally likely values of what is printed about the judge's verdicts beside a person's labels."""
    harm = wide[person].dropna().astype(int) <= 3
    read = wide.grounded[wide.grounded.notna()]
    alarms = (read.astype(int) <= 3).map({True: "alarm", False: "pass"})
    strata = recount.Strata(alarms, harm, testers)
    is_alarm = np.array([[name == "alarm"] for name in dict.fromkeys(alarms)])
    harms, sound = strata.shares * strata.hits, strata.shares * (1 - strata.hits)
    heaps = alarms.reindex(wide.index).fillna("none")
    both = wide[[person, "grounded"]].dropna()
    same = both[person] == both.grounded
    return {
        "judge_sensitivity": (harms * is_alarm).sum(axis=0) / harms.sum(axis=0),
        "judge_specificity": (sound * ~is_alarm).sum(axis=0) / sound.sum(axis=0),
        "judge_bias": (strata.shares * is_alarm).sum(axis=0) - harms.sum(axis=0),
        "corrected_rate": recount.Strata(heaps, harm, testers).rate,
        "exact_agreement": recount.Strata(read, same, testers).rate,
    }


@pytest.mark.parametrize("person", ["anna", "ben"])
def test_intervals_over_verdicts_of_a_judge(results, wide, testers, person):
    entries = [
        entry
        for entry in results["judge_validations"][0]["estimates"]
        if entry["method"].startswith("verdict-stratified") and entry["subject"]["annotators"] == [person, "grounded"]
    ]
    drawn = stratified_draws(wide, person, testers)
    for entry in entries:
        ends = recount.middle(drawn[entry["measure"].replace("relaxed", "exact")])
        assert (entry["low"], entry["high"]) == pytest.approx(ends, abs=DRAWN), entry["measure"]
    assert len(entries) == 6


def test_effect_of_length_on_a_judge(results, table, wide, testers):
    lengths = (
        table.drop_duplicates(["dialogue", "turn"])
        .groupby("dialogue")
        .response.apply(lambda texts: texts.str.len().sum())
    )
    entries = [one for one in results["judge_validations"][0]["estimates"] if one["measure"] == "length_bias"]
    assert len(entries) == 2
    for entry in entries:
        person = entry["subject"]["annotators"][0]
        harms = wide[[person, "grounded"]].dropna().astype(int) <= 3
        rows = pd.DataFrame({"error": harms.grounded.astype(int) - harms[person], "length": lengths.loc[harms.index]})
        check_interval(entry, recount.correlation(rows, testers.loc[rows.index], "spearman"))


def check_scores(entry: dict, numbers: pd.DataFrame, own: pd.Series) -> None:
    """Recount how the scores of the second annotator follow those of the first."""
    gaps = numbers.iloc[:, 1] - numbers.iloc[:, 0]
    if entry["statistic"] == "bias":
        check_interval(entry, recount.mean_of_clusters(gaps, own))
    elif entry["statistic"] == "rmse":
        square, _, high = recount.mean_of_clusters(gaps**2, own)
        factor = math.exp((high - square) / square)
        check_interval(entry, (math.sqrt(square), math.sqrt(square / factor), math.sqrt(square * factor)))
    else:
        check_interval(entry, recount.correlation(numbers, own, entry["statistic"]))


def test_scores_and_labels_over_testers(results, wide, testers):
    derived = set()
    for entry in (*results["judge_validations"][0]["estimates"], *results["estimates"]):
        measure, shared = entry["measure"], wide[entry["subject"]["annotators"]].dropna()
        own = testers.loc[shared.index]
        if measure == "score_agreement":
            check_scores(entry, shared.astype(float), own)
        elif measure == "class_f1" and entry["value"] is not None:
            first, second = (shared[name] == entry["subject"]["label"] for name in shared)
            check_interval(entry, recount.f1_interval(first, second, own))
        elif measure == "macro_f1":
            check_interval(entry, recount.macro_f1(shared, list("12345"), own))
        elif measure == "fleiss_kappa":
            check_interval(entry, recount.clustered_log_interval(shared, own, one_by_one(recount.fleiss)))
        elif measure == "judge_mean":
            check_interval(entry, recount.mean_of_clusters(shared.grounded.astype(float), own))
        elif measure == "corrected_mean":
            people = wide[entry["subject"]["corrected_by"]]
            check_interval(entry, corrected_mean(shared.grounded, people, testers))
        else:
            continue
        derived.add((measure, entry.get("statistic")))
    assert len(derived) == 10


def one_by_one(statistic: Callable[[pd.DataFrame, np.ndarray], float]) -> Callable[[pd.DataFrame], float]:
    """Return a statistic of patterns as one of dialogues."""
    return lambda rows: statistic(rows, np.ones(len(rows)))


def corrected_mean(judge: pd.Series, people: pd.Series, testers: pd.Series) -> tuple[float, float, float]:
    """Return the mean that people would give, by strata of verdicts (Fisch et al. 2024, arXiv:2406.04291)."""
    rows = pd.DataFrame({"judge": judge, "people": people.reindex(judge.index)}).astype(float)
    stratum, seen = rows.judge <= 3, rows.people.notna()
    factor = (stratum.groupby(stratum).transform("size") / seen.groupby(stratum).transform("sum")).where(seen, 0)

    def parts(values: pd.Series) -> pd.Series:
        means = stratum.map(values[seen].groupby(stratum[seen]).mean())
        return means + factor * (values.fillna(0) - means)

    plain, gain = parts(rows.people), rows.judge - parts(rows.judge)
    own = testers.loc[rows.index]
    first, second = ((part - part.mean()).groupby(own).sum() for part in (plain, gain))
    weight = min(max(-(first @ second) / (second @ second), 0), 1)
    rest, n = first + weight * second, own.nunique()
    error = math.sqrt((rest @ rest) * n / (n - 1)) / len(rows)
    reach = stats.t.ppf(0.975, testers.loc[rows.index[seen]].nunique() - 2) * error
    value = (plain + weight * gain).mean()
    return value, value - reach, value + reach


def test_rankings_by_a_judge(results, wide, testers):
    assert len(results["order_metrics"]["rankings"]) == 3
    for entry in results["order_metrics"]["rankings"]:
        columns = wide.astype(float).assign(people=wide[["anna", "ben"]].astype(float).mean(axis=1))
        shared = columns[[entry["human"], entry["annotator"]]].dropna()
        own, (people, scores) = testers.loc[shared.index], shared.to_numpy().T
        pairs = list(itertools.combinations(zip(people, scores, strict=True), 2))
        signs = [np.sign(a - b) * np.sign(c - d) for (a, c), (b, d) in pairs]
        opposed = signs.count(-1)
        for name in ("kendall", "spearman"):
            check_interval(entry[name], recount.correlation(shared, own, name))
        assert (entry["n"], entry["cin"]) == (len(shared), opposed)
        untied = [sum(a != b for (a, _), (b, _) in pairs), sum(a != b for (_, a), (_, b) in pairs)]
        ends = [
            (len(signs) - signs.count(0) - entry["kendall"][end] * math.sqrt(math.prod(untied))) / 2 / len(pairs)
            for end in ("value", "high", "low")
        ]
        check_interval(
            entry["opposed_pairs"], (ends[0], max(ends[1], 0.0), min(ends[2], 1 - signs.count(0) / len(signs)))
        )
        check_chain(entry, people, scores, own)


def check_chain(entry: dict, people: np.ndarray, scores: np.ndarray, own: pd.Series) -> None:
    """Recount the longest common chain, its bound by a Poisson tail and its place among random orders."""
    ranks, groups = (stats.rankdata(values, "dense").astype(int) - 1 for values in (scores, people))

    def common(rows: np.ndarray) -> np.ndarray:
        ordered = np.lexsort((-rows, np.broadcast_to(groups, rows.shape)), axis=1)
        return recount.chains(np.take_along_axis(rows, ordered, axis=1), strict=True)

    length, most = int(common(ranks[None, :])[0]), own.value_counts().max()

    def surplus(mean: float) -> float:
        return mean - length / most + length / most * math.log(length / most / mean) - math.log(2 / 0.05)

    low, high = optimize.brentq(surplus, 1e-12, length / most), optimize.brentq(surplus, length / most, 1e3)
    chain = entry["common_chain"]
    assert (entry["lis"], chain["value"]) == (length, length)
    assert (chain["low"], chain["high"]) == pytest.approx((max(most * low, 1), min(most * high, 5, len(people))))
    rows = recount.shuffled(scores, 4_000)
    recount.check_chance(entry["chance_lis"], common(rows), length)
    falls = sum(
        ((rows[:, [at]] > rows[:, at + 1 :]) & (groups[at] < groups[at + 1 :])).sum(axis=1)
        + ((rows[:, [at]] < rows[:, at + 1 :]) & (groups[at] > groups[at + 1 :])).sum(axis=1)
        for at in range(len(scores))
    )
    recount.check_chance(entry["chance_cin"], falls, entry["cin"])


def two_way_error(influence: pd.Series, rows: pd.DataFrame) -> float:
    """Return the error of a difference whose answers share annotators and dialogues (Cameron et al. 2011)."""

    def variance(names: list[str]) -> float:
        sums = influence.groupby([rows[name] for name in names]).sum()
        return (sums**2).sum() * len(sums) / max(len(sums) - 1, 1)

    by_dialogue, by_annotator = variance(["dialogue"]), variance(["annotator"])
    whole = by_dialogue + by_annotator - variance(["annotator", "dialogue"])
    return math.sqrt(max(whole, min(by_dialogue, by_annotator)))


def check_shift(effect: dict, rows: pd.DataFrame, values: pd.Series, is_second: pd.Series) -> None:
    """Recount counts, answers, difference of means and interval of one effect of order."""
    for side, mine in (("first", rows[~is_second]), ("second", rows[is_second])):
        assert (effect[side]["n"], effect[side]["without_value"]) == (len(mine), 0)
        printed = {label: n for label, n in effect[side]["answers"].items() if n}
        assert printed == mine.value.value_counts().to_dict()
    assert (effect["annotators"], effect["dialogues"]) == (rows.annotator.nunique(), rows.dialogue.nunique())
    means, sizes = values.groupby(is_second).transform("mean"), is_second.groupby(is_second).transform("size")
    shift = values[is_second].mean() - values[~is_second].mean()
    error = two_way_error((values - means) / sizes * np.where(is_second, 1, -1), rows)
    clusters = min(rows.annotator.nunique(), rows.dialogue.nunique())
    reach = stats.t.ppf(0.975, clusters - 1) * error
    again = (shift, max(shift - reach, -1), min(shift + reach, 1))
    assert tuple(effect["shift"][name] for name in ("value", "low", "high")) == pytest.approx(again, abs=SHARE)
    assert effect["shift"]["n_clusters"] == clusters


def sequenced_evidence() -> Evidence:
    """Return a study in which three people label 30 dialogues, each beginning elsewhere."""
    plain = labelled_evidence(lambda label: label or "1", people=("anna", "ben", "cleo"))
    seen: dict[str, int] = {}

    def in_turn(annotation: Annotation) -> Annotation:
        if annotation.unit:  # by the judge
            return annotation
        number = seen[annotation.annotator] = seen.get(annotation.annotator, 0) + 1
        sitting = (number + 10 * len(annotation.annotator)) % 30 + 1
        value = str(1 + (sitting * 7 + len(annotation.annotator)) % 4 + (sitting > 15 and sitting % 3 > 0))
        answers = (replace(annotation.answers[0], value=value),)
        return replace(annotation, shown=ShownOrder(dialogues=False), sitting=sitting, answers=answers)

    return changed(plain, study=plain.study, annotations=tuple(map(in_turn, plain.archive.annotations())))


def test_effects_of_order():
    """The table `answers` has the number of each sitting."""
    evidence = sequenced_evidence()
    results = results_document(evidence, measure_study(evidence), facts())
    exported = next(table for table in exporting.export_tables(evidence) if table.name == "answers")
    rows = pd.DataFrame(exported.rows, columns=exported.columns)
    rows = rows[rows.annotator_kind == "person"].reset_index(drop=True)
    rows["rank"] = (stats.rankdata(rows.value.astype(int)) - 0.5) / len(rows)
    effects = {effect["measured"]: effect for effect in results["order_effects"]}

    half = 2 * rows.sitting.astype(int) > rows.groupby("annotator").sitting.transform("max").astype(int)
    check_shift(effects.pop("ordinal shift"), rows, rows["rank"], half)

    (previous,) = effects.values()
    rows = rows.sort_values(["annotator", "sitting"]).reset_index(drop=True)
    by_annotator = rows.groupby("annotator")["rank"]
    before, n = by_annotator.shift(1), by_annotator.transform("size")
    others = (by_annotator.transform("sum") - rows["rank"] - before) / (n - 2)
    known = before.notna()
    assert previous["between"] == int((~known).sum())
    check_shift(previous, rows[known], (rows["rank"] - others)[known], before[known] > 0.5)


def masi(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the distance of two sets of codes (Passonneau 2006, LREC)."""
    if first == second:
        return 0.0
    shared, both = len(first & second), len(first | second)
    return 1 - shared / both * (2 / 3 if first <= second or second <= first else 1 / 3 if shared else 0)


def set_alpha(pairs: list[tuple[frozenset[str], frozenset[str]]]) -> float:
    """Return Krippendorff's alpha of two coders who gave sets, from its definition."""
    pool = list(itertools.chain.from_iterable(pairs))
    observed = np.mean([masi(*pair) for pair in pairs])
    expected = np.mean([masi(*pair) for pair in itertools.permutations(pool, 2)])
    return 1 - observed / expected


def test_codings_of_own_words():
    evidence = coded_evidence(replace(WORK, resolutions=(CONSENSUS,)))
    (found,) = results_document(evidence, measure_study(evidence), facts())["codings"]
    tables = {name: pd.DataFrame(rows, columns=columns) for name, columns, rows in exporting.tester_tables(evidence)}
    written = tables["responses"][tables["responses"].question == "open"]
    sets = tables["codings"].pivot_table(
        "code", "session", "coder", aggfunc=lambda codes: frozenset(codes) - {""}, dropna=False
    )
    twice = [tuple(pair) for pair in sets.dropna().to_numpy()]
    agreed = {session: first for (session, first, second) in sets.dropna().itertuples() if first == second}
    resolved = tables["coding_resolutions"].groupby("session").code.agg(frozenset).to_dict()
    final = agreed | resolved

    assert (found["answers"], found["coders"]) == (len(written), sets.columns.size)
    assert found["states"] == {
        "coded by one person": int(sets.isna().any(axis=1).sum()),
        "coded alike": len(agreed),
        "settled by consensus": len(resolved),
    }
    check_alike(found["alike"], [first == second for first, second in twice])
    assert found["alpha"]["value"] == pytest.approx(set_alpha(twice), abs=COEFFICIENT)
    assert [pair["answers"] for pair in found["pairs"]] == [len(twice)]
    for code in found["codes"]:
        flags = [[code["code"] in side for side in pair] for pair in twice]
        assert code["given"] == int(np.sum(flags))
        check_alike(code["alike"], [first == second for first, second in flags])
        again = krippendorff.alpha(np.array(flags, dtype=int).T, level_of_measurement="nominal")
        assert code["alpha"]["value"] == pytest.approx(again, abs=COEFFICIENT)
    for theme in found["themes"]:
        has = [theme["code"] in codes for codes in final.values()]
        check_alike(theme["share"], has)
        assert (theme["n"], theme["uncoded"]) == (len(has), len(written) - len(has))
        assert theme["bounds"] == pytest.approx([sum(has) / len(written), 1 - has.count(False) / len(written)])


def check_alike(printed: dict, flags: list[bool]) -> None:
    """Recount a printed share of answers with its interval."""
    assert (printed["count"], printed["n"]) == (sum(flags), len(flags))
    interval = recount.rate_interval(sum(flags), len(flags))
    assert (printed["low"], printed["high"]) == pytest.approx(interval, abs=SHARE)


VOTES = (
    "yes yes", "yes no no no", "no yes - -", "yes yes no", "no no", "yes yes", "no no yes", "yes yes", "yes yes",
    "no no", "yes no yes", "yes yes",
)  # fmt: skip
"""Votes of a judge on each dialogue; `-` is a vote that nobody can read."""


def mean_interval(shares: list[float]) -> tuple[float, float, float]:
    """Return a mean of fractions and its exact interval for as many units as it is worth (Korn and Graubard 1998)."""
    value, n = np.mean(shares), len(shares)
    factor = stats.norm.ppf(0.975) / stats.t.ppf(0.975, n - 1)
    worth = value * (1 - value) / stats.sem(shares) ** 2 * factor**2
    count = value * worth
    return value, stats.beta.ppf(0.025, count, worth - count + 1), stats.beta.ppf(0.975, count + 1, worth - count)


def test_votes_of_a_judge():
    study = judged(tuple(f"d{number}" for number in range(1, len(VOTES) + 1)))
    for at, votes in enumerate(VOTES):
        mark(study, at, votes=cast(*(None if vote == "-" else vote for vote in votes.split())))
    evidence = study.evidence()
    found = results_document(evidence, measure_study(evidence), facts())["judge_diagnostics"][0]["votes"]
    rows = pd.DataFrame(dialogue_rows(evidence)).set_index("dialogue")
    cast_votes = rows.votes.str.split(" | ", regex=False)
    votes = cast_votes.map(lambda values: [value for value in values if value in {"yes", "no"}])
    counts = votes.map(lambda values: (values.count("yes"), values.count("no")))

    assert (found["dialogues"], found["cast"]) == (len(rows), cast_votes.map(len).sum())
    assert found["split"] == list(counts.index[counts.map(all)])
    assert found["tied"] == list(rows.index[rows.label.isna()])
    flips = [yes * no / math.comb(yes + no, 2) for yes, no in counts]
    singles = [no / (yes + no) for yes, no in counts]
    for name, shares in (("flip_rate", flips), ("rate_by_single_votes", singles)):
        printed = tuple(found[name][key] for key in ("value", "low", "high"))
        assert printed == pytest.approx(mean_interval(shares), abs=SHARE)
    majority = rows.label.dropna() == "no"
    again = (majority.mean(), *recount.rate_interval(int(majority.sum()), len(majority)))
    printed = tuple(found["rate_by_majorities"][key] for key in ("value", "low", "high"))
    assert printed == pytest.approx(again, abs=SHARE)
    coefficient = krippendorff.alpha(value_counts=np.array(counts.tolist()), level_of_measurement="nominal")
    assert found["retest_alpha"]["value"] == pytest.approx(coefficient, abs=COEFFICIENT)


def test_failures_and_progress(results, table):
    first = table.drop_duplicates("dialogue")
    failed = first[first.failure.notna()]
    assert results["run"]["planned_dialogues"] == len(first)
    assert results["run"]["completed_dialogues"] == int(first.turn.notna().sum())
    assert {(one["dialogue"], one["application"], one["kind"], one["party"]) for one in results["failures"]} == set(
        failed[["dialogue", "application", "failure", "failure_source"]].itertuples(index=False, name=None)
    )
    assert len(results["failures"]) == len(failed) == 2
