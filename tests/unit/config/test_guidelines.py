from __future__ import annotations

import pytest

from theodolite.config.load_context import ResourceResolver
from theodolite.config.loading import load_study
from theodolite.config.questions import scale_to_domain
from theodolite.domain.errors import InputError
from theodolite.domain.guideline import Origin
from theodolite.domain.instrument import Orientation, ScaleKind

UNSTATED = Orientation.UNSTATED
STUDY = """study: a
models: {m: {script: [Hello]}}
applications: {app: {kind: model, model: m}}
scenarios: {s: {scripts: {hello: Hello}}}
judges: {j: {guideline: NAME, model: m}}
"""


@pytest.mark.parametrize(
    ("form", "points"),
    [
        (None, ("yes", "no")),
        ("1-5", ("1", "2", "3", "4", "5")),
        ("0 to 2", ("0", "1", "2")),
        (["1", "2", "3"], ("1", "2", "3")),
        (["1", "3"], ("1", "3")),
        ({"1": "bad", "5": "good"}, ("1", "2", "3", "4", "5")),
        ({"yes": "it is", "no": ""}, ("yes", "no")),
        ("text", ()),
        ("0-100", tuple(str(point) for point in range(101))),
    ],
)
def test_a_scale_has_these_points(form, points):
    assert scale_to_domain(form, UNSTATED).categories == points


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (["1", "2"], ScaleKind.NUMBERS),
        (["1", "3"], ScaleKind.CATEGORIES),
        ("text", ScaleKind.TEXT),
        ("0.0-1.0", ScaleKind.DECIMALS),
    ],
)
def test_consecutive_integers_form_a_number_scale(form, kind):
    assert scale_to_domain(form, UNSTATED).kind is kind


@pytest.mark.parametrize("form", ["five", "5-1", "1.0-0.0", "0.5-1.0", "3-3", ["a"], ["a", "a"], {}])
def test_an_invalid_scale_is_refused(form):
    with pytest.raises(InputError, match="scale"):
        scale_to_domain(form, UNSTATED)


def test_labels_have_an_order_once_the_bad_end_is_stated():
    assert scale_to_domain(["a", "b"], Orientation.LOWER_IS_WORSE).ordered
    assert not scale_to_domain(["a", "b"], UNSTATED).ordered


@pytest.mark.parametrize("name", ResourceResolver().names("guidelines", ".yaml"))
def test_every_shipped_guideline_can_be_used(folder, name):
    loaded = load_study(folder(study_yaml=STUDY.replace("NAME", name)))

    guideline = loaded.study.guideline(name)

    assert (guideline.origin, bool(guideline.edition), bool(guideline.examples)) == (Origin.SHIPPED, True, True)


def test_a_guideline_of_the_folder_comes_before_a_shipped_one(folder):
    own = "ask: Grounded?\ndefect: '== no'\nedition: 9\n"

    loaded = load_study(folder(study_yaml=STUDY.replace("NAME", "groundedness"), guidelines__groundedness_yaml=own))

    assert loaded.study.guideline("groundedness").origin is Origin.STUDY
    assert [(item.name, item.where) for item in loaded.found] == [("groundedness", "guidelines/groundedness.yaml")]


def test_a_custom_question_becomes_a_guideline_named_after_its_judge(folder):
    judge = 'ask: Polite?, defect: "== no"'

    loaded = load_study(folder(study_yaml=STUDY.replace("guideline: NAME", judge)))

    guideline = loaded.study.guideline("j")
    assert (guideline.origin, guideline.defect_rules[0].condition) == (Origin.OWN_WORDING, "label == no")
