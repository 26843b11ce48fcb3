"""Trees of a study: from what was said of each dialogue to what every node came to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from theodolite.domain.annotation import Outcome
from theodolite.domain.answer_rules import AnswerSource, QuestionLabels, annotators_of, positions_of
from theodolite.domain.answers import REFERENCE, AnswerRecord
from theodolite.domain.application import Application
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.trees.finding import TreeFinding, TreeStanding
from theodolite.domain.trees.leaf import Leaf
from theodolite.domain.trees.tree import SummaryNode, TreeDesign
from theodolite.measurement.study.heard import tester_leaves
from theodolite.measurement.trees.comparing import Tabled
from theodolite.measurement.trees.leaves import LeafTable, table_of
from theodolite.measurement.trees.linking import link_nodes, without_children
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import AGGREGATION, BUILT_IN, Methods
from theodolite.measurement.trees.reaching import with_dialogues
from theodolite.measurement.trees.splitting import split_tree
from theodolite.measurement.trees.standing import standing_of

MOST_LINKS = 45
"""Pairs of dimensions that are looked at; count. Ten dimensions have as many."""


def tree_findings(evidence: Evidence, methods: Methods = BUILT_IN) -> Iterator[TreeFinding]:
    """Yield what every tree of a study came to for every application.

    Args:
        evidence: Everything that one run holds.
        methods: The summaries that there are.
    """
    for design in evidence.study.trees:
        for application in evidence.study.applications:
            yield _finding(evidence, design, application, methods)


def _finding(evidence: Evidence, design: TreeDesign, application: Application, methods: Methods) -> TreeFinding:
    study, draws = evidence.study, Draws(seed=evidence.study.sampling.seed)
    table = table_of(tree_leaves(evidence, design, application))
    finding = measure_tree(design, table, application=application.name, draws=draws, methods=methods)
    tops = branches(design)
    return replace(
        with_dialogues(finding, design, table, methods=methods),
        scenarios=_scenarios(evidence, application),
        versions=dict(_versions(evidence, design, application)),
        splits=split_tree(design, table, _groups(table, study.groups), nodes=tops, draws=draws, methods=methods),
        links=link_nodes(design, table, tops, draws=draws, methods=methods) if _pairs(tops) <= MOST_LINKS else (),
        without=without_children(design, table, methods=methods),
    )


def tree_standings(
    evidence: Evidence, findings: Sequence[TreeFinding], methods: Methods = BUILT_IN
) -> Iterator[TreeStanding]:
    """Yield how a study's applications stand to each other on each tree; nothing for one application alone.

    Args:
        evidence: Everything that one run holds.
        findings: What the trees came to.
        methods: The summaries that there are.
    """
    draws = Draws(seed=evidence.study.sampling.seed)
    for design in evidence.study.trees:
        own = [finding for finding in findings if finding.design.name == design.name]
        tabled = [_tabled(evidence, finding) for finding in own if any(node.outcomes.used for node in finding.nodes)]
        if len(tabled) > 1:
            yield standing_of(tabled, branches(design), draws=draws, methods=methods)


def _tabled(evidence: Evidence, finding: TreeFinding) -> Tabled:
    application = evidence.study.application(finding.application)
    return Tabled(
        design=finding.design,
        table=table_of(tree_leaves(evidence, finding.design, application)),
        application=finding.application,
        scenarios=finding.scenarios,
        versions=finding.versions,
    )


def branches(design: TreeDesign) -> tuple[str, ...]:
    """Return the names of a tree's main branches: its dimensions, or else what stands below its root.

    Example:
        >>> from theodolite.domain.trees.form import design_of
        >>> leaf = {"answers": "q", "scale": "0-1", "orientation": "higher_is_worse"}
        >>> branches(design_of({"tree": "t", "nodes": {"top": {"summary": "mean", "of": "a"}, "a": leaf}}))
        ('top',)
    """
    named = tuple(dimension.node for dimension in design.dimensions)
    if named:
        return named
    roots = [design.by_name[root] for root in design.roots]
    opened = [
        child
        for root in roots
        if isinstance(root, SummaryNode)
        for child in (root.children if root.summary == AGGREGATION else (root.name,))
    ]
    return tuple(name for name in opened if isinstance(design.by_name[name], SummaryNode))


def _pairs(names: Sequence[str]) -> int:
    return len(names) * (len(names) - 1) // 2


def _groups(table: LeafTable, groups: Sequence[str]) -> tuple[str, ...]:
    """Return the groups that a tree is split by: the study's own, and the level where there are several."""
    levels = {one.level for one in table.sessions}
    return (*groups, *(["level"] if len(levels) > 1 else []))


