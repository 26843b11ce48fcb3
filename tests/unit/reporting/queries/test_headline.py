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
    prompts = list(dict.fromkeys(one.pair_key for one in evidence.sessions))[:n]
    met = tuple(one for one in evidence.sessions if one.pair_key in prompts)

    assert headline(changed(evidence, sessions=met), ()).startswith(words)
