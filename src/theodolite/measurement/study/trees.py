"""Trees of a study: from answers to the finding of every node."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.annotator import REFERENCE
from theodolite.domain.answer_rules import (
    AnswerSource,
    AnswerSources,
    QuestionLabels,
    annotators_of,
    off_scale_codes,
    positions_of,
)
from theodolite.domain.answers import OUTCOME_CODES, WHOLE_DIALOGUE, AnswerColumns, AnswerTable, DialogueLabels
from theodolite.domain.application import Application
from theodolite.domain.dialogue import TesterType
from theodolite.domain.evidence import Evidence
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import version_of
from theodolite.domain.instrument import Question, QuestionLevel
from theodolite.domain.schema import QuestionnaireResponse
from theodolite.domain.tree import TESTER, Leaf, SummaryNode, TreeDesign
from theodolite.domain.tree_finding import TreeFinding, TreeStanding
from theodolite.measurement.trees.association import link_nodes, split_tree, without_children
from theodolite.measurement.trees.bounds import with_dialogues
from theodolite.measurement.trees.leaves import (
    NO_TEXT,
    NO_TURN,
    AnswerBlock,
    Ints,
    LeafTable,
    LeafTableBuilder,
    SessionFacts,
)
from theodolite.measurement.trees.measuring import Draws, measure_tree
from theodolite.measurement.trees.methods import AGGREGATION, BUILT_IN, Methods
from theodolite.measurement.trees.robustness import SCENARIO, contexts_of, node_robustness
from theodolite.measurement.trees.tree import TreeComparisonTable, compare_applications

MOST_LINKS = 45
"""Maximum number of compared pairs of dimensions: those of ten dimensions; count."""


def tree_findings(evidence: Evidence, methods: Methods = BUILT_IN) -> Iterator[TreeFinding]:
    """Yield the finding of every tree of a study for every application."""
    for design in evidence.study.trees:
        for application in evidence.study.applications:
            yield _finding(evidence, design, application, methods)


def _finding(evidence: Evidence, design: TreeDesign, application: Application, methods: Methods) -> TreeFinding:
    study, draws = evidence.study, Draws(seed=evidence.study.sampling.seed)
    table = leaf_table(evidence, design, application)
    finding = measure_tree(design, table, application=application.name, draws=draws, methods=methods)
    tops = branches(design)
    return replace(
        with_dialogues(finding, design, table, methods=methods),
        scenarios=_scenarios(evidence, application),
        versions=dict(_versions(evidence, design, application)),
        splits=split_tree(design, table, _groups(table, study.groups), nodes=tops, draws=draws, methods=methods),
        robustness=node_robustness(design, table, contexts_of(study.groups), draws=draws, methods=methods),
        links=link_nodes(design, table, tops, draws=draws, methods=methods) if _pairs(tops) <= MOST_LINKS else (),
        without=without_children(design, table, methods=methods),
    )


def tree_standings(
    evidence: Evidence, findings: Sequence[TreeFinding], methods: Methods = BUILT_IN
) -> Iterator[TreeStanding]:
    """Yield the comparison of a study's applications on each tree; empty for a single application."""
    draws = Draws(seed=evidence.study.sampling.seed)
    for design in evidence.study.trees:
        own = [finding for finding in findings if finding.design.name == design.name]
        tables = [
            _tree_table(evidence, finding) for finding in own if any(node.outcomes.used for node in finding.nodes)
        ]
        if len(tables) > 1:
            yield compare_applications(tables, branches(design), draws=draws, methods=methods)


def _tree_table(evidence: Evidence, finding: TreeFinding) -> TreeComparisonTable:
    application = evidence.study.application(finding.application)
    return TreeComparisonTable(
        design=finding.design,
        table=leaf_table(evidence, finding.design, application),
        application=finding.application,
        scenarios=finding.scenarios,
        versions=finding.versions,
    )


def branches(design: TreeDesign) -> tuple[str, ...]:
    """Return the names of a tree's main branches: its dimensions, or else the children of its root.

    Example:
        >>> from theodolite.domain.tree_form import design_of
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
    """Return the groups that a tree is split by: the study's own, and the level if there are several."""
    levels = {session.level for session in table.sessions}
    return (*groups, *(["level"] if len(levels) > 1 else []))


