from __future__ import annotations

from dataclasses import replace

from theodolite.domain.dialogue import Level
from theodolite.domain.event import Event, LevelPlan, ScreeningQuestion
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Exemplar, Instrument, Label, Question, Scale, ScaleKind
from theodolite.domain.scenario import Scenario
from theodolite.domain.schema import Questionnaire
from theodolite.domain.study import Study
from theodolite.domain.study_parts import SensitiveTopic, Translation
from theodolite.domain.wording import (
    CONSENT,
    SCREENING,
    WARNING,
    languages_of,
    localised,
    missing,
    task_part,
    texts_of,
    written,
)

ASKED = Question(
    name="met",
    text="Did it?",
    scale=Scale(kind=ScaleKind.CATEGORIES, labels=(Label(value="yes", meaning="it did"), Label(value="no"))),
    exemplars=(Exemplar(text="It did.", answer="yes", reason="Because."),),
)
HOW_MUCH = Question(
    name="much",
    text="How much?",
    scale=Scale(kind=ScaleKind.NUMBERS, lowest=1, highest=10, labels=(Label(value="1", meaning="little"),)),
)
STUDY = Study(
    name="s",
    title="A study",
    applications=(),
    scenarios=(Scenario(name="talk", goal="Talk.", instructions={Level.RED_TEAMING.value: "Attack."}),),
    levels=(LevelPlan(level=Level.RED_TEAMING, people=1), LevelPlan(level=Level.FIELD_TESTING, people=1)),
    questionnaires=(Questionnaire(name="q", instrument=Instrument(name="q", questions=(ASKED, HOW_MUCH))),),
    topics=(SensitiveTopic(name="open-hate", about="Slurs.", scenarios=("talk",)),),
    event=Event(consent="I agree.", warning="Hard words.", screening=(ScreeningQuestion(text="18?", wanted=True),)),
)
GERMAN = {
    "title": "Eine Studie",
    "consent": "Ich stimme zu.",
    "warning": "Harte Worte.",
    "topics/open-hate/title": "Offener Hass",
    "topics/open-hate/about": "Schimpf.",
    "screening/1": "Sind Sie 18?",
    "scenarios/talk/goal": "Reden Sie.",
    "scenarios/talk/instructions/red_teaming": "Greifen Sie an.",
    "questionnaires/q/questions/met/ask": "Hat sie?",
    "questionnaires/q/questions/met/labels/yes": "ja",
    "questionnaires/q/questions/met/labels/no": "nein",
    "questionnaires/q/questions/met/meanings/yes": "sie hat",
    "questionnaires/q/questions/met/exemplars/1/text": "Sie hat.",
    "questionnaires/q/questions/met/exemplars/1/reason": "Weil.",
    "questionnaires/q/questions/much/ask": "Wie sehr?",
    "questionnaires/q/questions/much/meanings/1": "wenig",
}


def in_german(words):
    return localised(replace(STUDY, translations=(Translation(language="de", words=words),)), "de")


def test_every_translatable_text_has_a_unique_key():
    keys = {written(key) for texts in texts_of(STUDY).values() for key in texts}

    assert keys == set(GERMAN)


def test_a_goal_is_translatable_only_if_a_level_of_people_lacks_instructions():
    told = replace(STUDY, levels=STUDY.levels[:1])

    assert ("scenarios", "talk", "goal") in texts_of(STUDY)
    assert ("scenarios", "talk", "goal") not in texts_of(told)


def test_a_complete_translation_is_used_throughout_and_preserves_all_names():
    read = in_german(GERMAN)
    met, much = read.study.questionnaire("q").instrument.questions

    assert [(label.value, label.words, label.meaning) for label in met.scale.labels] == [
        ("yes", "ja", "sie hat"),
        ("no", "nein", ""),
    ]
    assert (met.text, met.exemplars[0].reason, much.scale.labels[0].meaning) == ("Hat sie?", "Weil.", "wenig")
    assert read.study.scenario("talk").instructions == {"red teaming": "Greifen Sie an."}
    assert (read.study.event.consent, read.study.event.screening[0].text) == ("Ich stimme zu.", "Sind Sie 18?")
    assert {read.language_of(part) for part in texts_of(STUDY)} == {"de"}


def test_the_content_notice_and_its_topics_are_shown_in_one_language():
    lacking = {key: words for key, words in GERMAN.items() if key != "topics/open-hate/about"}
    whole, half = in_german(GERMAN), in_german(lacking)

    assert [(one.title, one.about, one.name) for one in whole.study.topics] == [
        ("Offener Hass", "Schimpf.", "open-hate")
    ]
    assert (whole.study.event.warning, whole.language_of(WARNING)) == ("Harte Worte.", "de")
    assert (half.study.topics, half.study.event.warning) == (STUDY.topics, "Hard words.")
    assert half.language_of(WARNING) == "en"


def test_a_partly_translated_questionnaire_is_shown_in_the_original_language():
    lacking = {key: words for key, words in GERMAN.items() if key != "questionnaires/q/questions/met/labels/no"}
    read = in_german(lacking)

    assert read.study.questionnaires == STUDY.questionnaires
    assert read.language_of(("questionnaires", "q")) == "en"
    assert read.language_of(CONSENT) == read.language_of(SCREENING) == "de"
    assert read.language_of(task_part("talk", Level.RED_TEAMING)) == "de"


def test_missing_texts_are_listed():
    texts = texts_of(STUDY)["questionnaires", "q"]
    found = missing(texts, Translation(language="de", words={**GERMAN, "questionnaires/q/questions/much/ask": ""}))

    assert found == [("questionnaires", "q", "questions", "much", "ask")]


def test_without_a_translation_a_study_is_shown_as_written():
    assert localised(STUDY, "fr").study is STUDY
    assert localised(STUDY, "fr").language_of(CONSENT) == "en"


def test_a_translation_changes_the_release_and_no_request_of_a_run():
    other = replace(STUDY, translations=(Translation(language="de", words=GERMAN),))

    assert version_of(other) != version_of(STUDY)
    assert other.run_fingerprint == STUDY.run_fingerprint
    assert languages_of(other) == ("en", "de")
