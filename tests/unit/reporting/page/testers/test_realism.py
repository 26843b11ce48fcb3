from __future__ import annotations

from dataclasses import replace

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, words
from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate import Estimate, Undefined
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.findings.realism import (
    GroupCover,
    RateContrast,
    Realism,
    SpokenSide,
    StyleContrast,
    StyleMark,
    StyleSpread,
)
from theodolite.measurement.proportion import defect_rate
from theodolite.reporting.page.subject import subject_of
from theodolite.reporting.page.testers import realism_blocks

MEAN = Estimate(value=4, low=2.5, high=5.5, confidence=0.95, n=3, unit="u", method="m")
NONE = StyleSpread(mean=Undefined(reason="Too few.", n=1), quartiles=(1, 1, 1))
SHARE = StyleSpread(mean=replace(MEAN, value=0.5, low=0.25, high=0.75, n=30), quartiles=(0, 0.5, 1))
WORDS = StyleContrast(
    mark=StyleMark.WORDS,
    people=StyleSpread(mean=MEAN, quartiles=(3, 4, 5)),
    simulated=NONE,
    difference=Undefined(reason="One of the two sides has no value."),
)
CAPITAL = StyleContrast(mark=StyleMark.CAPITAL, people=SHARE, simulated=SHARE, difference=replace(SHARE.mean, value=0))
RATE = RateContrast(
    subject=EstimateSubject(application="bot", guideline="polite", rule="rude", annotators=("ann",)),
    people=defect_rate(10, 40),
    simulated=Undefined(reason="Not there."),
    difference=replace(MEAN, value=-0.25, low=None, high=None, n=80),
)


def side(held_by, n):
    clusters = [str(number) for number in range(n)]
    level, applications = Level.MODEL_TESTING, ("bot",)
    parts = {"scenario": "shop", "level": level, "applications": applications, "groups": {}, "marks": {}}
    return SpokenSide(held_by=held_by, clusters=clusters, **parts)


def table(held_by=TesterType.RECORDED, rate=RATE, capital=CAPITAL):
    realism = Realism(
        people=side(held_by, 1),
        simulated=side(TesterType.SIMULATED_USER, 1200),
        styles=(WORDS, capital),
        rates=(rate,),
        groups=(GroupCover(name="age", both=("young",), people_only=("old", "teen")),),
    )
    findings = replace(findings_named("live"), realisms=(realism,))
    (found,) = realism_blocks(subject_of(evidence_named("live"), findings, facts(), words()))
    return found


def styles(block):
    return block.tables[0].texts


def rates(block):
    return block.tables[1]


def test_a_count_has_mean_interval_n_and_quartiles():
    found, _ = styles(table())

    assert found[1] == "4 (2.5 to 5.5), n = 3; median 4, quartiles 3 and 5"
    assert found[2] == "undefined: too few; median 1, quartiles 1 and 1"
    assert found[3] == "undefined: one of the two sides has no value"


def test_a_share_is_in_percent_and_its_difference_in_points():
    _, found = styles(table())

    assert found[1] == "50.0% (25.0 to 75.0), n = 30"
    assert found[3] == "+0.0 points (25.0 to 75.0)"


def test_a_rate_names_its_annotators_and_counts():
    found = rates(table())

    name = found.rows[0][0]
    assert (name.value, name.details) == ("bot: rude", ("polite, by ann",))
    assert found.texts[0][1].startswith("10 of 40 (25.0%, ")
    assert found.texts[0][3] == "-25.0 points (no interval)"


def test_few_dialogues_have_no_percentage():
    few = StyleSpread(mean=replace(SHARE.mean, n=3), quartiles=None)
    capital = replace(CAPITAL, people=few, difference=replace(few.mean, value=0.5))
    found = table(rate=replace(RATE, people=defect_rate(1, 4)), capital=capital)

    assert rates(found).texts[0][1] == "1 of 4"
    assert styles(found)[1][1] == "0.5 (0.25 to 0.75), n = 3"
    assert styles(found)[1][3] == "+0.5 (0.25 to 0.75)"


def test_sides_and_groups_are_named():
    found = table()

    assert found.about.startswith(
        "recorded, model testing: 1 dialogue; simulated user, model testing: 1,200 dialogues. "
    )
    assert found.groups == (
        "age: met by both: young; met by people only: old, teen; met by simulated users only: none",
    )
    assert "recorded prompts" in found.about
    assert "recorded prompts" not in table(TesterType.PERSON).about