def tree_leaves(evidence: Evidence, design: TreeDesign, application: Application) -> Iterator[Leaf]:
    """Yield the leaves of a tree for one application; see `leaf_table`."""
    table = leaf_table(evidence, design, application)
    return (table.leaf(row) for row in range(len(table)))


def leaf_table(evidence: Evidence, design: TreeDesign, application: Application) -> LeafTable:
    """Return the leaves of a tree for one application, in order of guidelines, questions, annotators and plan.

    Every planned session has a leaf for each question and annotator, with any
    outcome; turns have separate leaves. Testers' answers come last.
    """
    questions, builder = set(design.questions), LeafTableBuilder()
    for guideline in evidence.study.guidelines:
        for question in guideline.instrument.questions:
            if f"{guideline.name}.{question.name}" in questions:
                _add_answers(builder, evidence, application, guideline, question)
    for leaf in tester_leaves(evidence, questions, application):
        builder.add_leaf(leaf)
    return builder.table()


def _add_answers(
    builder: LeafTableBuilder, evidence: Evidence, application: Application, guideline: Guideline, question: Question
) -> None:
    table = evidence.answers
    positions = positions_of(evidence.study, table, application, guideline)
    question_labels = QuestionLabels(table=table, guideline=guideline, question=question, positions=positions)
    sources = annotators_of(evidence.study, guideline, application, question.name)
    if not sources.counted:
        return
    sessions: Ints = np.zeros(len(table), dtype=np.int64)
    scenarios = _scenario_names(evidence)
    sessions[np.array(positions, dtype=np.int64)] = [
        builder.session(_facts(table, position, scenarios)) for position in positions
    ]
    for source, own in _shares(question_labels, sources):
        labels = own.labels(source)
        at_turns = question.level is QuestionLevel.TURN and source.kind is not None
        columns = table.columns(source.name, guideline.name, question.name) if at_turns else AnswerColumns(texts=())
        block = _block(np.array(own.positions, dtype=np.int64), labels, columns, question)
        kind = source.kind.value if source.kind else REFERENCE
        builder.add_answers(
            f"{guideline.name}.{question.name}",
            (source.name, kind),
            replace(block, session=sessions[block.session]),
            labels.texts,
        )


def _shares(question_labels: QuestionLabels, sources: AnswerSources) -> Iterator[tuple[AnswerSource, QuestionLabels]]:
    """Yield each source with the dialogues that it answers about.

    A dialogue that no member of a pool labelled is missing once, not once for each member.
    """
    if sources.pool is None:
        yield from ((source, question_labels) for source in sources.counted)
        return
    final = AnswerSource(name=REFERENCE, kind=None, version="")
    labels = zip(question_labels.positions, question_labels.labels(final), strict=True)
    decided = {position for position, label in labels if label.value is not None}
    taken = set(decided)
    others = (source for source in sources.headline if source.kind is not None and not source.is_pool)
    yield from ((source, question_labels) for source in others)
    for source in sources.pool_members:
        own = question_labels.assigned_to(source)
        taken.update(own.positions)
        yield source, own
    parts = ((final, decided), (sources.pool, set(question_labels.positions) - taken))
    yield from ((source, question_labels.only(sorted(positions))) for source, positions in parts if positions)


def _contributors(sources: AnswerSources) -> tuple[AnswerSource, ...]:
    """Return the sources whose answers are leaves; for a pool, its members."""
    if sources.pool is None:
        return sources.counted
    return (*(source for source in sources.headline if not source.is_pool), *sources.pool_members)


def _facts(table: AnswerTable, position: int, scenarios: Collection[str]) -> SessionFacts:
    setting = table.settings[position]
    groups = tuple(sorted(_with_scenario(setting.groups, setting.scenario, scenarios).items()))
    label = table.sessions.label(position)
    return SessionFacts(label, setting.cluster, setting.level.value, setting.held_by.value, groups)


def _scenario_names(evidence: Evidence) -> frozenset[str]:
    return frozenset(scenario.name for scenario in evidence.study.scenarios)


