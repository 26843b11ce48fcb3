"""Material that a dialogue is about and that no slot takes is noted before a run."""

import pytest

from theodolite.config.loading import load_study
from theodolite.config.yaml_source import render_diagnostics

MODEL = "{{kind: model, model: m, system: {system}}}"
HTTP = '{{kind: http, url: "http://127.0.0.1:1/a", body: {{q: "{{{{ prompt }}}}", more: "{slot}"}}}}'
ARIA = '{{kind: aria, class: "team:Api"{more}}}'
SEARCH = "{task: search, corpus: faq.md, scripts: {hello: Hello}}"
SHORTEN = "{task: summarisation, source: faq.md, scripts: {hello: Shorten it}}"
TALK = "{task: chat, source: faq.md, scripts: {hello: Hello}}"
STUDY = """
study: s
models: {{m: {{script: [Hi]}}}}
applications: {{bot: {bot}}}
scenarios: {{help: {scenario}}}
"""


def notes(folder, bot, scenario):
    place = folder(study_yaml=STUDY.format(bot=bot, scenario=scenario), faq_md="Returns are free.")
    return " ".join(render_diagnostics(load_study(place).notes).split())


@pytest.mark.parametrize(
    ("bot", "key"),
    [(MODEL.format(system="Be kind."), "system"), (HTTP.format(slot=""), "body"), (ARIA.format(more=""), "prompt")],
    ids=["model", "http", "aria"],
)
@pytest.mark.parametrize(
    ("scenario", "what"), [(SEARCH, "what the search finds"), (SHORTEN, "the text that dialogues")]
)
def test_material_without_a_slot_is_noted(folder, bot, key, scenario, what):
    said = notes(folder, bot, scenario)

    assert what in said
    assert f"put {{{{ context }}}} into its `{key}`" in said


@pytest.mark.parametrize(
    "bot",
    [
        MODEL.format(system='"From this alone: {{ context }}"'),
        HTTP.format(slot="{{ context }}"),
        ARIA.format(more=', prompt: "{{ context }} {{ prompt }}"'),
    ],
    ids=["model", "http", "aria"],
)
def test_material_with_a_slot_is_not(folder, bot):
    assert "does not reach" not in notes(folder, bot, SEARCH)


def test_dialogue_and_source_material_together_need_no_slot(folder):
    assert "does not reach" not in notes(folder, ARIA.format(more=""), TALK)


@pytest.mark.parametrize(("attacks", "is_noted"), [("rephrase, injection", True), ("rephrase", False)])
def test_planted_text_without_a_slot_gives_a_note(folder, attacks, is_noted):
    scenario = f"{{task: chat, turns: 4, attacks: [{attacks}], aims: {{end: How does it end?}}}}"

    said = notes(folder, ARIA.format(more=""), scenario)

    assert ("what strategy `injection` plants in scenario `help` does not reach application `bot`" in said) is is_noted
