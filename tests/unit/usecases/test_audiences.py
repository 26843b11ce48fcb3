from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from random import Random

import pytest

from tests.fakes.evidence import SYSTEMS, facts, live_evidence, xstest_evidence
from tests.fakes.report import assets
from theodolite.domain.errors import InputError
from theodolite.domain.event import EvaluationPlan, Series, Team
from theodolite.domain.release import ReviewDecision
from theodolite.domain.study_parts import Typology
from theodolite.measurement.study.findings import measure_study
from theodolite.reporting.page.report import report_pieces
from theodolite.reporting.page.tuning import operator_sections, team_sections
from theodolite.reporting.results.document import results_document
from theodolite.usecases.audiences import NOT_RELEASED, AudienceKind, audience_named, for_public, for_team
from theodolite.usecases.releasing import anonymised, curate, findings_in, released_evidence


def token(random: Random) -> str:
    return f"{random.getrandbits(256):064x}"


def anonymous(records):
    return released_evidence(anonymised(records, partial(token, Random(1))))  # noqa: S311  # ids of a test


def team_evidence(*applications: str):
    records = curate(xstest_evidence())
    return anonymous(for_team(records, applications, findings_in(records)))


@pytest.mark.parametrize("own", ["llama2new", "mistralguard"])
def test_the_report_of_a_team_contains_no_other_application(own):
    evidence = team_evidence(own)
    findings = measure_study(evidence)
    page = "".join(report_pieces(evidence, findings, facts(), assets(), sections=team_sections(evidence, findings)))
    results = json.dumps(results_document(evidence, findings, facts()))

    assert [name for name in SYSTEMS if name in page] == [own]
    assert [name for name in SYSTEMS if name in results] == [own]
    assert {one["application"] for one in results_document(evidence, findings, facts())["sessions"]} == {own}


def test_a_team_has_the_rates_of_the_whole_report():
    evidence, whole = team_evidence("llama2new"), xstest_evidence()

    def rates(of):
        document = results_document(of, measure_study(of), facts())
        return [
            (one["subject"]["rule"], one["value"], one["n"])
            for one in document["estimates"]
            if one["measure"] == "defect_rate"
            and one["subject"]["application"] == "llama2new"
            and one["subject"]["annotators"] == ["reference"]
            and not one["subject"].get("group")
        ]

    assert len(rates(evidence)) == 3
    assert rates(evidence) == rates(whole)


def test_a_team_sees_strengths_and_the_most_frequent_defects():
    evidence = team_evidence("llama2new")

    (section,) = team_sections(evidence, measure_study(evidence))
    strengths, hints = section.tables

    assert [row[2] for row in strengths.rows] == ["0 of 200, at most 1.5"]
    assert hints.rows[0][1].startswith("35 of 250 (14.0")
    assert hints.rows[0][2].startswith("type: safe_contexts, 15 of 25")


def test_operators_see_upper_bounds_failures_and_the_most_frequent_defects():
    evidence = anonymous(curate(xstest_evidence()))

    (section,) = operator_sections(evidence, measure_study(evidence))
    defects, failures = section.tables
    row = next(row for row in defects.rows if row[0] == "llama2new" and row[2].startswith("35 of 250"))

    assert [re.sub("[^ -~]", "", text) for text in row[2:]] == [
        "35 of 250 (14.0%, 10.2 to 18.8)",
        "type: safe_contexts, 15 of 25 (60.0%, 40.7 to 76.6)",
    ]
    assert failures.rows[0] == (SYSTEMS[0], "450 of 450", "none")


def test_a_typology_reveals_no_other_application_to_a_team():
    records = curate(xstest_evidence())
    types = {"guarded": ("mistralguard",), "open": ("llama2new", "mistralguard"), "old": ("llama2orig",)}
    typed = replace(records, study=replace(records.study, typology=Typology(by="type", applications=types)))

    study = for_team(typed, ["llama2new"], findings_in(typed)).study

    assert study.typology == Typology(by="type", applications={"open": ("llama2new",)})


def test_a_title_that_names_another_application_is_hidden_from_a_team():
    evidence = xstest_evidence()
    named = replace(evidence.study, about="llama2orig and llama2new answered.", title="gpt4 against all")
    records = curate(replace(evidence, study=named))

    study = for_team(records, ("llama2new",), ()).study

    assert study.about == "[name withheld] and llama2new answered."
    assert study.title == "[name withheld] against all"


def test_a_published_series_reveals_no_other_team():
    evidence = xstest_evidence()
    teams = (Team(name="red", applications=("llama2new",)), Team(name="blue", applications=("gpt4", "mistralguard")))
    plan = EvaluationPlan(criteria="gpt4 must refuse, llama2new too.")
    series = Series(name="spring", teams=teams, plan=plan)
    records = curate(replace(evidence, study=replace(evidence.study, series="spring", preregistered=series)))

    seen = for_team(records, ("llama2new",), ()).study.preregistered

    assert seen.teams == (Team(name="red", applications=("llama2new",)),)
    assert seen.plan.criteria == "[name withheld] must refuse, llama2new too."


def test_undecided_identifiers_are_redacted_for_a_team_and_withheld_from_the_public():
    records = curate(xstest_evidence())
    findings = findings_in(records)
    labels = {one.dialogue for one in findings}

    team = for_team(records, SYSTEMS, findings)
    public = for_public(records, findings)

    assert not any(
        one.words in turn.response
        for one in findings
        for d in team.dialogues
        for turn in d.turns
        if d.label == one.dialogue
    )
    withheld = {one.label for one in public.dialogues if one.withheld == NOT_RELEASED}
    assert withheld == labels


def test_texts_with_decided_identifiers_are_released_to_the_public():
    records = curate(xstest_evidence())
    findings = [replace(one, decision=ReviewDecision.REDACT) for one in findings_in(records)]

    public = for_public(records, findings)

    assert not any(one.withheld == NOT_RELEASED for one in public.dialogues)


def test_dialogues_of_people_who_opted_out_have_no_text_and_still_count():
    records = curate(xstest_evidence())
    label = records.dialogues[0].label

    team = for_team(records, SYSTEMS, (), private=(label,))

    assert team.dialogues[0].withheld == NOT_RELEASED
    assert len(team.dialogues) == len(records.dialogues)


def test_a_team_is_named_by_its_series_or_by_its_application():
    study = live_evidence().study
    application = study.applications[0].name

    assert audience_named(f"team:{application}", study).applications == (application,)
    assert audience_named("public", study).kind is AudienceKind.PUBLIC
    assert Team(name="x").applications == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("reader", "--for takes engineer, organiser, operators, public or team:NAME; got `reader`"),
        ("publik", "Did you mean `public`"),
        ("team", "got `team`"),
        ("team:", "got `team:`"),
        ("public:x", "got `public:x`"),
        ("team:nobody", "the study has no team or application `nobody`"),
    ],
)
def test_unknown_audiences_are_refused(text, message):
    with pytest.raises(InputError) as error:
        audience_named(text, live_evidence().study)

    assert message in str(error.value)
