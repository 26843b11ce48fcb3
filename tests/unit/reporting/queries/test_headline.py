from __future__ import annotations

import pytest

from tests.fakes.evidence import changed, xstest_evidence
from theodolite.reporting.queries.headline import headline


@pytest.mark.parametrize(
    ("n", "words"),
    [(1, "5 recorded applications, the same prompt,"), (2, "5 recorded applications, the same 2 prompts,")],
)
def test_prompts_common_to_all_applications_are_equal(n, words):
    evidence = xstest_evidence()
    prompts = list(dict.fromkeys(session.pair_key for session in evidence.sessions))[:n]
    met = tuple(session for session in evidence.sessions if session.pair_key in prompts)

    assert headline(changed(evidence, sessions=met), ()).startswith(words)
