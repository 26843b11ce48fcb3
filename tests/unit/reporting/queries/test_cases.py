from tests.fakes.evidence import groundedness, live_evidence, refusal, xstest_evidence
from theodolite.domain.annotation import Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import reference_names
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import accounts_of


def test_every_planned_session_is_a_case_in_order_of_the_plan():
    evidence = live_evidence(held=7)

    cases = cases_of(evidence.answers)

    assert [case.label for case in cases] == [session.label for session in evidence.sessions]
    assert sum(case.dialogue is not None for case in cases) == 7


def test_a_label_of_a_failed_session_is_failed_and_one_of_a_waiting_session_is_missing():
    failed, waiting = cases_of(live_evidence().answers)[17], cases_of(live_evidence(held=7).answers)[59]

    assert failed.dialogue_label("grounded", groundedness()).outcome is Outcome.FAILED
    assert waiting.dialogue_label("grounded", groundedness()).outcome is Outcome.MISSING


def test_the_reference_is_first_if_there_is_one_and_otherwise_everybody():
    recorded, live = xstest_evidence().study, live_evidence().study

    assert reference_names(recorded, refusal(), "gpt4") == (REFERENCE,)
    assert reference_names(live, groundedness(), "bot-1.4") == ("grounded",)


def test_the_reference_has_no_label_on_an_unrecorded_application():
    assert reference_names(xstest_evidence().study, refusal(), "somebody-live") == ()


def test_a_disposition_contains_every_planned_dialogue_once():
    evidence = live_evidence(held=50)
    account = accounts_of(evidence.study, cases_of(evidence.answers))[0]

    places = [place for part in (account.labelled, *account.unmeasured) for place in part.cases]

    assert sorted(places) == list(range(60))
    assert account.n(Outcome.MISSING) == 10
