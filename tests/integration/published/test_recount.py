"""Every number of three reports, recomputed from the exported table by other libraries."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import metrics

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, schema_named, words
from tests.fakes.responses import AFTER, BOTH, STUDY, evidence
from tests.fakes.terminal import theodolite
from tests.golden.trees.rows import rows
from tests.integration.published import recount
from tests.integration.published import test_recount_judges as judges
from tests.integration.published import test_recount_people as people
from tests.integration.published.recount import COEFFICIENT, P_VALUE, SHARE, Recount
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Construct
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting import tables as exported
from theodolite.reporting.page.report import views_of
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.results.document import results_document

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

SHIPPED = Path(str(resources.files("theodolite.resources")))

RUBRIC = """\
study: rubric
applications:
  them: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response, application: system}
guidelines:
  overall: {ask: "How satisfied?", scale: 1-4, orientation: lower_is_worse, defect: "<= 2"}
  natural: {ask: "How natural?", scale: 1-4, orientation: lower_is_worse, defect: "<= 2"}
annotators:
  on-overall: {who: person, guideline: overall, column: Q0}
  on-natural: {who: person, guideline: natural, column: Q1}
tree: satisfaction
typology:
  users: {by: half}
  applications: TYPES
"""
TREE = """\
tree: satisfaction
nodes:
  worst: {summary: max, of: [overall, natural]}
  whole: {summary: mean, of: {overall: 2, natural: 1}}
  both: {summary: aggregation, of: [worst, whole]}
  overall: {summary: mean, of: overall risk}
  natural: {summary: median, of: natural risk}
  overall risk: {transform: reverse, of: overall answers}
  natural risk: {transform: reverse, of: natural answers}
  overall answers: {answers: overall.score}
  natural answers: {answers: natural.score}
"""


class Study:
    """A study that was run and exported, with its results file."""

    def __init__(self, folder: Path, file: str = "study.yaml", *flags: str) -> None:
        ended = theodolite("run", folder / file, *flags)
        assert ended.code == 0, ended.said
        assert theodolite("export", folder / file, "--format", "jsonl", "--out", folder / "all.jsonl").code == 0
        self.folder = folder
        self.results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        self.frame = pd.read_json(folder / "all.jsonl", lines=True, dtype={"label": str, "case": str})
        self.recount = Recount(self.frame, self._names())

    def _names(self) -> dict[str, str]:
        """Return the people's numbers in the table, found by their order, which both files share."""
        kinds = self.frame.dropna(subset=["judge"]).drop_duplicates(["judge", "guideline"])
        people = [row for row in kinds.itertuples() if row.judge_kind == "person"]
        named = [one["name"] for one in self.results["instruments"]["annotators"] if one["kind"] == "person"]
        return dict(zip(named, (row.judge for row in people), strict=True))

    def estimates(self, measure: str) -> list[dict]:
        return [entry for entry in self.results["estimates"] if entry["measure"] == measure]


@pytest.fixture(scope="module", autouse=True)
def plain_surroundings():
    with pytest.MonkeyPatch.context() as surroundings:
        surroundings.delenv("DATABASE_URL", raising=False)
        yield


