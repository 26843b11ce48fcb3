"""Numbers about people, sessions and costs, recomputed from the exported tables by other libraries."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.fakes.evidence import facts
from tests.fakes.evidence_variants import OLD, YOUNG, grouped_evidence
from tests.fakes.report import called_evidence
from tests.fakes.responses import AFTER, STUDY, evidence, response
from tests.integration.published import recount
from tests.integration.published.recount import COEFFICIENT, P_VALUE, SHARE
from theodolite.domain.choices import Identification
from theodolite.domain.dialogue import Level
from theodolite.domain.event_record import BlindingGuess, EventRecord, GuessedThing, Tombstone, Withdrawal
from theodolite.domain.evidence import Evidence
from theodolite.domain.instrument import Condition, Operator
from theodolite.domain.run import Spending, SpendingPart, UnitKind
from theodolite.domain.session import Session, SessionClock, SessionState
from theodolite.domain.study_parts import Risk
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.exporting.dialogue_rows import dialogue_rows
from theodolite.reporting.exporting.tables import export_tables
from theodolite.reporting.queries.cases import pseudonyms
from theodolite.reporting.results.document import results_document

pytestmark = pytest.mark.integration


def tables_of(of: Evidence) -> dict[str, pd.DataFrame]:
    """Return the exported tables by name."""
    return {table.name: pd.DataFrame(list(table.rows), columns=table.columns) for table in export_tables(of)}


def results_of(of: Evidence) -> dict:
    return results_document(of, measure_study(of), facts())


BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
DONE = (True, True, False, None, True, False, True, True, False, True, None, True)


def session(number: int, **facts: object) -> Session:
    """Return one of twelve sessions: four people with three each, on two applications and two levels."""
    minutes = timedelta(minutes=4 + 3 * number)
    known = {
        "key": f"{number:064x}",
        "study": STUDY.name,
        "run": "r",
        "participant": f"person {number % 4}",
        "level": Level.RED_TEAMING if number < 6 else Level.FIELD_TESTING,
        "scenario": "s",
        "scenario_version": "v",
        "application": ("blue", "green")[number % 2],
        "application_version": "v",
        "slot": number,
        "place": 0,
        "study_version": "v",
        "state": SessionState.COMPLETE,
        "clock": SessionClock(started=BEGIN, ended=BEGIN + minutes, stood_s=30.0),
        "task_done": DONE[number],
        "language": "de" if number % 3 else "en",
    }
    return Session(**{**known, **facts})


@pytest.fixture(scope="module")
def people() -> Evidence:
    """Return a study with sessions, guesses and withdrawals."""
    sessions = [session(number) for number in range(12)]
    sessions[5] = session(5, state=SessionState.WITHDRAWN, task_done=None)
    sessions[11] = session(11, state=SessionState.ACTIVE, clock=SessionClock(started=BEGIN))
    guesses = [
        BlindingGuess(session=f"{number:064x}", about=about, guess=guess, options=options, at=BEGIN)
        for number in range(11)
        if number != 5
        for about, guess, options in (
            (GuessedThing.APPLICATION, ("blue", "green", "")[number % 3], ("blue", "green")),
            (GuessedThing.LEVEL, ("red teaming", "field testing")[number % 2], tuple(level.value for level in Level)),
        )
    ]
    record = EventRecord(
        sessions=tuple(sessions),
        turns={one.key: (3 + at, at % 3) for at, one in enumerate(sessions)},
        dialogues={one.key: 1 + at % 2 for at, one in enumerate(sessions)},
        guesses=tuple(guesses),
        tombstones=tuple(
            Tombstone(study="s", kind=kind, at=BEGIN, sessions=n, dialogues=2 * n, answers=5 * n)
            for n, kind in enumerate((Withdrawal.REMOVE, Withdrawal.REMOVE, *Withdrawal), start=1)
        ),
    )
    return replace(evidence(), event=record, sittings=tuple(sessions[:11]))


@pytest.fixture(scope="module")
def tables(people) -> dict[str, pd.DataFrame]:
    return tables_of(people)


@pytest.fixture(scope="module")
def results(people) -> dict:
    return results_of(people)


def test_completed_tasks(tables, results):
    ended = tables["sessions"].query("edition == 'current' and state not in ['waiting', 'active']")
    assert len(results["tasks"]) == 4
    for task in results["tasks"]:
        mine = ended[(ended.application == task["application"]) & (ended.level == task["level"])]
        told = mine[mine.task_done != ""]
        done = told.task_done == "yes"
        assert (task["sessions"], task["unsaid"]) == (len(mine), len(mine) - len(told))
        counted = done.groupby(told.tester).agg(["sum", "size"]).to_numpy()
        clusters = tuple(sorted((int(count), int(n)) for count, n in counted))
        alone = all(n == 1 for _, n in clusters)
        ends = recount.rate_interval(int(done.sum()), len(done)) if alone else recount.clustered_interval(clusters)[:2]
        printed = tuple(task["done"][name] for name in ("value", "low", "high"))
        assert printed == pytest.approx((done.mean(), *ends), abs=SHARE)


def test_guesses_of_testers(tables, results):
    guesses = tables["guesses"]
    assert len(results["event"]["blinding"]) == 6
    for leak in results["event"]["blinding"]:
        asked = guesses[guesses.about == leak["guessed"]]
        asked = asked if leak["level"] is None else asked[asked.level == leak["level"]]
        first = asked.drop_duplicates("tester")
        known = first[first.guess != ""]
        right, n = int((known.is_right == "yes").sum()), len(known)
        assert (leak["unknown"], leak["repeated"]) == (len(first) - n, len(asked) - len(first))
        exact = stats.binomtest(right, n).proportion_ci(method="exact")
        printed = tuple(leak["right"][name] for name in ("value", "low", "high", "n"))
        assert printed == pytest.approx((right / n, exact.low, exact.high, n), abs=SHARE)
        (options,) = set(known.n_options)
        assert leak["by_chance"] == pytest.approx(1 / options)
        if leak["p_value"] is not None:
            assert leak["p_value"] == pytest.approx(stats.binom.sf(right - 1, n, 1 / options), abs=P_VALUE)


def test_exposure_languages_and_withdrawals(tables, results):
    sessions, event = tables["sessions"], results["event"]
    over = sessions[~sessions.state.isin(["waiting", "active"])]
    for tally in event["exposure"]:
        mine = over[over.level == tally["level"]].astype({"minutes": float})
        each = mine.groupby("tester")[["minutes", "turns", "severe_turns"]].sum()
        assert (tally["people"], tally["sessions"]) == (len(each), len(mine))
        assert (tally["turns"], tally["severe"]) == (each.turns.sum(), each.severe_turns.sum())
        assert tally["severe_most"] == each.severe_turns.max()
        again = each.minutes.median(), each.minutes.max()
        assert (tally["minutes_median"], tally["minutes_most"]) == pytest.approx(again, abs=0.01)
    by_language = sessions[sessions.state != "waiting"].groupby("language").dialogues.agg(["size", "sum"])
    printed = {one["language"]: (one["sessions"], one["dialogues"]) for one in event["languages"]}
    assert printed == {name: tuple(row) for name, row in by_language.iterrows()}
    counted = tables["withdrawals"].groupby("kind").agg(["sum", "size"])
    assert len(event["withdrawals"]) == len(counted)
    for one in event["withdrawals"]:
        row = counted.loc[one["kind"]]
        assert one["people"] == row["sessions", "size"]
        assert all(one[name] == row[name, "sum"] for name in ("sessions", "dialogues", "answers"))


def test_tables_about_people_contain_no_names(people):
    sent = str([table.to_dict() for table in tables_of(people).values()])

    assert "person 1" not in sent
    assert "T001" in sent
    assert f"{5:064x}"[:16] not in set(tables_of(people)["sessions"].session)


def exchanged(gaps: np.ndarray, draws: int) -> tuple[np.ndarray, float]:
    """Return mean differences of people whose two sides are exchanged, all ways or at random."""
    signs = np.array(list(itertools.product((1, -1), repeat=len(gaps)))) if len(gaps) < 14 else None
    if signs is None:
        signs = np.random.default_rng(20).choice((1, -1), size=(draws, len(gaps)))
    return (signs * gaps).mean(axis=1), gaps.mean()


@pytest.mark.parametrize("n_people", [9, 24], ids=["all ways", "at random"])
def test_contrasts_of_answers(n_people):
    drawn = np.random.default_rng(7).integers(1, 6, size=(n_people, 2)) + np.array([0, 1])
    told = [
        response(f"p{at}", application, value)
        for at, row in enumerate(drawn)
        for application, value in zip(("blue", "green"), row, strict=True)
    ]
    known = evidence(*told)
    rows = tables_of(known)["responses"].query("question == 'bad'")
    (found,) = results_of(known)["responses"]
    tested = [one for one in found["contrasts"] if one["p_value"] is not None]
    (contrast,) = [one for one in tested if one["question"] == "bad"]

    ranks = rows.assign(rank=stats.rankdata(rows.value.astype(int))).pivot_table("rank", "tester", "application")
    gaps = (ranks[contrast["second"]] - ranks[contrast["first"]]).to_numpy()
    means, observed = exchanged(gaps, 20_000)
    p_value = (np.abs(means) >= abs(observed) - 1e-9).mean()
    assert (contrast["n"], contrast["testers"]) == (len(rows), n_people)
    assert contrast["effect"] == pytest.approx(((gaps > 0).sum() - (gaps < 0).sum()) / n_people)
    within = P_VALUE if "exact" in contrast["method"] else recount.near(p_value, 9_999, 20_000)
    assert abs(contrast["p_value"] - p_value) <= within
    adjusted = recount.holm([one["p_value"] for one in tested])
    assert [one["adjusted_p_value"] for one in tested] == pytest.approx(adjusted, abs=P_VALUE)


def test_contrasts_of_risks():
    """Materialised where a tester rates at least 6; people of two kinds, so Fisher's exact test is the permutation."""
    sign = Condition(question="after.bad", operator=Operator.AT_LEAST, values=("6",))
    felt = Risk(name="felt", identified_by=Identification.QUESTIONNAIRE, answers=(sign,))
    ages = {"old": "7717171", "young": "1111711", "middle": "777717"}
    told = [
        response(f"{age}{at}", "blue", int(bad), groups={"age": age})
        for age, answers in ages.items()
        for at, bad in enumerate(answers)
    ]
    known = evidence(*told, of=replace(STUDY, risks=(felt,)))
    rows = tables_of(known)["responses"].query("question == 'bad'")
    real = (rows.value.astype(int) >= 6).groupby(rows.groups.str.removeprefix("age=")).agg(["sum", "size"])
    (found,) = results_of(known)["risks"]

    assert {one["part"]: (one["materialised"], one["n"]) for one in found["groups"]} == {
        name: tuple(row) for name, row in real.iterrows()
    }
    assert len(found["contrasts"]) == 3
    for contrast in found["contrasts"]:
        first, second = (real.loc[contrast[side]] for side in ("first", "second"))
        table = [[side["sum"], side["size"] - side["sum"]] for side in (first, second)]
        n, m = int(first["size"]), int(second["size"])
        shares = stats.hypergeom(n + m, int(first["sum"] + second["sum"]), m)
        there = np.arange(m + 1)
        gaps = np.abs(there / m - (shares.args[1] - there) / n)
        observed = abs(second["sum"] / m - first["sum"] / n)
        again = shares.pmf(there)[gaps >= observed - 1e-9].sum()
        assert contrast["p_value"] == pytest.approx(again, abs=P_VALUE)
        assert n != m or again == pytest.approx(stats.fisher_exact(table).pvalue)
        assert contrast["effect"] == pytest.approx(second["sum"] / m - first["sum"] / n)
    adjusted = recount.holm([one["p_value"] for one in found["contrasts"]])
    assert [one["adjusted_p_value"] for one in found["contrasts"]] == pytest.approx(adjusted, abs=P_VALUE)


