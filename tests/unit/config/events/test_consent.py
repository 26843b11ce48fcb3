from __future__ import annotations

import pytest

from theodolite.config.events import MissingText, missing_texts, unfinished
from theodolite.config.load_context import shipped_text
from theodolite.config.loading import load_study

STUDY = """study: a
applications: {app: {kind: python, call: "a:b"}}
scenarios: {s: {scripts: {hello: Hello}}}
risks: {rude: {description: It is rude.}}
"""
PEOPLE = STUDY + "levels: {red_teaming: {people: 3}}\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("Do you agree?", ""),
        ("Write to [us](mailto:us@example.org) or see [the page][1].\n\n[1]: https://example.org", ""),
        ("Write to [contact], approved by [body].", "placeholders to complete: [contact], [body]"),
        (shipped_text("starters/consent.md"), "still the sample text"),
        (shipped_text("packs/aria/pathfinder/consent.md") + "\n", "still the sample text"),
    ],
)
def test_a_consent_text_is_complete_without_sample_passages(words, problem):
    assert unfinished(words) == problem


@pytest.mark.parametrize(
    ("more", "lacking"),
    [
        ("", ["consent", "warning"]),
        ("consent: ours.md\n", ["warning"]),
        ("warning: ours.md\n", ["consent"]),
        ("consent: ours.md\nwarning: ours.md\n", []),
        ("pack: harms/violent\nconsent: ours.md\n", []),
    ],
)
def test_participants_consent_and_see_the_content_notice(folder, more, lacking):
    study = load_study(folder(study_yaml=PEOPLE + more, ours_md="Do you agree?")).study

    assert [one.key for one in missing_texts(study)] == lacking


def test_a_sample_is_not_a_consent_text(folder):
    study = load_study(folder(study_yaml=PEOPLE + "consent: c.md\nwarning: c.md\n", c_md="I am [name].")).study

    assert missing_texts(study) == (
        MissingText(what="the consent text: placeholders to complete: [name]", key="consent"),
    )


def test_without_participants_nothing_is_missing(folder):
    assert missing_texts(load_study(folder(study_yaml=STUDY)).study) == ()
