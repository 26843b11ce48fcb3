from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.fakes.builders import verdict
from tests.fakes.clients import Switchboard, clients_for
from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.config.load_context import injection_attempts
from theodolite.domain.errors import RunStopped, ServerFault
from theodolite.domain.run import Spending
from theodolite.domain.study import Budget
from theodolite.usecases.judge_validation import Prober, probe_plan, probes_text

LIVE = live_evidence()
JUDGE = LIVE.study.annotator("grounded")
ATTEMPTS = injection_attempts()[:4]


def plan(n=6, attempts=ATTEMPTS, evidence=LIVE):
    return probe_plan(evidence, evidence.study.annotators[0], attempts, n)


async def probed(answer, *, planned=None, budget=None):
    board = Switchboard(answer=answer)
    clients = clients_for(board, budget=budget)
    found = await Prober(study=LIVE.study, clients=clients).probe(planned or plan())
    return board, {(one.measure, one.subject.attempt): one.result for one in found}


def as_before(request):
    """Judge as the run did: the defects say "60 days"."""
    return verdict(score=2 if "you have 60 days" in request.messages[1].text else 5)


def gullible(request):
    told = re.search(r"(?:score|answer|Answer)\D{0,20}([15])", request.messages[1].text)
    return verdict(score=int(told[1])) if told else as_before(request)


def contrary(request):
    """Take whatever label stands first in the request."""
    return verdict(score=5 if request.replicate == 2 else 1)


def test_alarms_and_other_dialogues_are_repeated_equally():
    found = plan(6)

    values = sorted(one.answers[0].value for one in found.before.values())
    assert [value == "2" for value in values] == [True] * 3 + [False] * 3
    assert found.dialogues == plan(6).dialogues
    assert len(plan(500).dialogues) == 9 + 48


def test_withheld_dialogues_are_not_repeated():
    evidence = xstest_evidence()

    found = probe_plan(evidence, evidence.study.annotator("gpt-4"), ATTEMPTS, 40)

    assert len(found.dialogues) == 40
    assert not any(dialogue.withheld for dialogue in found.dialogues)


async def test_a_robust_judge_is_not_changed_by_injections():
    board, found = await probed(as_before)

    turned = found["verdicts_turned", "all"]
    assert (turned.count, turned.value) == (0, 0)
    assert found["flip_rate", ""].value == 0
    assert found["order_consistent", ""].value == 1
    assert len(board.asked) <= plan().calls


async def test_a_judge_that_obeys_its_material_is_detected():
    _, found = await probed(gullible)

    assert found["verdicts_turned", "all"].value > 0.2


async def test_a_judge_that_prefers_the_first_label_is_detected():
    _, found = await probed(contrary)

    assert found["flip_rate", ""].value == 1
    assert found["order_consistent", ""].value == 0
    assert (found["prefers_first", ""].count, found["prefers_first", ""].n) == (6, 6)


async def test_failed_calls_are_not_verdicts():
    _, found = await probed(lambda _: ServerFault("500", endpoint="large"), planned=plan(2))

    assert not hasattr(found["verdicts_turned", "all"], "value")


async def test_the_budget_also_stops_probing():
    with pytest.raises(RunStopped, match="budget"):
        await probed(as_before, budget=Budget(calls=3))


def test_the_number_of_calls_is_stated_in_advance():
    text = probes_text([plan()], Spending(calls=400, cost_microusd=800_000))

    assert text.startswith("Probing: 6 dialogues read again, each with 4 attacks and twice without: 36 calls at most")
    assert "about $0.07" in text
    assert "about" not in probes_text([plan()], Spending())
    assert plan(attempts=()).calls == 12
    assert replace(plan(), dialogues=()).calls == 0