def _with_scenario(groups: Mapping[str, str], scenario: str, scenarios: Collection[str]) -> Mapping[str, str]:
    """Return groups with the scenario, in studies with several; a group of that name is unchanged."""
    return {SCENARIO: scenario, **groups} if len(scenarios) > 1 and scenario else groups


def _block(positions: Ints, labels: DialogueLabels, columns: AnswerColumns, question: Question) -> AnswerBlock:
    """Return the answers about turns, and one label of each dialogue without any; `session` holds positions."""
    turn, position = np.array(columns.turn, dtype=np.int64), np.array(columns.position, dtype=np.int64)
    rows = np.flatnonzero((turn != WHOLE_DIALOGUE) & np.isin(position, positions))
    text, outcome = np.array(columns.value, dtype=np.int64), np.frombuffer(columns.outcome, dtype=np.uint8)
    is_off = np.isin(text[rows], list(off_scale_codes(columns, question)))
    alone = ~np.isin(positions, position[rows])
    n = int(alone.sum())
    session = np.concatenate([position[rows], positions[alone]])
    order = np.argsort(session, kind="stable")
    texts = np.concatenate([np.where(is_off, NO_TEXT, text[rows]), np.array(labels.values, dtype=np.int64)[alone]])
    outcomes = np.concatenate(
        [
            np.where(is_off, OUTCOME_CODES[Outcome.UNPARSEABLE], outcome[rows]),
            np.frombuffer(labels.outcomes, dtype=np.uint8)[alone],
        ]
    )
    turns = np.concatenate([turn[rows], np.full(n, NO_TURN)])
    replicates = np.concatenate([np.array(columns.replicate, dtype=np.int64)[rows], np.ones(n, dtype=np.int64)])
    return AnswerBlock(
        session=session[order],
        turn=turns[order],
        text=texts[order],
        outcome=outcomes[order],
        replicate=replicates[order],
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
            for source in _contributors(annotators_of(evidence.study, guideline, application)):
                yield f"annotator {source.name}", source.version


def tester_leaves(evidence: Evidence, questions: Collection[str], application: Application) -> Iterator[Leaf]:
    """Yield the leaves of testers' responses, in order of questionnaires, questions and responses.

    A response concerns its session: its leaf has the session's key, or the
    label of its dialogue if there is only one, so that readers can find it. A
    follow-up that was not asked is not applicable; an open one is missing.

    Args:
        evidence: All records of one run.
        questions: Questions of the tree, as `questionnaire.question`.
        application: The application.
    """
    for questionnaire in evidence.study.questionnaires:
        version = version_of(questionnaire)
        responses = [
            response
            for response in evidence.responses
            if (response.questionnaire, response.instrument_version, response.application)
            == (questionnaire.name, version, application.name)
            and response.submitted
        ]
        for question in questionnaire.instrument.questions:
            name = f"{questionnaire.name}.{question.name}"
            if name in questions:
                for response in responses:
                    yield _leaf(evidence, response, name, question)


def _leaf(evidence: Evidence, response: QuestionnaireResponse, name: str, question: Question) -> Leaf:
    absent = Outcome.NOT_APPLICABLE if question.when else Outcome.MISSING
    answer = next(iter(response.to(question.name)), Answer(question=question.name, outcome=absent))
    leaf = Leaf(
        question=name,
        session=response.label,
        value=answer.value,
        outcome=answer.outcome,
        by=response.participant,
        kind=TESTER,
        cluster=response.participant,
        level=response.level.value if response.level else "",
        held_by=TesterType.PERSON.value,
        groups=dict(_with_scenario(response.groups, response.scenario, _scenario_names(evidence))),
    )
    positions = [evidence.answered[key] for key in response.dialogues if key in evidence.answered]
    return _of_dialogue(evidence, leaf, positions[0]) if len(positions) == 1 else leaf


def _of_dialogue(evidence: Evidence, leaf: Leaf, position: int) -> Leaf:
    """Return a leaf with the label of its dialogue."""
    setting = evidence.answers.settings[position]
    return replace(
        leaf,
        session=evidence.sessions.label(position),
        cluster=setting.cluster,
        level=setting.level.value,
        held_by=setting.held_by.value,
        groups=dict(_with_scenario(setting.groups, setting.scenario, _scenario_names(evidence))),
    )
