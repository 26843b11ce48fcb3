"""Measurement trees in the report: nodes, contexts and single answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from theodolite.domain.annotation import NON_RESPONSE_NAMES
from theodolite.domain.estimate import Estimate
from theodolite.domain.identity import SHORT, Json
from theodolite.domain.tree import TESTER, AnswersNode, Leaf, SummaryNode, TreeDesign
from theodolite.domain.tree_finding import (
    ContextValue,
    NodeFinding,
    NodeRobustness,
    NodeSplit,
    TreeComparison,
    TreeFinding,
)
from theodolite.domain.undefined_reasons import UNDEFINED
from theodolite.reporting.interval_bars import IntervalBar
from theodolite.reporting.page.subject import Subject
from theodolite.reporting.page.tree_charts import DotPlot, Icicle, NodeSets, Radar, dot_plot, icicle, radar
from theodolite.reporting.page.tree_standing import StandingPicture, range_of, standing_picture
from theodolite.reporting.queries.cases import pseudonyms, title_of
from theodolite.reporting.tables import Table, columns
from theodolite.reporting.words import figures
from theodolite.reporting.words.trees import (
    SIDE_BY_SIDE,
    basis_words,
    kind_words,
    number,
    shown_robustness,
    span_words,
    value_words,
    view_words,
)

_OPEN_STOREYS = 1
"""Number of rows of nodes that are initially unfolded below the charts; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """Result of a node for one application.

    Attributes:
        application: Name of the application.
        tint: Number of its colour.
        words: Value and interval, or "no data".
        basis: Its data and missing data.
        opens: Name of the set of its dialogues; empty for none.
        raised: Number of them that raise it, as text; empty for none.
        opens_raised: Name of the set of those; empty for none.
        notes: Further notes: empty children, the probability of being the highest.
        bar: The interval bar; None without an interval on a scale.
        answers: The single answers of a leaf; None for other nodes, and without any.
    """

    application: str
    tint: int
    words: str
    basis: str
    opens: str
    raised: str
    opens_raised: str
    notes: tuple[str, ...]
    bar: IntervalBar | None
    answers: LeafList | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A node with all that is below it.

    Attributes:
        title: Displayed title.
        kind: Its operation, and its weight unless that is 1.
        about: Its meaning.
        lines: One per application.
        children: The nodes below.
        is_open: Whether it is initially unfolded.
        is_empty: Whether no application has data here.
    """

    title: str
    kind: str
    about: str
    lines: tuple[NodeLine, ...]
    children: tuple[NodeView, ...]
    is_open: bool
    is_empty: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeView:
    """One tree.

    Attributes:
        title: Name and edition.
        about: Its subject.
        version: Content hash of everything that decides values.
        roots: Its roots.
        icicles: The tree as an icicle, one for each application.
        radar: Its dimensions as a radar; None for fewer than three.
        dots: Its dimensions as a dot plot; None without one on a common scale.
        splits: One table for each group: node, part, and a cell for each application.
        robustness: One table for each kind of context: node, application, gap and spread; branches first.
        links: Correlations of dimensions, as text.
        views: Named weightings with their values, as text.
        standing: Relations of the applications, as text; empty for a single one.
        picture: The relations as a drawing; None for a single application.
    """

    title: str
    about: str
    version: str
    roots: tuple[NodeView, ...]
    icicles: tuple[Icicle, ...]
    radar: Radar | None
    dots: DotPlot | None
    splits: tuple[Table, ...]
    robustness: tuple[Table, ...]
    links: tuple[str, ...]
    views: tuple[str, ...]
    standing: tuple[str, ...]
    picture: StandingPicture | None


def tree_views(subject: Subject) -> tuple[TreeView, ...]:
    """Return the trees of a run, each with all applications side by side."""
    findings = subject.findings.trees
    names = dict.fromkeys(finding.design.name for finding in findings)
    return tuple(_tree(subject, [f for f in findings if f.design.name == name]) for name in names)


def _tree(subject: Subject, findings: Sequence[TreeFinding]) -> TreeView:
    design = findings[0].design
    drawer = _Drawer(
        subject=subject,
        findings=tuple(findings),
        people=pseudonyms(subject.evidence),
        most_answers=share_of_leaf(findings),
    )
    return TreeView(
        title=f"{design.name} {design.edition}".strip(),
        about=design.about,
        version=design.method_version[:8],
        roots=tuple(drawer.node(root, 0, 1.0) for root in design.roots),
        icicles=tuple(drawer.icicle(finding) for finding in findings if drawer.has_data(finding)),
        radar=radar(subject, findings),
        dots=dot_plot(subject, findings),
        splits=tuple(_splits(findings)),
        robustness=tuple(_robustness(findings)),
        links=tuple(words for finding in findings for words in _links(finding)),
        views=tuple(f"{finding.application}: {words}" for finding in findings for words in view_words(finding)),
        standing=tuple(_standing(subject, design.name)),
        picture=standing_picture(subject, design.name),
    )


def _standing(subject: Subject, tree: str) -> Iterator[str]:
    for standing in subject.findings.standings:
        if standing.tree != tree:
            continue
        if standing.dimensions:
            named = [f"{name} ({number(standing.front_odds.get(name))})" for name in standing.front]
            on, share = ", ".join(standing.dimensions), ", ".join(named)
            yield f"Outdone by nobody on {on}, with the share of samples in which that holds: {share}."
        for pair in standing.comparisons:
            yield _pair_words(pair)


def _pair_words(pair: TreeComparison) -> str:
    words = {
        "equal": f"{pair.first} and {pair.second} are equal at every node.",
        "lower": f"{pair.first} is nowhere higher than {pair.second}, and lower at {len(pair.lower)} nodes.",
        "higher": f"{pair.second} is nowhere higher than {pair.first}, and lower at {len(pair.higher)} nodes.",
        "incomparable": (
            f"{pair.first} and {pair.second} are not comparable: {len(pair.lower)} nodes are lower here, "
            f"{len(pair.higher)} there."
        ),
    }
    return words.get(pair.order) or f"{pair.first} and {pair.second} stand side by side only. {' '.join(pair.warnings)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawer:
    subject: Subject
    findings: tuple[TreeFinding, ...]
    people: Mapping[str, str]
    most_answers: int
    lines: dict[tuple[str, str], NodeLine] = field(default_factory=dict)

    def has_data(self, finding: TreeFinding) -> bool:
        """Return whether a node of the tree has an answer."""
        return any(node.outcomes.used for node in finding.nodes)

    def icicle(self, finding: TreeFinding) -> Icicle:
        """Return the tree for one application as an icicle."""
        own = {name: line for (application, name), line in self.lines.items() if application == finding.application}
        sets = {
            name: NodeSets(basis=line.basis, opens=line.opens, raised=line.raised, opens_raised=line.opens_raised)
            for name, line in own.items()
        }
        return icicle(self.subject, finding, sets, {name: _answer_rows(line.answers) for name, line in own.items()})

    @property
    def design(self) -> TreeDesign:
        return self.findings[0].design

    def node(self, name: str, storey: int, weight: float) -> NodeView:
        node = self.design.by_name[name]
        weights = {edge.child: edge.weight for edge in node.edges} if isinstance(node, SummaryNode) else {}
        lines = tuple(self._line(finding, name) for finding in self.findings)
        is_empty = all(not finding.node(name).outcomes.used for finding in self.findings)
        return NodeView(
            title=node.title or name,
            kind=f"{kind_words(node)}{f', weight {weight:g}' if weight != 1 else ''}",
            about=node.about if isinstance(node, SummaryNode) else self._definition(name),
            lines=() if is_empty or all(line.words == SIDE_BY_SIDE for line in lines) else lines,
            children=tuple(self.node(child, storey + 1, weights.get(child, 1.0)) for child in node.children),
            is_open=storey < _OPEN_STOREYS and not is_empty,
            is_empty=is_empty,
        )

    def _definition(self, name: str) -> str:
        return next((each.definition for each in self.design.dimensions if each.node == name), "")

    def _line(self, finding: TreeFinding, name: str) -> NodeLine:
        key = (finding.application, name)
        if key not in self.lines:
            self.lines[key] = self._node_line(finding, name)
        return self.lines[key]

    def _node_line(self, finding: TreeFinding, name: str) -> NodeLine:
        result = finding.node(name)
        what = f"{self.design.name}, {self.design.by_name[name].title or name}: {finding.application}"
        lifting = "dialogue raises it" if len(result.raised) == 1 else "dialogues raise it"
        return NodeLine(
            application=finding.application,
            tint=self.subject.tint(finding.application),
            words=value_words(result),
            basis=basis_words(result),
            opens=self._set(f"{what}, answered", result.dialogues),
            raised=f"{figures.count(len(result.raised))} {lifting}" if result.raised else "",
            opens_raised=self._set(f"{what}, above the lowest value", result.raised),
            notes=tuple(_notes(result)),
            bar=_bar(result),
            answers=self._answers(finding, result),
        )

    def _answers(self, finding: TreeFinding, found: NodeFinding) -> LeafList | None:
        node = self.design.by_name[found.node]
        if not isinstance(node, AnswersNode):
            return None
        return leaf_list(self.subject, self.people, finding, node, most=self.most_answers)

    def _set(self, title: str, labels: Sequence[str]) -> str:
        sets = self.subject.sets
        return sets.add(f"tree{len(sets.sets)}", title, [case.index for case in self.subject.labelled(labels)])


def _answer_rows(answers: LeafList | None) -> list[Json]:
    if answers is None:
        return []
    return [[row.label, row.turn, row.said, row.who] for _, rows in answers.pages for row in rows]


def _notes(found: NodeFinding) -> Iterator[str]:
    if found.empty and found.value is not None:
        yield f"without data and left out: {', '.join(found.empty)}"
    if found.worst_odds:
        child, share = max(found.worst_odds.items(), key=lambda item: item[1])
        yield f"highest: {child}, with odds of {number(share)}"
    if found.spread:
        yield f"annotators of one dialogue lie {number(found.spread)} apart"


def _bar(found: NodeFinding) -> IntervalBar | None:
    result = found.result
    scale = range_of(result.unit)
    if not isinstance(result, Estimate) or scale is None:
        return None
    ends = (result.value if result.low is None else result.low, result.value, result.high)
    shares = [((result.value if end is None else end) - scale.lowest) / scale.width for end in ends]
    low, value, high = (min(max(share, 0.0), 1.0) for share in shares)
    return IntervalBar(low=low, value=value, high=high, is_zero=result.value == scale.lowest)


def _splits(findings: Sequence[TreeFinding]) -> Iterator[Table]:
    splits = {
        (split.group, split.node, split.part, finding.application): split
        for finding in findings
        for split in finding.splits
        if split.n_dialogues
    }
    applications = [finding.application for finding in findings]
    design = findings[0].design
    for group in dict.fromkeys(key[0] for key in splits):
        yield Table(
            title=f"{f'{design.name} {design.edition}'.strip()} by {group}",
            columns=columns("node", group, *applications),
            rows=tuple(
                (node, part, *(_cell(splits.get((group, node, part, name))) for name in applications))
                for node, part in dict.fromkeys((node, part) for key, node, part, _ in splits if key == group)
            ),
            style="groups",
        )


_MOST_ROWS = 60


def _robustness(findings: Sequence[TreeFinding]) -> Iterator[Table]:
    """Yield a table for each kind of context, nodes with the largest gaps first."""
    design = findings[0].design
    result = [(finding.application, each) for finding in findings for each in shown_robustness(finding)]
    for context in dict.fromkeys(each.context for _, each in result):
        own = [(application, each) for application, each in result if each.context == context]
        own.sort(key=lambda item: -(item[1].gap.value if isinstance(item[1].gap, Estimate) else -1.0))
        rest = len(own) - _MOST_ROWS
        yield Table(
            title=f"Contextual robustness of {design.name} by {context}",
            caption=f"By {context}",
            columns=columns("Node", "Application", "Lowest", "Highest", "Gap", "Spread", "Withheld"),
            rows=tuple(_robustness_row(design, application, each) for application, each in own[:_MOST_ROWS]),
            notes=(f"{figures.count(rest)} more in results.json.",) if rest > 0 else (),
            style="groups",
        )


def _robustness_row(design: TreeDesign, application: str, each: NodeRobustness) -> tuple[str, ...]:
    values = {value.part: value for value in each.values}
    withheld = [
        f"{value.part} (n {figures.count(value.n_dialogues)})"
        for value in each.values
        if value.result is None and value.n_dialogues
    ]
    return (
        design.by_name[each.node].title or each.node,
        application,
        *(_context_words(values.get(part)) for part in (each.lowest, each.highest)),
        span_words(each.gap),
        span_words(each.spread),
        ", ".join(withheld) or "none",
    )


def _context_words(value: ContextValue | None) -> str:
    if value is None or value.result is None or value.outcomes is None:
        return UNDEFINED
    missing = f", {figures.count(value.outcomes.unmeasured)} missing" if value.outcomes.unmeasured else ""
    return f"{value.part}: {span_words(value.result)}, n {figures.count(value.n_dialogues)}{missing}"


def _cell(split: NodeSplit | None) -> str:
    if split is None:
        return "none"
    of = figures.number_of(split.n_dialogues, "dialogue")
    if split.finding is None:
        return f"withheld, {of}"
    chance = "" if split.p_value is None else f", p {number(split.p_value)}"
    return f"{value_words(split.finding)}, {of}{chance}"


def _links(finding: TreeFinding) -> Iterator[str]:
    for link in finding.links:
        if isinstance(link.rank, Estimate):
            together = f"{finding.application}: {link.first} and {link.second} go together by {number(link.rank.value)}"
            parts = [f"{number(link.rank.low)} to {number(link.rank.high)}", f"{figures.count(link.rank.n)} dialogues"]
            parts += [f"{number(link.partial)} with the others held"] if link.partial is not None else []
            one = figures.count(link.first_only + link.second_only)
            counts = f"both {figures.count(link.both)}, one {one}, none {figures.count(link.neither)}"
            shared = f"; both rest on {', '.join(link.shared)}" if link.shared else ""
            yield f"{together} ({', '.join(parts)}); {counts}{shared}"


PAGE = 25


"""Number of answers unfolded in one step; count."""


FEWEST, MOST_OF_TREE = 10, 2000


"""Minimum number of listed answers of a leaf, and maximum of a whole tree above that; counts."""


def share_of_leaf(findings: Sequence[TreeFinding]) -> int:
    """Return the maximum number of listed answers per leaf, so that a page of many leaves stays small; count."""
    n_lists = sum(bool(node.answers) for finding in findings for node in finding.nodes)
    return max(FEWEST, MOST_OF_TREE // max(n_lists, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafRow:
    """One answer: its dialogue, turn, annotator and value."""

    label: str
    turn: str
    who: str
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafList:
    """The first answers behind a leaf for one application.

    Attributes:
        versions: Versions of the application and of the instrument, as text.
        pages: Description of the answers, and the answers.
        rest: Location of all of them; empty if all are here.
    """

    versions: str
    pages: tuple[tuple[str, tuple[LeafRow, ...]], ...]
    rest: str


def leaf_list(
    subject: Subject, people: Mapping[str, str], finding: TreeFinding, node: AnswersNode, *, most: int
) -> LeafList | None:
    """Return the single answers behind a leaf; None if there is none.

    Args:
        subject: The run.
        people: Person to their number.
        finding: Result of the tree for one application.
        node: The leaf.
        most: Maximum number of answers listed; count.
    """
    result = finding.node(node.name)
    if not result.answers:
        return None
    rows = [_row(subject, people, finding, node, answer) for answer in result.answers[:most]]
    pages = ((at, tuple(rows[at : at + PAGE])) for at in range(0, len(rows), PAGE))
    more = len(rows) < result.outcomes.planned
    return LeafList(
        versions="; ".join(_versions(subject, finding, node)),
        pages=tuple((f"Answers {at + 1} to {at + len(page)} of {_all(result)}", page) for at, page in pages),
        rest=f"All {_all(result)} stand in the tree's own file beside this one." if more else "",
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