@pytest.fixture(scope="module")
def xstest(tmp_path_factory) -> Study:
    folder = tmp_path_factory.mktemp("demo") / "xstest-replay"
    shutil.copytree(SHIPPED / "demo" / "xstest-replay", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Study(folder)


@pytest.fixture(scope="module")
def areas(tmp_path_factory) -> Study:
    folder = tmp_path_factory.mktemp("examples") / "guarded-bot"
    shutil.copytree(SHIPPED / "examples" / "guarded-bot", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return Study(folder, "harm-areas.yaml", "--allow-code")


@pytest.fixture(scope="module")
def rubric(tmp_path_factory) -> Study:
    folder = tmp_path_factory.mktemp("rubric")
    (folder / "trees").mkdir()
    (folder / "trees" / "satisfaction.yaml").write_text(TREE)
    first: dict[str, dict[str, str]] = {}
    for row in rows("llm_rubric"):
        first.setdefault(row["dialogue"], row)
    known = [row for row in first.values() if {row["Q0"], row["Q1"]} <= set("1234")]
    table = pd.DataFrame(known)[["dialogue", "system", "Q0", "Q1"]].rename(columns={"dialogue": "id"})
    table["prompt"], table["response"], table["system"] = "p", "r", "s" + table["system"]
    table["half"] = ["even" if place % 2 == 0 else "odd" for place in range(len(table))]
    systems = sorted(set(table["system"]))
    types = {"early": systems[:1], "late": systems[1:]}
    (folder / "study.yaml").write_text(RUBRIC.replace("TYPES", json.dumps(types)))
    table.to_csv(folder / "rows.csv", index=False)
    return Study(folder)


@pytest.fixture(params=["xstest", "areas", "rubric"])
def study(request) -> Study:
    return request.getfixturevalue(request.param)


def defects(study: Study, entry: dict) -> pd.Series:
    """Return whether each labelled dialogue of a rate has the defect, by the condition as the report prints it."""
    subject = entry["subject"]
    labels = study.recount.labels(subject, subject["annotators"][0])
    _, sign, value = subject["condition"].split(" ", 2)
    numbers = {"<=": np.less_equal, ">=": np.greater_equal, "<": np.less, ">": np.greater}
    if sign in numbers:
        return numbers[sign](labels.astype(float), float(value))
    return labels.isin(value.split(", ")) if sign == "in" else labels == value


def test_rates_and_their_intervals(study):
    derived = 0
    for entry in study.estimates("defect_rate"):
        found = defects(study, entry)
        assert (entry["count"], entry["n"]) == (int(found.sum()), len(found)), entry["subject"]
        assert entry["value"] == pytest.approx(found.mean(), abs=1e-9)
        assert entry["method"] in {"wilson", "beta-binomial"}
        interval = study.recount.interval(found, entry["method"])
        assert (entry["low"], entry["high"]) == pytest.approx(interval, abs=SHARE)
        if entry["design_effect"] is not None:
            clusters = study.recount.clusters(found)
            assert entry["n_clusters"] == len(clusters)
            assert entry["design_effect"] == pytest.approx(recount.clustered_interval(clusters)[2], abs=COEFFICIENT)
        derived += 1
    assert derived >= 4


def test_bounds_where_nothing_was_found(study):
    for entry in study.estimates("zero_defect_bound"):
        found = defects(study, entry)
        assert not found.any()
        if entry["method"] == "exact, one-sided":
            again = recount.one_sided_bound(entry["n"], entry["confidence"])
        else:
            sizes = sorted(n for _, n in study.recount.clusters(found))
            again = recount.none_bound(tuple(sizes), 1 - entry["confidence"])
        assert entry["high"] == pytest.approx(again, abs=SHARE)


def test_completeness(study):
    for account in study.results["dispositions"]:
        mine = study.frame[study.frame.guideline == account["guideline"]]
        names = [study.recount.names.get(name, name) for name in account["annotators"]]
        labelled = mine[mine.judge.isin(names) & (mine.outcome == "answered")]
        by_all = labelled.groupby("dialogue").judge.nunique() == len(names)
        assert account["labelled"] == int(by_all.sum())
        assert account["planned"] == mine.dialogue.nunique()


def test_agreement_of_two(xstest):
    labels = ["full compliance", "partial refusal", "full refusal"]
    for entry in (*xstest.estimates("cohen_kappa"), *xstest.estimates("macro_f1")):
        shared = xstest.recount.shared(entry["subject"])
        assert entry["n"] == len(shared)
        if entry["measure"] == "cohen_kappa":
            again = metrics.cohen_kappa_score(shared.iloc[:, 0], shared.iloc[:, 1], labels=labels)
            assert entry["value"] == pytest.approx(again, abs=COEFFICIENT)
        else:
            again = recount.macro_f1(shared, labels)
            assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(again, abs=COEFFICIENT)
            score = metrics.f1_score(shared.iloc[:, 0], shared.iloc[:, 1], labels=labels, average="macro")
            assert entry["value"] == pytest.approx(score)


def test_intervals_of_kappa(xstest):
    for entry in xstest.estimates("cohen_kappa"):
        again = recount.log_interval(xstest.recount.shared(entry["subject"]), recount.kappa)
        assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(again, abs=COEFFICIENT)


@pytest.mark.parametrize(
    ("measure", "statistic"),
    [("fleiss_kappa", recount.fleiss), ("krippendorff_alpha", recount.alpha)],
    ids=["fleiss_kappa", "krippendorff_alpha"],
)
def test_agreement_of_several(xstest, measure, statistic):
    entries = xstest.estimates(measure)

    assert len(entries) == 5
    for entry in entries:
        again = recount.log_interval(xstest.recount.shared(entry["subject"]), statistic)
        assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(again, abs=COEFFICIENT)


def test_exact_agreement(xstest):
    for entry in xstest.estimates("exact_agreement"):
        shared = xstest.recount.shared(entry["subject"])
        equal = int(shared.eq(shared.iloc[:, 0], axis=0).all(axis=1).sum())
        assert (entry["count"], entry["n"]) == (equal, len(shared))
        interval = recount.rate_interval(equal, len(shared))
        assert (entry["low"], entry["high"]) == pytest.approx(interval, abs=SHARE)


@pytest.mark.parametrize("measure", ["class_precision", "class_recall", "class_f1"])
def test_numbers_of_each_label(xstest, measure):
    for entry in xstest.estimates(measure):
        shared = xstest.recount.shared(entry["subject"])
        truth, given = (shared.iloc[:, at] == entry["subject"]["label"] for at in (0, 1))
        both, whole = int((truth & given).sum()), int((given if measure == "class_precision" else truth).sum())
        if measure == "class_f1":
            again = recount.f1_interval(truth, given)
            assert (entry["value"], entry["low"], entry["high"]) == pytest.approx(again, abs=COEFFICIENT)
        elif entry["value"] is None:
            assert whole == 0
        else:
            assert (entry["count"], entry["n"]) == (both, whole)
            interval = recount.rate_interval(both, whole)
            assert (entry["low"], entry["high"]) == pytest.approx(interval, abs=SHARE)


def test_confusion_matrices(xstest):
    assert xstest.results["confusions"]
    for entry in xstest.results["confusions"]:
        subject = {"application": entry["application"], "guideline": entry["guideline"]}
        columns = {side: xstest.recount.labels(subject, entry[side]) for side in ("first", "second")}
        shared = pd.DataFrame(columns).dropna()
        counted = pd.crosstab(shared["first"], shared["second"])
        readable = [name for name in entry["categories"] if name != "unparseable"]
        again = counted.reindex(index=readable, columns=readable, fill_value=0).to_numpy()
        at = [entry["categories"].index(name) for name in readable]
        assert (np.array(entry["counts"])[np.ix_(at, at)] == again).all()


def check_comparison(study: Study, comparison: dict) -> None:
    """Recount all rates of two applications; p-values of one annotator are one family."""
    families = defaultdict(list)
    for rate in comparison["rates"]:
        sides = []
        for application in (comparison["first"], comparison["second"]):
            found = defects(study, {"subject": {**rate["subject"], "application": application}})
            sides.append(found.rename(lambda name: name.split("/", 1)[1]))
        shared = pd.DataFrame({"first": sides[0], "second": sides[1]}).dropna().astype(bool)
        again = recount.paired_difference(shared["first"], shared["second"])
        families[rate["subject"]["annotators"][0]].append((again["p_value"], rate["p_adjusted"]))
        n = rate["pairs"] if "pairs" in rate else rate["n"]
        assert (n, len(rate["fixed"]), len(rate["regressed"])) == (
            again["n"],
            again["fixed"],
            again["regressed"],
        )
        printed = [rate["difference"][name] for name in ("value", "low", "high")]
        assert printed == pytest.approx([again[name] for name in ("value", "low", "high")], abs=SHARE)
        assert rate["p_value"] == pytest.approx(again["p_value"], abs=P_VALUE)
    for family in families.values():
        adjusted = recount.holm([p_value for p_value, _ in family])
        assert [printed for _, printed in family] == pytest.approx(adjusted, abs=P_VALUE)


def test_comparisons(xstest):
    ended = theodolite("compare", "llama2orig", "gpt4", "--study", xstest.folder, "--out", xstest.folder, "--json")
    (comparison,) = ended.found["comparisons"]
    check_comparison(xstest, {**comparison, "first": "llama2orig", "second": "gpt4"})


def test_comparisons_of_the_report(xstest):
    assert len(xstest.results["comparisons"]) == 4
    for comparison in xstest.results["comparisons"]:
        check_comparison(xstest, comparison)


def test_gaps_between_groups(xstest):
    assert len(xstest.results["gaps"]) == 15
    for gap in xstest.results["gaps"]:
        found = {}
        for rate in gap["rates"]:
            group = {"name": gap["group"], "value": rate["value"]}
            labelled = defects(xstest, {"subject": {**gap["subject"], "group": group}})
            found[rate["value"]] = (int(labelled.sum()), len(labelled))
        assert {rate["value"]: rate["n"] for rate in gap["rates"]} == {name: n for name, (_, n) in found.items()}
        enough = [counts for counts in found.values() if counts[1] >= 10]
        printed = [gap["gap"][name] for name in ("value", "low", "high")]
        assert printed == pytest.approx(recount.widest_gap(enough), abs=SHARE)


def test_types_of_users_and_applications(rubric):
    rates = rubric.results["typology"]
    assert {(one["user_type"], one["application_type"]) for one in rates} == {
        (user, kind) for user in ("even", "odd") for kind in ("early", "late")
    }
    for one in rates:
        found = pd.concat(
            [
                defects(
                    rubric,
                    {
                        "subject": {
                            **one["subject"],
                            "application": application,
                            "group": {"name": "half", "value": one["user_type"]},
                        }
                    },
                )
                for application in one["applications"]
            ]
        )
        assert (one["rate"]["count"], one["rate"]["n"], one["users"]) == (int(found.sum()), len(found), len(found))
        interval = recount.rate_interval(int(found.sum()), len(found))
        assert (one["rate"]["low"], one["rate"]["high"]) == pytest.approx(interval, abs=SHARE)


def test_severity_tables(rubric):
    tables = recount.tables_of((rubric.folder / "report.html").read_text(encoding="utf-8"))
    drawn = {name: table for name, table in tables.items() if name.startswith("Severity: ")}
    assert len(drawn) == 2
    for name, table in drawn.items():
        guideline = name.removeprefix("Severity: ").partition(",")[0]
        mine = rubric.frame[(rubric.frame.guideline == guideline) & (rubric.frame.outcome == "answered")]
        counted = pd.crosstab(mine.application, mine.label)
        for application, row in table.iterrows():
            again = {label: int(counted.loc[application].get(label, 0)) for label in "1234"}
            assert {label: int(row[label].strip()) for label in "1234"} == again


def test_votes(xstest):
    tables = recount.tables_of((xstest.folder / "report.html").read_text(encoding="utf-8"))
    drawn = {name: table for name, table in tables.items() if name.startswith("Votes: ")}
    raters = [one["name"] for one in xstest.results["instruments"]["annotators"] if one["kind"] == "person"]
    rules = [one["subject"] for one in xstest.estimates("defect_rate") if not one["subject"].get("group")]
    by_rule = {subject["rule"]: subject for subject in rules}
    assert len(drawn) == len(by_rule)
    for table, subject in zip(drawn.values(), by_rule.values(), strict=True):
        for application, row in table.iterrows():
            of = {**subject, "application": application}
            both = pd.DataFrame(
                {name: defects(xstest, {"subject": {**of, "annotators": [name]}}) for name in raters}
            ).dropna()
            votes = both.astype(bool).sum(axis=1).value_counts()
            assert [int(row[str(n)].strip()) for n in range(3)] == [int(votes.get(n, 0)) for n in range(3)]


@pytest.mark.parametrize("name", ["xstest", "areas"])
def test_label_distributions(request, name):
    found = request.getfixturevalue(name)
    page = (found.folder / "report.html").read_text(encoding="utf-8")
    names = {"final labels": "reference", "signs of the test packet": None}
    articles = re.findall(r"<h3>Label distribution</h3>(.*?)</article>", page, re.DOTALL)
    assert articles
    for article in articles:
        by, guideline = re.search(r" By ([^.]+), guideline ([^.]+)\.</p>", article).groups()
        for row in article.split('class="spread-row"')[1:]:
            application = re.search(r'class="spread-name">.*?</span>([^<]+)</span>', row)[1]
            parts = re.findall(r"</span>([^<]+): (\d+) of (\d+)(?: \(([\d.]+)%\))?</button>", row)
            judge = names[by] or f"signs-{guideline}"
            labels = found.recount.labels({"application": application, "guideline": guideline}, judge)
            assert {label: int(count) for label, count, _, _ in parts} == labels.value_counts().to_dict()
            for _, count, n, share in parts:
                assert int(n) == len(labels)
                assert not share or float(share) == pytest.approx(100 * int(count) / int(n), abs=0.05)


def test_models_of_raters(xstest):
    entries = xstest.results["annotator_models"]
    scale = ["full compliance", "partial refusal", "full refusal"]
    assert len(entries) == 5
    for entry in entries:
        names = [one["annotator"] for one in entry["annotators"]]
        labels = {name: xstest.recount.labels({"application": entry["application"]}, name) for name in names}
        given = pd.DataFrame(labels).apply(lambda column: pd.Categorical(column, scale).codes.astype(int))
        assert entry["dialogues"] == len(given)
        fit, looks = recount.dawid_skene(given.to_numpy(), 3), recount.mace(given.to_numpy(), 3)
        for at, one in enumerate(entry["annotators"]):
            assert one["labels"] == len(labels[one["annotator"]])
            assert (one["fit"], one["looks"]) == pytest.approx((fit[at], looks[at]), abs=COEFFICIENT)


def test_answers_of_testers():
    """From the exported table of responses, where each tester met each application once."""
    questions = tuple(
        replace(one, construct=Construct.ACT) if one.name == "bad" else one for one in AFTER.instrument.questions
    )
    after = replace(AFTER, instrument=replace(AFTER.instrument, questions=questions))
    told = [replace(one, instrument_version=version_of(after)) for one in BOTH]
    known = evidence(*told, of=replace(STUDY, questionnaires=(after,)))
    _, columns, rows = next(iter(exported.tester_tables(known)))
    frame = pd.DataFrame(rows, columns=columns)
    results = results_document(known, measure_study(known), facts())
    answers = [*results["responses"][0]["answers"], *results["constructs"]]

    rated = [one for one in answers if one["question"] == "bad"]
    assert len(rated) == 4
    for one in rated:
        mine = frame[(frame.question == "bad") & (frame.application == one["application"])]
        counts = mine.value.value_counts()
        assert {label: n for label, n in one["counts"].items() if n} == counts.to_dict()
        count = int(mine.value.isin(one["top_labels"]).sum())
        interval = recount.rate_interval(count, len(mine))
        assert (one["n"], one["top"]["value"]) == (len(mine), count / len(mine))
        assert (one["top"]["low"], one["top"]["high"]) == pytest.approx(interval, abs=SHARE)
        middle = np.quantile(mine.value.astype(int), [0.25, 0.5, 0.75], method="inverted_cdf")
        assert one["quartiles"] == [str(value) for value in middle]


def test_every_part_of_results_and_report_is_recounted_or_listed_with_a_reason():
    shown = set(views_of(subject_of(evidence_named("live"), findings_named("live"), facts(), words())))

    assert set(recount.RESULTS) == set(schema_named("results")["properties"])
    assert set(recount.VIEWS) == shown
    for reason in (*recount.RESULTS.values(), *recount.VIEWS.values()):
        assert not reason.startswith(recount.OTHER) or are_tests(reason.removeprefix(recount.OTHER))


def are_tests(names: str) -> bool:
    modules = (sys.modules[__name__], judges, people)
    return all(any(callable(vars(module).get(name)) for module in modules) for name in names.split(", "))


def test_every_measure_of_a_study_is_recounted(study):
    certified = results_document(evidence_named("certified"), findings_named("certified"), facts())
    met = {entry["measure"] for entry in (*study.results["estimates"], *certified["estimates"])}

    assert met <= set(recount.MEASURES)
    assert all(map(are_tests, recount.MEASURES.values()))


def check_windows(entry: dict, scores: list[float]) -> None:
    """Recount the metrics of every window of eight scores."""
    windows = np.lib.stride_tricks.sliding_window_view(scores, entry["window"])
    ranks = np.array([stats.rankdata(window, "dense") for window in windows]).astype(int) - 1
    inversions = [sum(first > second for first, second in combinations(window, 2)) for window in windows]
    assert entry["windows"]["mean"] == pytest.approx(windows.mean(axis=1))
    assert entry["windows"]["pen_normalized"] == pytest.approx(recount.entropies(ranks) / math.log(6))
    assert entry["windows"]["cin"] == inversions
    assert entry["windows"]["lis"] == recount.chains(ranks, strict=True).tolist()
    assert entry["windows"]["lnds"] == recount.chains(ranks, strict=False).tolist()


@lru_cache
def in_random_order(scores: tuple[float, ...]) -> dict[str, np.ndarray]:
    """Return the metrics of scores in all orders if there are eight, else in 4,000 random ones."""
    rows = recount.shuffled(scores, 4_000)
    if len(scores) <= 8:
        rows = np.array(list(permutations(stats.rankdata(scores, "dense").astype(int) - 1)))
    chain, slack = recount.chains(rows, strict=True), recount.chains(rows, strict=False)
    inversions = sum((rows[:, [at]] > rows[:, at + 1 :]).sum(axis=1) for at in range(len(scores)))
    return {"pen": recount.entropies(rows), "cin": inversions, "lis": chain, "lnds": slack}


def check_chances(entry: dict, scores: tuple[float, ...]) -> None:
    """Recount where each metric is among random orders of the same scores."""
    for name, values in in_random_order(tuple(sorted(scores))).items():
        chance, observed = entry[name]["chance"], entry[name]["value"]
        if chance["method"].startswith("Mann-Kendall"):
            mean, sd = recount.trend(scores)
            assert (chance["mean"], chance["sd"]) == pytest.approx((mean, sd))
            tails = stats.norm.cdf((observed + 0.5 - mean) / sd), stats.norm.sf((observed - 0.5 - mean) / sd)
            assert (chance["p_low"], chance["p_high"]) == pytest.approx(tails, abs=P_VALUE)
        elif "all orders" in chance["method"]:
            tails = (values <= observed + 1e-9).mean(), (values >= observed - 1e-9).mean()
            again = (values.mean(), values.std(), *tails)
            assert tuple(chance[key] for key in ("mean", "sd", "p_low", "p_high")) == pytest.approx(again)
        elif chance["undefined_reason"] is None:
            recount.check_chance(chance, values, observed)


def test_order_metrics(study):
    derived = 0
    for entry in study.results["order_metrics"]["sequences"]:
        subject = {name: entry[name] for name in ("application", "guideline", "level", "tester_type")}
        scores = study.recount.labels(subject, entry["annotator"]).astype(float).tolist()
        assert (entry["n"], entry["mean"]) == (len(scores), pytest.approx(np.mean(scores)))
        if entry["undefined_reason"]:
            continue
        again = recount.order_metrics(scores)
        assert {name: entry[name]["value"] for name in again} == pytest.approx(again, abs=COEFFICIENT)
        assert entry["pen"]["normalized"] == pytest.approx(again["pen"] / math.log(6), abs=COEFFICIENT)
        assert entry["pen"]["weak_ties"] == pytest.approx(recount.weak_entropy(scores), abs=COEFFICIENT)
        check_windows(entry, scores)
        check_chances(entry, tuple(scores))
        derived += 1
    assert derived or study.results["study"]["name"] != "rubric"


def test_successes_of_strategies(areas):
    frame = areas.frame[areas.frame.level == "red teaming"].drop_duplicates("dialogue")
    assert areas.results["strategies"]
    for entry in areas.results["strategies"]:
        mine = frame[(frame.scenario == entry["scenario"]) & (frame.application == entry["application"])]
        tried = mine[mine.case.str.startswith(f"{entry['strategy']}/")]
        assert entry["tries"] == len(tried)
        success = entry["success"]
        interval = recount.rate_interval(success["count"], len(tried))
        assert (success["low"], success["high"]) == pytest.approx(interval, abs=SHARE)


def flags_of(study: Study, scenario: str, rule: str) -> pd.DataFrame:
    """Return one row for each labelled dialogue of a scenario with its verdict by the rule of a guideline."""
    frame = study.frame
    mine = frame[(frame.scenario == scenario) & (frame.guideline == rule.partition(".")[0])]
    return mine[mine.outcome == "answered"].drop_duplicates("dialogue").set_index("dialogue")


def check_share(study: Study, printed: dict, found: pd.Series) -> None:
    """Recount a printed share of dialogues, its n and its interval."""
    assert (printed["n"], printed["value"]) == (len(found), pytest.approx(found.mean()))
    interval = study.recount.interval(found, printed["method"])
    assert (printed["low"], printed["high"]) == pytest.approx(interval, abs=SHARE)


def test_risks(areas):
    scenarios = {proxy["scenario"]: proxy["rule"] for proxy in areas.results["proxies"]}
    scenario_of = areas.frame.drop_duplicates("dialogue").set_index("dialogue").scenario
    looked_for = {
        entry["risk"]: scenario_of[record["dialogue"]]
        for entry in areas.results["risks"]
        for record in entry["materialised"]
    }
    assert len(areas.results["risks"]) == 81
    for entry in areas.results["risks"]:
        scenario = looked_for[entry["risk"]]
        known = flags_of(areas, scenario, scenarios[scenario])
        known = known[(known.application == entry["application"]) & (known.level == entry["level"])]
        found = known.defect.astype(bool)
        assert (entry["n"], entry["undecided"], entry["dismissed"]) == (len(found), 0, 0)
        assert {record["dialogue"] for record in entry["materialised"]} == set(found.index[found])
        assert entry["impact"]["materialised"] == len(entry["materialised"]) == int(found.sum())
        check_share(areas, entry["impact"]["likelihood"], found)


def check_apart(apart: dict, matched: pd.DataFrame) -> None:
    """Recount whether applications differ, from sets of dialogues of the same tester with each application."""
    own_draws = 5_000
    assert apart["n"] == len(matched)
    assert apart["effect"] == pytest.approx(np.ptp(matched.mean()), abs=SHARE)
    testers = [case.partition("/")[0] if level == "red teaming" else case for level, case in matched.index]
    assert apart["testers"] == len(set(testers))
    again = recount.matched_p(matched.to_numpy(), testers, own_draws)
    assert abs(apart["p_value"] - again) <= recount.near(again, 1_999, own_draws)


def test_proxies(areas):
    proxies = areas.results["proxies"]
    assert len(proxies) == 14
    for proxy in proxies:
        known = flags_of(areas, proxy["scenario"], proxy["rule"])
        met = areas.frame[areas.frame.scenario == proxy["scenario"]]
        assert proxy["planned"] == proxy["completed"] == met.dialogue.nunique()
        assert proxy["labelled"] == len(known)
        shares = defaultdict(dict)
        for rate in proxy["rates"]:
            mine = known[(known.application == rate["application"]) & (known.level == rate["level"])]
            found = mine.defect.astype(bool)
            check_share(areas, rate["defect"], found)
            shares[rate["level"]][rate["application"]] = found.mean()
        for order in proxy["orders"]:
            first, second = (pd.Series(shares[level]) for level in order["levels"])
            signs = [(first[a] - first[b]) * (second[a] - second[b]) for a, b in combinations(first.index, 2)]
            again = (sum(sign > 0 for sign in signs), sum(sign < 0 for sign in signs), signs.count(0))
            assert (order["alike"], order["opposed"], order["tied"]) == again
        matched = known.assign(defect=known.defect.astype(bool)).pivot_table(
            "defect", ["level", "case"], "application", aggfunc="first"
        )
        matched = matched.dropna().astype(float)
        check_apart(proxy["apart"], matched)
    adjusted = recount.holm([proxy["apart"]["p_value"] for proxy in proxies])
    assert [proxy["apart"]["adjusted_p_value"] for proxy in proxies] == pytest.approx(adjusted, abs=P_VALUE)


def test_nodes_of_a_tree(rubric):
    (tree,) = rubric.results["trees"]
    assert len(tree["applications"]) > 1
    for application in tree["applications"]:
        subject = {"application": application["application"]}
        reversed_answers = {
            name: 5 - rubric.recount.labels({**subject, "guideline": name}, f"on-{name}").astype(float)
            for name in ("overall", "natural")
        }
        overall, natural = reversed_answers["overall"].mean(), reversed_answers["natural"].median()
        again = {
            "overall": overall,
            "natural": natural,
            "worst": max(overall, natural),
            "whole": (2 * overall + natural) / 3,
        }
        nodes = {node["node"]: node for node in application["nodes"]}
        assert {name: nodes[name]["value"] for name in again} == pytest.approx(again, abs=COEFFICIENT)
        assert {nodes[name]["n"] for name in ("overall", "natural")} == {len(reversed_answers["overall"])}
        check_intervals_of_nodes(nodes, {name: values.to_numpy() for name, values in reversed_answers.items()})


def check_intervals_of_nodes(nodes: dict[str, dict], answers: dict[str, np.ndarray]) -> None:
    """Recount the intervals of the nodes of `TREE` from 20,000 samples of dialogues, drawn with replacement.

    The report draws 1,000 others, so its end lies between the quantiles of ours that are four standard errors of a
    share of 1,000 off; nodes above are computed from the printed ends of nodes below.
    """
    sizes = len(answers["overall"]), len(answers["natural"])
    drawn = np.random.default_rng(20).integers(sizes[0], size=(20_000, sizes[0]))
    sampled = {
        "overall": answers["overall"][drawn].mean(axis=1),
        "natural": np.median(answers["natural"][drawn], axis=1),
    }
    for name, values in sampled.items():
        for end, tail in (("low", 0.025), ("high", 0.975)):
            off = 4 * math.sqrt(tail * (1 - tail) / 1_000)
            low, high = np.quantile(values, [max(tail - off, 0), min(tail + off, 1)])
            assert low - 1e-9 <= nodes[name][end] <= high + 1e-9, (name, end)
    for end, tail in (("low", (1 - 0.95**0.5) / 2), ("high", (1 + 0.95**0.5) / 2)):
        off = 4 * math.sqrt(tail * (1 - tail) / 1_000)
        ends = [np.quantile(values, [max(tail - off, 0), min(tail + off, 1)]) for values in sampled.values()]
        lowest, highest = np.max(ends, axis=0)
        assert lowest - 1e-9 <= nodes["worst"][end] <= highest + 1e-9
    together = pd.DataFrame(sampled).corr().iloc[0, 1]
    alike = 0.0 if np.isnan(together) else max(together, 0.0)
    for end in ("low", "high"):
        first, second = (abs(nodes[name][end] - nodes[name]["value"]) for name in ("overall", "natural"))
        reach = math.sqrt((2 * first) ** 2 + second**2 + 4 * alike * first * second) / 3
        assert abs(nodes["whole"][end] - nodes["whole"]["value"]) == pytest.approx(reach, abs=2 * COEFFICIENT)
