import json
from dataclasses import replace

import jsonschema
import pytest

from tests.fakes.evidence_variants import PLAIN, VOTES
from theodolite.config.load_context import shipped_text
from theodolite.reporting.results.annotators import diagnostics_entry


@pytest.mark.parametrize("votes", [None, VOTES, replace(VOTES, advice=None)])
def test_results_conform_to_the_schema(votes):
    schema = json.loads(shipped_text("schemas/results.schema.json"))
    entry = diagnostics_entry(replace(PLAIN, votes=votes, control_failed=("d001",)))

    jsonschema.validate(entry, {"$ref": "#/$defs/judge_diagnostics", "$defs": schema["$defs"]})