@lru_cache
def noise() -> np.ndarray:
    return np.random.default_rng(5).random((9, 60))


def noisy(person: str, number: int) -> str:
    """Return labels on which the old agree better than the young."""
    at = (*OLD, *YOUNG).index(person) if person in (*OLD, *YOUNG) else 6
    truth = number % 3 == 0
    return "1" if truth != (noise()[at, number] < (0.1 if person in OLD else 0.35)) else "5"


@pytest.fixture(scope="module")
def grouped() -> Evidence:
    return grouped_evidence(noisy)


@pytest.fixture(scope="module")
def labels(grouped) -> pd.DataFrame:
    """Return the labels of people, one column for each, from the exported table."""
    frame = pd.DataFrame(dialogue_rows(grouped))
    own = frame[(frame.judge_kind == "person") & (frame.outcome == "answered")]
    return own.pivot_table("label", "dialogue", "judge", aggfunc="first")


def across(ours: pd.DataFrame, theirs: pd.DataFrame) -> float:
    """Return the agreement of two groups beyond chance on dialogues that both labelled (Wong et al. 2021)."""
    counts = (np.stack([side.eq(label).sum(axis=1) for label in ("1", "5")], axis=1) for side in (ours, theirs))
    first, second = counts
    both = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
    first, second = first[both], second[both]
    sizes = first.sum(axis=1), second.sum(axis=1)
    apart = 1 - (first * second).sum(axis=1) / (sizes[0] * sizes[1])
    chance = 1 - (first.sum(axis=0) / first.sum()) @ (second.sum(axis=0) / second.sum())
    return 1 - np.average(apart, weights=sizes[0] + sizes[1]) / chance


