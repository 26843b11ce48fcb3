"""Sensitive topics of study files and packs."""

from __future__ import annotations

from theodolite.config.assembly import expanded
from theodolite.config.loading import check_study, load_study
from theodolite.domain.choices import TopicWeight
from theodolite.domain.errors import Severity
from theodolite.domain.study_parts import SensitiveTopic

STUDY = """study: a
applications: {app: {kind: python, call: "a:b"}}
scenarios:
  forum: {topics: [hate], scripts: {hello: Hello}}
  shop: {scripts: {hello: Hello}}
"""
HATE = "topics: {hate: {about: Insults against groups., weight: heavy}}\n"


def test_a_topic_lists_the_scenarios_that_name_it(folder) -> None:
    study = load_study(folder(study_yaml=STUDY + HATE)).study

    assert study.topics == (
        SensitiveTopic(name="hate", about="Insults against groups.", weight=TopicWeight.HEAVY, scenarios=("forum",)),
    )
    assert load_study(folder(study_yaml=expanded(study))).study.topics == study.topics


def test_an_unused_topic_is_an_error_with_a_suggestion(folder) -> None:
    (fault,) = check_study(folder(study_yaml=STUDY + HATE.replace("{hate", "{hates")))

    assert (fault.severity, fault.place) == (Severity.ERROR, "study.yaml:4:20")
    assert "hates" in fault.message


def test_a_topic_without_a_scenario_is_noted(folder) -> None:
    more = HATE + "  \n"
    found = check_study(folder(study_yaml=STUDY.replace("topics: [hate], ", "") + more))

    assert [(one.severity, one.place) for one in found if "hate" in one.message] == [(Severity.NOTE, "study.yaml:6")]


def test_a_pack_adds_its_topics_except_those_of_excluded_scenarios(folder) -> None:
    text = "study: a\npack: harms/hateful\napplications: {app: {kind: python, call: 'a:b'}}\n"

    (topic,) = load_study(folder(study_yaml=text)).study.topics

    assert (topic.name, topic.weight, topic.scenarios) == ("hate", TopicWeight.HEAVY, ("hateful",))
