from __future__ import annotations

import pytest

from theodolite.domain.dialogue import Level, TesterType
from theodolite.domain.estimate_subject import EstimateSubject
from theodolite.domain.plan import Setting
from theodolite.domain.plan import TesterKind as Kind
from theodolite.reporting.words.descriptions import cluster_words


def setting(kind, level=Level.MODEL_TESTING, held_by=TesterType.SIMULATED_USER):
    return Setting(
        application="bot", scenario="s", level=level, held_by=held_by, cluster="c", groups={}, kind=kind, tester="t"
    )


PERSONA = setting(Kind.PERSONA)
ATTACK = setting(Kind.ATTACK, Level.RED_TEAMING)
REPEAT = setting(Kind.SCRIPT, held_by=TesterType.RECORDED)
IMPORTED = setting(Kind.SLOT, Level.FIELD_TESTING, TesterType.RECORDED)
SLOT = setting(Kind.SLOT, Level.RED_TEAMING, TesterType.PERSON)


@pytest.mark.parametrize(
    ("settings", "limits", "words"),
    [
        ([PERSONA, PERSONA], {}, ("persona", "personas")),
        ([PERSONA, ATTACK], {"level": Level.RED_TEAMING}, ("strategy", "strategies")),
        ([ATTACK, SLOT], {"level": Level.RED_TEAMING, "tester_type": TesterType.PERSON}, ("person", "people")),
        ([PERSONA, ATTACK], {}, ("cluster", "clusters")),
        ([REPEAT, REPEAT], {}, ("prompt", "prompts")),
        ([IMPORTED], {}, ("tester", "testers")),
        ([PERSONA, REPEAT], {}, ("cluster", "clusters")),
    ],
)
def test_clusters_are_named_by_their_unit(settings, limits, words):
    assert cluster_words(settings, EstimateSubject(application="bot", **limits)) == words