def within(rows: pd.DataFrame) -> float:
    codes = rows.apply(lambda column: column.map({"1": 0.0, "5": 1.0})).to_numpy(dtype=float).T
    return float(krippendorff.alpha(codes, level_of_measurement="nominal", value_domain=[0, 1]))


def test_groups_of_annotators(grouped, labels):
    frame = pd.DataFrame(dialogue_rows(grouped))
    own = frame.drop_duplicates("dialogue").set_index("dialogue").persona.loc[labels.index]
    annotators = tables_of(grouped)["annotators"].query("annotator_kind == 'person'").set_index("annotator")
    groups = annotators.groups.str.removeprefix("age=")
    known = [name for name in labels if groups[name]]
    (found,) = results_of(grouped)["annotator_groups"]
    assert (found["people"], found["unknown"]) == (len(known), labels.columns.size - len(known))
    assert found["in_small_groups"] == (groups == "withheld").sum() == 1

    p_values = []
    for group in found["groups"]:
        members = [name for name in known if groups[name] == group["group"]]
        rest = [name for name in known if name not in members]
        for name, statistic in (
            ("within", lambda rows, ours=members: within(rows[ours])),
            ("across", lambda rows, ours=members, others=rest: across(rows[ours], rows[others])),
        ):
            again = recount.clustered_log_interval(labels, own, statistic)
            printed = tuple(group[name][key] for key in ("value", "low", "high"))
            assert printed == pytest.approx(again, abs=COEFFICIENT)
        assert group["ratio"] == pytest.approx(within(labels[members]) / across(labels[members], labels[rest]))
        p_values.append(check_ratio(group, labels[known]))
    adjusted = stats.false_discovery_control([group["p_value"] for group in found["groups"]])
    assert [group["adjusted_p_value"] for group in found["groups"]] == pytest.approx(adjusted)
    check_rates(found["defects"][0], labels, groups)


