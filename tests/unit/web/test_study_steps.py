"""Steps of the study editor cover the study file, and state what is open."""

from __future__ import annotations

from theodolite.config.study_forms import GENERAL, study_form
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.errors import Severity
from theodolite.web.study_steps import PUBLISH, STEPS, StepPlace, of_step, shown_steps

STUDY = """\
study: tea
pack: aria/tv-spoilers
applications:
  bot: {kind: python, call: "bot.py:answer"}
levels:
  red_teaming: {people: 6}
"""


def form(text=STUDY, at=GENERAL):
    return study_form(text, "study.schema.json", at)


def steps(text=STUDY, *found, **place):
    shown = shown_steps(form(text), found, StepPlace(base="/edit/?file=study.yaml", **place))
    return {one.step.key: one for one in shown}


def at_line(line, severity=Severity.ERROR):
    return LocatedDiagnostic(file="study.yaml", line=line, message="x", severity=severity)


def test_each_key_of_a_study_belongs_to_one_step():
    keys = [field.key for field in (*form().fields, *form().more)]

    assert sorted(key for step in STEPS for key in step.parts) == sorted(keys)


def test_the_steps_have_the_order_in_which_a_study_is_written():
    titles = "Study, Consent, Applications, Scenarios, Levels and quotas, Questionnaires, Annotation, Judges, Publish"

    assert [step.title for step in STEPS] == titles.split(", ")


def test_errors_and_open_items_count_at_the_step_of_their_line_and_notes_do_not():
    found = [at_line(4), at_line(6, Severity.OPEN), at_line(6, Severity.NOTE), at_line(0)]
    shown = steps(STUDY, *found)

    assert {key: one.n_faults for key, one in shown.items() if one.n_faults} == {
        "study": 1, "applications": 1, "levels": 1, PUBLISH: 3,
    }  # fmt: skip
    assert shown["levels"].icon == "alert-triangle"


def test_a_step_is_done_by_the_file_or_by_a_pack():
    with_pack, without = steps(), steps(STUDY.replace("pack: aria/tv-spoilers\n", ""))

    assert [with_pack[key].icon for key in ("applications", "scenarios", "judges")] == [
        "circle-check", "circle-check", "circle-dashed",
    ]  # fmt: skip
    assert without["scenarios"].icon == "circle-dashed"


def test_a_step_with_a_mapping_opens_its_form_and_others_open_their_own_fields():
    shown = steps()

    assert shown["applications"].address == "/edit/?file=study.yaml&at=applications&step=applications"
    assert shown["consent"].address == "/edit/?file=study.yaml&at=.&step=consent"
    first, more = of_step(form(), "consent")
    assert [field.key for field in (*first, *more)] == ["consent", "warning", "screening", "breaks"]
    assert of_step(form(), "") == (form().fields, form().more)


def test_each_key_can_be_reached():
    shown = steps().values()
    reached = {part.field.key for one in shown for part in one.parts}
    own = {field.key for one in STEPS if not one.opens_part for fields in of_step(form(), one.key) for field in fields}

    assert reached | own >= {field.key for field in (*form().fields, *form().more)}
    (cases,) = [part for part in steps()["scenarios"].parts if part.field.key == "cases"]
    assert cases.address == "/edit/?file=study.yaml&at=.&step=scenarios"


def test_the_current_step_is_that_of_the_part_on_the_page():
    by_part, by_step = steps(part="levels"), steps(step="consent", part=GENERAL)

    assert [key for key, one in by_part.items() if one.is_current] == ["levels"]
    assert [part.field.key for part in by_part["levels"].parts if part.is_current] == ["levels"]
    assert [key for key, one in by_step.items() if one.is_current] == ["consent"]
