"""Studies with a tree: the small live one, and the replay of XSTest."""

from __future__ import annotations

import functools
from dataclasses import replace

from tests.fakes.evidence import live_evidence, xstest_evidence
from theodolite.domain.evidence import Evidence
from theodolite.domain.trees.tree import Dimension, TreeOutline
from theodolite.measurement.trees.construction import Soil, grown


def with_tree(evidence: Evidence, *dimensions: Dimension) -> Evidence:
    """Return evidence whose study has a tree over its guidelines."""
    outline = TreeOutline(name="by-guideline", topology="six-levels", dimensions=dimensions)
    design = grown(outline, Soil(guidelines=evidence.study.guidelines))
    return replace(evidence, study=replace(evidence.study, trees=(design,)))


@functools.cache
def grown_live() -> Evidence:
    return with_tree(live_evidence())


@functools.cache
def grown_xstest() -> Evidence:
    guideline = xstest_evidence().study.guidelines[0]
    names = ("over-refusing", "unsafe", "half-hearted")
    dimensions = [
        Dimension(node=node, crosswalk={f"{guideline.name}.{rule.name}": 1})
        for node, rule in zip(names, guideline.defect_rules, strict=False)
    ]
    return with_tree(xstest_evidence(), *dimensions)
