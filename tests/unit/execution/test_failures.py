from __future__ import annotations

import pytest
from tests.fakes.builders import unit

from theodolite.domain import errors
from theodolite.domain.errors import GatewayError, ReplayError, TemplateError, TimedOut, Unreachable
from theodolite.domain.failure import FailureKind, FailureSource
from theodolite.domain.flow import AskModel, SayToApplication
from theodolite.execution.failures import _KINDS, failure_of

SAID = SayToApplication(application="bot", prompt="p", turn=2)


def asked(party):
    return AskModel(model="large", messages=(), party=party)


@pytest.mark.parametrize("error", GatewayError.__subclasses__(), ids=lambda error: error.__name__)
def test_every_error_of_a_gateway_has_a_kind_of_its_own(error):
    assert error in _KINDS
    assert len(set(_KINDS.values())) == len(_KINDS)


def test_every_kind_of_failure_comes_from_an_error_but_the_one_that_people_decide():
    assert set(FailureKind) - set(_KINDS.values()) == {FailureKind.WITHDRAWN}


@pytest.mark.parametrize(
    ("request_", "party", "turn"),
    [
        (SAID, FailureSource.APPLICATION, 2),
        (asked(FailureSource.JUDGE), FailureSource.JUDGE, None),
        (asked(FailureSource.SIMULATED_USER), FailureSource.SIMULATED_USER, None),
        (None, FailureSource.MACHINERY, None),
    ],
)
def test_a_failure_is_the_fault_of_who_was_asked(request_, party, turn):
    failure = failure_of(unit(annotator="grounded"), TimedOut("30 s", endpoint="e", tries=3), request_)

    assert (failure.party, failure.turn) == (party, turn)
    assert (failure.kind, failure.message, failure.endpoint, failure.tries) == (FailureKind.TIMED_OUT, "30 s", "e", 3)
    assert (failure.unit, failure.label, failure.annotator) == ("unit-1", "d001", "grounded")


@pytest.mark.parametrize(
    ("error", "kind"),
    [(TemplateError("t"), FailureKind.TEMPLATE), (ReplayError("r"), FailureKind.REPLAY)],
)
def test_what_is_wrong_with_us_is_the_machinerys_fault(error, kind):
    failure = failure_of(unit(), error, SAID)

    assert (failure.party, failure.kind) == (FailureSource.MACHINERY, kind)


def test_an_error_of_a_plugin_counts_as_what_it_refines():
    class Gone(Unreachable):
        pass

    class Strange(errors.GatewayError):
        pass

    try:
        assert failure_of(unit(), Gone("g"), SAID).kind is FailureKind.UNREACHABLE
        assert failure_of(unit(), Strange("s"), SAID).kind is FailureKind.SERVER_FAULT
    finally:
        del Gone, Strange
