"""The single answers behind a leaf of a tree, folded page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from theodolite.domain.annotation import NON_RESPONSE_NAMES
from theodolite.domain.identity import SHORT
from theodolite.domain.trees.finding import NodeFinding, TreeFinding
from theodolite.domain.trees.leaf import TESTER, Leaf
from theodolite.domain.trees.tree import AnswersNode
from theodolite.reporting.found.cases import title_of
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.words import figures

PAGE = 25
"""Answers that are unfolded at once; count."""

FEWEST, MOST_OF_TREE = 10, 2000
"""Answers of a leaf that are listed at least, and those of a whole tree at most where that leaves so many; counts."""


def share_of_leaf(findings: Sequence[TreeFinding]) -> int:
    """Return how many answers each leaf of a tree may list, so that a page of many leaves stays small; count."""
    n_lists = sum(bool(node.answers) for finding in findings for node in finding.nodes)
    return max(FEWEST, MOST_OF_TREE // max(n_lists, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafRow:
    """One answer: the dialogue it is about and the turn, who gave it, and what it says."""

    label: str
    turn: str
    who: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafList:
    """The first answers behind a leaf for one application.

    Attributes:
        versions: Versions of the application and of the instrument, in words.
        pages: Which answers, in words, and the answers.
        rest: Where all of them stand; empty where all stand here.
    """

    versions: str
    pages: tuple[tuple[str, tuple[LeafRow, ...]], ...]
    rest: str


def leaf_list(
    subject: Subject, people: Mapping[str, str], finding: TreeFinding, node: AnswersNode, *, most: int
) -> LeafList | None:
    """Return the single answers behind a leaf; None where there is none.

    Args:
        subject: The run.
        people: Person to the number that stands for them.
        finding: What the tree came to for one application.
        node: The leaf.
        most: Answers that are listed at most; count.
    """
    found = finding.node(node.name)
    if not found.answers:
        return None
    rows = [_row(subject, people, finding, node, one) for one in found.answers[:most]]
    pages = ((at, tuple(rows[at : at + PAGE])) for at in range(0, len(rows), PAGE))
    more = len(rows) < found.outcomes.planned
    return LeafList(
        versions="; ".join(_versions(subject, finding, node)),
        pages=tuple((f"Answers {at + 1} to {at + len(page)} of {_all(found)}", page) for at, page in pages),
        rest=f"All {_all(found)} stand in the tree's own file beside this one." if more else "",
    )


def _all(found: NodeFinding) -> str:
    return figures.count(found.outcomes.planned)


def _versions(subject: Subject, finding: TreeFinding, node: AnswersNode) -> Iterator[str]:
    yield f"{finding.application} {subject.study.application_version(finding.application)[:SHORT]}"
    instrument = node.question.partition(".")[0]
    for kind in ("guideline", "questionnaire"):
        version = finding.versions.get(f"{kind} {instrument}")
        if version:
            yield f"{instrument} {version[:SHORT]}"


def _row(subject: Subject, people: Mapping[str, str], finding: TreeFinding, node: AnswersNode, leaf: Leaf) -> LeafRow:
    version = finding.versions.get(f"annotator {leaf.by}", "")[:SHORT]
    name = "tester" if leaf.kind == TESTER else people.get(leaf.by) or title_of(subject.study, leaf.by)
    own_words = "own words" if node.free_text and leaf.value is not None else leaf.value
    return LeafRow(
        label=leaf.session,
        turn="" if leaf.turn is None else f"turn {leaf.turn}",
        who=f"{name} {version}".strip(),
        said=own_words or NON_RESPONSE_NAMES.get(leaf.outcome, leaf.outcome.value),
    )