def check_ratio(group: dict, labels: pd.DataFrame) -> float:
    """Recount the place of a ratio among those of all groups of so many people, of whom the report draws 999."""
    ratios = []
    for members in itertools.combinations(labels, group["people"]):
        others = [name for name in labels if name not in members]
        beside = across(labels[list(members)], labels[others])
        ratios += [within(labels[list(members)]) / beside] if beside > 0 else []
    tails = [np.mean(np.array(ratios) <= group["ratio"] + 1e-9), np.mean(np.array(ratios) >= group["ratio"] - 1e-9)]
    p_value = min(2 * min(tails), 1)
    assert abs(group["p_value"] - p_value) <= 2 * recount.near(min(tails), 999, 999_999)
    return p_value


def check_rates(defects: dict, labels: pd.DataFrame, groups: pd.Series) -> None:
    """Recount the rate by each group of annotators, and how often groups at random differ as much."""
    sums = (labels.eq("1").sum(), labels.notna().sum())
    shown = [rate["group"] for rate in defects["rates"]]
    for rate in defects["rates"]:
        members = [name for name in labels if groups[name] == rate["group"]]
        count, n = (side[members] for side in sums)
        value, g = count.sum() / n.sum(), len(members)
        error = np.sqrt(((count - value * n) ** 2).sum() * g / (g - 1)) / n.sum()
        worth = value * (1 - value) / error**2 * (stats.norm.ppf(0.975) / stats.t.ppf(0.975, g - 1)) ** 2
        low = stats.beta.ppf(0.025, value * worth, worth - value * worth + 1)
        high = stats.beta.ppf(0.975, value * worth + 1, worth - value * worth)
        printed = tuple(rate["rate"][key] for key in ("value", "low", "high"))
        assert printed == pytest.approx((value, low, high), abs=SHARE)
    names = [name for name in labels if groups[name] in shown]
    gaps = []
    for first in itertools.combinations(names, sum(groups[name] == shown[0] for name in names)):
        second = [name for name in names if name not in first]
        one, other = (sums[0][list(side)].sum() / sums[1][list(side)].sum() for side in (first, second))
        gaps.append(abs(one - other))
    p_value = np.mean(np.array(gaps) >= defects["gap"] - 1e-9)
    assert abs(defects["p_value"] - p_value) <= recount.near(p_value, 999, 999_999)


