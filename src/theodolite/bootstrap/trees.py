"""Tree files: written beside a run's results, and read by the commands on trees."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Findings
from theodolite.domain.evidence import Evidence
from theodolite.domain.tree import TreeDesign
from theodolite.domain.tree_finding import TreeFinding
from theodolite.domain.tree_form import FORMAT, TreeFile, design_document, leaf_document, tree_file_of
from theodolite.reporting.results.trees import node_entry


def tree_file_name(design: TreeDesign) -> str:
    """Return the name of the file that a tree of a run is written to."""
    return f"tree-{re.sub('[^A-Za-z0-9._-]+', '-', design.name)}.json"


def tree_file_pieces(evidence: Evidence, findings: Findings, design: TreeDesign) -> Iterator[str]:
    """Yield the text of a tree file: nodes and leaves one a line, so that two files can be told apart by lines."""
    tree = json.dumps(design_document(design), indent=1, ensure_ascii=False)
    yield f'{{\n"format": {json.dumps(FORMAT)},\n"tree": {tree},\n"applications": ['
    found = [finding for finding in findings.trees if finding.design.name == design.name]
    for number, finding in enumerate(found):
        yield "," * bool(number) + "\n"
        yield from _application(evidence, finding)
    yield "\n]\n}\n"


def _application(evidence: Evidence, finding: TreeFinding) -> Iterator[str]:
    from theodolite.measurement.study.trees import tree_leaves  # arrays: only who has measured comes here

    head = {
        "application": finding.application,
        "application_version": evidence.study.application_version(finding.application),
        "scenarios": list(finding.scenarios),
        "versions": dict(finding.versions),
    }
    yield json.dumps(head, ensure_ascii=False).removesuffix("}")
    yield ',\n"nodes": ['
    yield from _lines(node_entry(each) for each in finding.nodes)
    yield '],\n"leaves": ['
    application = evidence.study.application(finding.application)
    yield from _lines(leaf_document(leaf) for leaf in tree_leaves(evidence, finding.design, application))
    yield "]}"


def _lines(entries: Iterable[object]) -> Iterator[str]:
    for number, entry in enumerate(entries):
        yield f"{',' * bool(number)}\n{json.dumps(entry, ensure_ascii=False, allow_nan=False)}"


def read_tree_file(path: str) -> TreeFile:
    """Return what a tree file holds: a design in YAML or JSON, or one with leaves.

    Raises:
        InputError: If it cannot be read, or is no tree.
    """
    from theodolite.measurement.trees.tree import plain_of

    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        message = f"the tree `{path}` cannot be read: {reason}"
        raise InputError(message) from error
    try:
        return tree_file_of(plain_of(text))
    except InputError as error:
        message = f"{path}: {error}"
        raise InputError(message, faults=error.faults) from error