def tree_leaves(evidence: Evidence, design: TreeDesign, application: Application) -> Iterator[Leaf]:
    """Yield the leaves of a tree for one application, in order of guidelines, questions, annotators and plan.

    Every planned session has a leaf for each question and annotator, whatever
    became of it; turns have leaves of their own. What testers answered stands last.

    Args:
        evidence: Everything that one run holds.
        design: The tree.
        application: The application.
    """
    wanted = set(design.questions)
    for guideline in evidence.study.guidelines:
        for question in guideline.instrument.questions:
            if f"{guideline.name}.{question.name}" in wanted:
                yield from _leaves(evidence, application, guideline, question)
    yield from tester_leaves(evidence, wanted, application)


def _leaves(evidence: Evidence, application: Application, guideline: Guideline, question: Question) -> Iterator[Leaf]:
    places = positions_of(evidence.study, evidence.answers, application, guideline)
    sheet = QuestionLabels(table=evidence.answers, guideline=guideline, question=question, positions=places)
    for source in annotators_of(evidence.study, guideline, application).counted:
        at_turns = question.level is QuestionLevel.TURN and source.kind is not None
        given = dict(evidence.answers.columns(source.name, guideline.name, question.name).by_position())
        for place, label in zip(places, sheet.labels(source), strict=True):
            records = [record for record in given.get(place, ()) if (record.turn is not None) is at_turns]
            fallen = AnswerRecord(outcome=label.outcome, value=label.value)
            for record in (records if at_turns else records[:1]) or [fallen]:
                yield _leaf(evidence, source, f"{guideline.name}.{question.name}", place, record)


def _leaf(evidence: Evidence, source: AnswerSource, question: str, place: int, record: AnswerRecord) -> Leaf:
    setting = evidence.answers.settings[place]
    return Leaf(
        question=question,
        session=evidence.sessions.label(place),
        value=record.value if record.outcome is Outcome.ANSWERED else None,
        outcome=record.outcome,
        by=source.name,
        kind=source.kind.value if source.kind else REFERENCE,
        turn=record.turn,
        replicate=record.replicate,
        cluster=setting.cluster,
        level=setting.level.value,
        held_by=setting.held_by.value,
        groups=dict(setting.groups),
    )


def _scenarios(evidence: Evidence, application: Application) -> tuple[str, ...]:
    met = (setting.scenario for setting in evidence.answers.settings if setting.application == application.name)
    return tuple(dict.fromkeys(met))


def _versions(evidence: Evidence, design: TreeDesign, application: Application) -> Iterator[tuple[str, str]]:
    yield "tree", design.method_version
    for questionnaire in evidence.study.questionnaires:
        if any(question.startswith(f"{questionnaire.name}.") for question in design.questions):
            yield f"questionnaire {questionnaire.name}", version_of(questionnaire)
    for guideline in evidence.study.guidelines:
        if any(question.startswith(f"{guideline.name}.") for question in design.questions):
            yield f"guideline {guideline.name}", version_of(guideline)
            for source in annotators_of(evidence.study, guideline, application).counted:
                yield f"annotator {source.name}", source.version
