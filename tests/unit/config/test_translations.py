from __future__ import annotations

import pytest

from theodolite.config.loading import check_study, load_study
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import Severity
from theodolite.domain.wording import languages_of, localised, texts_of

STUDY = """study: a
title: Lights
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {goal: Talk., scripts: {a: b}, instructions: {field_testing: Look.}, questionnaires: {field_testing: q}}}
questionnaires: {q: {questions: {ok: {ask: Was it?}, much: {ask: How?, scale: {1: little, 5: much}}}}}
judges: {j: {ask: Is it?, defect: "== yes", model: m}}
levels: {field_testing: {people: 3}}
consent: consent.md
contact: me
"""
GERMAN = """title: Lichter
consent: consent.de.md
scenarios: {s: {instructions: {field_testing: Schauen Sie.}}}
questionnaires:
  q:
    questions:
      ok: {ask: War es so?}
      much: {ask: Wie sehr?, meanings: {1: wenig, 5: sehr}}
phrases: {yes: ja, no: nein}
"""


@pytest.fixture
def lights(folder):
    """Return a function that writes the study with translations."""

    def write(german=GERMAN, study=STUDY, name="de", consent="Ich stimme allem zu."):
        home = folder(study_yaml=study, consent_md="I agree to all of it.", **{f"translations__{name}_yaml": german})
        (home / "consent.de.md").write_text(consent, encoding="utf-8")
        return home

    return write


def test_a_complete_translation_gives_no_note_and_is_used_throughout(lights):
    loaded = load_study(lights())
    read = localised(loaded.study, "de")
    ok, much = read.study.questionnaire("q").instrument.questions

    assert (loaded.notes, "translations/de.yaml" in loaded.files, "consent.de.md" in loaded.files) == ((), True, True)
    assert read.parts == frozenset(texts_of(loaded.study))
    assert [label.words for label in ok.scale.labels] == ["ja", "nein"]
    assert [label.meaning for label in much.scale.labels] == ["wenig", "sehr"]
    assert (read.study.title, read.study.event.consent) == ("Lichter", "Ich stimme allem zu.")


def test_missing_texts_are_named_in_one_note(lights):
    (note,) = check_study(lights(GERMAN.replace("{yes: ja, no: nein}", "{yes: ja}").replace("title: Lichter\n", "")))

    assert (note.file, note.severity) == ("translations/de.yaml", Severity.NOTE)
    assert note.message == (
        "2 of 9 texts are missing in `de`; until they are there, people read in `en`: "
        "title; questionnaires/q (questions/ok/labels/no)"
    )


@pytest.mark.parametrize(
    ("wrong", "right", "message", "line"),
    [
        ("s: {instr", "t: {instr", "no text `t` in `scenarios` that people read", 3),
        (
            "ok: {ask",
            "okk: {ask",
            "no text `okk` in `questionnaires/q/questions` that people read. Did you mean `ok`?",
            7,
        ),
        ("meanings: {1:", "meanings: {2:", "no text `2` in `questionnaires/q/questions/much/meanings`", 8),
        ("    questions:", "    title: T\n    questions:", "no text `title` in `questionnaires/q`", 6),
        ("title: Lichter", "screening: [Alt?]", "no text `screening` that people read", 1),
    ],
)
def test_unknown_texts_are_errors_at_their_location(lights, wrong, right, message, line):
    with pytest.raises(InvalidStudyError) as refused:
        load_study(lights(GERMAN.replace(wrong, right, 1)))
    (fault,) = refused.value.placed

    assert message in fault.message
    assert (fault.file, fault.line) == ("translations/de.yaml", line)


def test_unknown_keys_are_errors_too(lights):
    (fault,) = check_study(lights(GERMAN.replace("phrases", "phrase")))

    assert "unknown key `phrase` in translation `de`. Did you mean `phrases`?" in fault.message


@pytest.mark.parametrize(
    ("name", "message"), [("german", "is not a language tag"), ("en", "is the study's own language")]
)
def test_the_name_of_the_file_states_the_language(lights, name, message):
    (fault,) = check_study(lights(name=name))

    assert (fault.file, message in fault.message) == (f"translations/{name}.yaml", True)


def test_a_study_states_its_language(lights):
    study = load_study(lights(study=STUDY + "language: fr\n")).study
    (fault,) = check_study(lights(study=STUDY + "language: french\n"))

    assert languages_of(study) == ("fr", "de")
    assert "`language` is `french`; expected a language tag" in fault.message


def test_a_translated_consent_text_with_placeholders_is_not_shown(lights):
    home = lights(consent="Fragen an [Anschrift].")
    blank, missing = sorted(check_study(home), key=lambda fault: fault.file)

    assert (blank.file, blank.severity, "[Anschrift]" in blank.message) == ("consent.de.md", Severity.OPEN, True)
    assert missing.message.endswith("people read in `en`: consent")
    assert localised(load_study(home).study, "de").study.event.consent == "I agree to all of it."


@pytest.mark.parametrize("language", ["de", "ar"])
def test_the_demo_and_its_pack_are_completely_translated_for_testers(shipped_folder, language):
    study = load_study(shipped_folder("demo/event")).study
    own = {part for part in texts_of(study) if part[0] != "categories"}

    assert own <= localised(study, language).parts


def test_texts_of_a_pack_apply_where_the_study_sets_none(folder):
    text = STUDY.split("scenarios:", maxsplit=1)[0] + "pack: aria/tv-spoilers\nlevels: {field_testing: {people: 1}}\n"
    own = "scenarios: {tv-spoilers: {instructions: {field_testing: Anders.}}}\n"
    study = load_study(folder(study_yaml=text, translations__de_yaml=own)).study
    told = localised(study, "de").study.scenario("tv-spoilers").instructions

    assert told["field testing"] == "Anders."
    assert told["red teaming"].startswith("Ihre Aufgabe")
