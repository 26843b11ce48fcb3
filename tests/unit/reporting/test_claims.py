"""Claims and application accounts in results, report and summary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.fakes.evidence import changed, facts
from tests.fakes.report import assets, evidence_named, findings_named
from theodolite.domain.application import Claim, ClaimKind, GuardrailSite, Mitigation
from theodolite.domain.estimate import ClaimStatus, ClaimTest
from theodolite.domain.flow import FILTERED_TEXT
from theodolite.domain.run import FailureKind
from theodolite.reporting.page.report import report_html
from theodolite.reporting.queries.cases import cases_of
from theodolite.reporting.queries.dispositions import application_accounts, claim_words, claims_text, filtered_text
from theodolite.reporting.results.document import results_document

CLAIM = Claim(text="Keeps <to> the policy.", kind=ClaimKind.CAPABILITY, scripts=("a",))


def claimed(status=ClaimStatus.SUPPORTED, **more):
    about = {"guideline": "groundedness", "rule": "ungrounded", "annotator": "grounded", "planned": 5, "n": 4}
    return ClaimTest(application="bot-1.4", claim=CLAIM, status=status, **(about | more))


@pytest.fixture
def evidence():
    """The live study, in which the application's filter stepped in once and its guardrails are declared."""
    live = evidence_named("live")
    first, *rest = live.archive.dialogues()
    turns = (replace(first.turns[0], response=FILTERED_TEXT), *first.turns[1:])
    declared = replace(
        live.study.applications[0], guardrails=GuardrailSite.AT_SITE, mitigations=(Mitigation(name="filter"),)
    )
    study = replace(live.study, applications=(declared,))
    return changed(live, study=study, dialogues=(replace(first, turns=turns), *rest))


def test_refusals_by_a_filter_and_failures_are_distinguished(evidence):
    (account,) = application_accounts(evidence.study, cases_of(evidence.answers))

    assert (len(account.filtered), account.filtered_replies) == (1, 1)
    assert [kind for kind, _ in account.failed] == [FailureKind.TIMED_OUT]
    assert filtered_text((account,)).endswith(f"bot-1.4 1 of {len(account.held)}")


def test_the_disposition_of_an_application_adds_up(evidence):
    (entry,) = results_document(evidence, findings_named("live"), facts())["applications"]

    parts = entry["completed"] + entry["failed_by_others"] + entry["open"] + sum(part["n"] for part in entry["failed"])
    assert parts == entry["planned"] == 60
    assert (entry["guardrails"], entry["mitigations"]) == ("at the team's site", ["filter"])


def test_results_contain_the_status_of_each_claim(evidence):
    findings = replace(findings_named("live"), claims=(claimed(ClaimStatus.CONTRADICTED, contradicting=("d003",)),))

    (entry,) = results_document(evidence, findings, facts())["applications"]

    (claim,) = entry["claims"]
    assert (claim["status"], claim["n"], claim["planned"]) == ("contradicted", 4, 5)
    assert (claim["contradicting"], claim["reason"]) == (["d003"], None)


def test_the_report_shows_guardrails_refusals_and_claims(evidence):
    findings = replace(findings_named("live"), claims=(claimed(ClaimStatus.CONTRADICTED, contradicting=("d003",)),))

    page = report_html(evidence, findings, facts(), assets())

    assert "at the team&#39;s site; filter" in page
    assert "capability: Keeps &lt;to&gt; the policy." in page
    assert "contradicted: 1 of 4 labelled dialogues shows a defect" in page
    assert '<th scope="col">Tested by</th>' in page
    assert "<td>a</td>" in page, "no dialogue is held by this script, so there is none to open"
    assert '"claim0":{"title":"against: Keeps' in page


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (
            claimed(),
            (
                "supported: none of 4 labelled dialogues shows a defect by groundedness.ungrounded (grounded), "
                "1 more without a label"
            ),
        ),
        (claimed(n=5), "supported: none of 5 labelled dialogues shows a defect by groundedness.ungrounded (grounded)"),
        (claimed(ClaimStatus.NOT_TESTED, n=0, reason="it names no scripts"), "not tested: it names no scripts"),
    ],
)
def test_a_claim_in_words_has_its_counts(test, words):
    assert claim_words(evidence_named("live").study, test) == words


def test_a_summary_counts_claims_and_names_contradicting_ones():
    tests = (claimed(), claimed(ClaimStatus.CONTRADICTED, contradicting=("d001", "d002", "d003", "d004")))

    assert claims_text(()) == ""
    assert claims_text(tests[:1]) == "1 supported."
    assert claims_text(tests) == (
        '1 supported, 1 contradicted. Contradicted: bot-1.4 "Keeps <to> the policy." by d001, d002, d003.'
    )