def test_costs():
    """The table adds up to the calls of the run, and its annotations to the calls that the dialogue table shows."""
    dialogues = Spending(calls=116, attempts=120, tokens_in=9, cost_microusd=5)
    annotations = Spending(calls=58, attempts=58, tokens_out=3)
    parts = (
        SpendingPart("bot-1.4", UnitKind.SESSION, "", "m", dialogues),
        SpendingPart("bot-1.4", UnitKind.ANNOTATION, "grounded", "j", annotations),
    )
    whole = Spending(calls=180, attempts=186, tokens_in=20, tokens_out=9, cost_microusd=11, unpriced_calls=2)
    known = replace(called_evidence(), spending=whole, spending_parts=parts)
    costs = tables_of(known)["costs"]
    numbers = costs.drop(columns=["stage", "application", "annotator", "model"]).sum()

    assert numbers.to_dict() == results_of(known)["spending"]
    assert costs.stage.tolist() == ["session", "annotation", "replies to participants"]
    assert costs.calls.tolist() == [116, 58, 6]


def test_people_have_one_number_in_all_tables(grouped):
    assert set(tables_of(grouped)["annotators"].query("annotator_kind == 'person'").annotator) >= set(
        pseudonyms(grouped).values()
    )


def test_a_tester_has_one_number_in_sessions_and_responses(people):
    both = replace(people, responses=(response("person 2", "blue", 3), response("elsewhere", "green", 4)))
    tables = tables_of(replace(both, study=replace(both.study, questionnaires=(AFTER,))))
    testers = set(tables["sessions"].tester), set(tables["responses"].tester)

    assert [len(numbers) for numbers in testers] == [4, 2]
    assert len(testers[0] & testers[1]) == 1
