"""`theodolite judge` validates judges; `theodolite tree` shows and compares measurement trees."""

from __future__ import annotations

import asyncio
import json
from functools import partial

import click

from theodolite.bootstrap.files import read_tree_file
from theodolite.bootstrap.plugins import tree_methods
from theodolite.bootstrap.running import BeforeAsking
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.main import Group
from theodolite.cli.running import check_endpoints_first
from theodolite.cli.terminal import (
    as_line,
    json_option,
    permission_options,
    permit_paths,
    permit_run,
    study_argument,
    width,
)
from theodolite.config.load_context import injection_attempts
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.errors import NotFound
from theodolite.domain.estimate import Measurement, ValidationReport
from theodolite.domain.evidence import Evidence
from theodolite.domain.run import UnitKind
from theodolite.domain.tree_form import design_document
from theodolite.execution.clients import Clients
from theodolite.measurement.trees.checks import kinds_of
from theodolite.measurement.trees.measuring import Draws
from theodolite.reporting.results.annotators import validation_report_entry
from theodolite.reporting.results.trees import comparison_entry, tree_entries
from theodolite.reporting.terminal.judges import validation_text
from theodolite.reporting.terminal.labels import plan_text
from theodolite.reporting.terminal.trees import (
    comparison_lines,
    design_lines,
    method_change_lines,
    robustness_lines,
    tree_lines,
)
from theodolite.usecases.judge_validation import (
    ProbePlan,
    Prober,
    check_labelled,
    judges_named,
    probe_plan,
    probes_text,
    validation_report_of,
)
from theodolite.usecases.labels import LabelRequest, planned_labels
from theodolite.usecases.running import RunOptions
from theodolite.usecases.trees import chosen_of, compare_chosen, score_file
from theodolite.usecases.trees import rescore as rescore_file


@click.group(cls=Group)
def judge() -> None:
    """Validate judges against human labels.

    \b
    Examples
      theodolite judge validate support
      theodolite judge show support grounded
      theodolite judge plan support --labels 100
    """  # noqa: D301 - click's mark for "keep these lines"


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@click.option(
    "--attacks",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Dialogues that a model judges again: with injected instructions, and with reversed labels.",
)
@click.option("--no-attacks", is_flag=True, help="Call no model; the validation report lists what is missing.")
@permission_options
@json_option
def validate(study: str, name: str, *, attacks: int, no_attacks: bool, as_json: bool) -> int:
    """Validate a judge, or all judges of the study.

    The validation report compares the judge with the recorded final labels, or
    with each human annotator if there are none, and is stored with this version
    of the judge. A model judges some dialogues again with injected instructions
    in their text; the number of calls is printed first.

    \b
    Examples
      theodolite judge validate support grounded
      theodolite judge validate support --no-attacks    calls no model
    """  # noqa: D301
    permit_paths(study)
    context = open_study(study)
    try:
        evidence = context.evidence()
        judges = judges_named(evidence.study, name)
        check_labelled(evidence, judges, context.path)  # before any call
        plans = probe_plans(evidence, judges, 0 if no_attacks else attacks)
        if plans and not as_json:
            click.echo(probes_text(plans, evidence.spending))
        if plans:
            permit_run(context.loaded)
        probes = probe_judges(context, plans, before_asking=partial(_check_endpoint, quiet=as_json))
        result = [issue_validation_report(context, evidence, item, probes.get(item.name, ())) for item in judges]
        if as_json:
            click.echo(
                as_line({"exit_code": 0, "validation_reports": [validation_report_entry(item) for item in result]})
            )
        else:
            click.echo("\n\n".join(validation_text(item, width=width()) for item in result))
            click.echo(f"\nStored with this version of the judge.   Next: theodolite report {context.path}")
        return 0
    finally:
        context.close()


async def _check_endpoint(context: StudyContext, clients: Clients, options: RunOptions, *, quiet: bool) -> None:
    await check_endpoints_first(context, clients, options.kinds, quiet=quiet)


@judge.command("show")
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@json_option
def judge_show(study: str, name: str, *, as_json: bool) -> int:
    """Print the latest validation report of the current version of a judge.

    \b
    Example
      theodolite judge show support grounded
    """  # noqa: D301
    context = open_study(study)
    try:
        evidence = context.evidence()
        requested = [item.name for item in judges_named(evidence.study, name)]
        result = [report for report in evidence.validation_reports if report.judge in requested]
        if not result:
            names = ", ".join(f"`{item}`" for item in requested)
            begin = f"the current version of {names} is not validated"
            message = f"{begin}. Validate it:  theodolite judge validate {context.path}"
            raise NotFound(message)
        if as_json:
            click.echo(
                as_line({"exit_code": 0, "validation_reports": [validation_report_entry(item) for item in result]})
            )
        else:
            click.echo("\n\n".join(validation_text(item, width=width()) for item in result))
        return 0
    finally:
        context.close()


@judge.command()
@study_argument
@click.argument("name", metavar="[JUDGE]", default="")
@click.option(
    "--labels", type=click.IntRange(min=1), default=100, show_default=True, metavar="N", help="Further labels."
)
@click.option("--guideline", default="", metavar="NAME", help="Guideline to label by.")
@json_option
def plan(study: str, name: str, *, labels: int, guideline: str, as_json: bool) -> int:
    """Estimate how much further human labels narrow the corrected rate.

    \b
    Example
      theodolite judge plan support grounded --labels 100
    """  # noqa: D301
    request = LabelRequest(n=labels, guideline=guideline, judge=name)
    context = open_study(study)
    try:
        counts, result = planned_labels(context.evidence(), request)
        widths = {"now": result.width_now, "then": result.width, "at_random": result.width_at_random}
        if as_json:
            taken = {"labelled": counts.n_labelled, "open": counts.n_open, "take": result.take}
            click.echo(as_line({"exit_code": 0, **taken, "width": widths}))
        else:
            text = plan_text(result.take, widths, n_labelled=counts.n_labelled, study=context.path, width=width())
            click.echo(text)
        return 0
    finally:
        context.close()


_FILE = click.argument("file")

_application = click.option("--application", default="", help="Application to show; default: all.")

_depth = click.option(
    "--depth", default=14, show_default=True, type=click.IntRange(1), help="Number of levels to show."
)

_seed = click.option("--seed", default=1, show_default=True, help="Seed of the replicates.")

_replicates = click.option(
    "--replicates",
    default=1_000,
    show_default=True,
    type=click.IntRange(1),
    help="Number of replicates for the intervals.",
)


@click.group()
def tree() -> None:
    """Measurement trees: show a design, compute a file again, compare two.

    \b
    Example
      theodolite tree score support/tree-by-guideline.json --depth 4
    """  # noqa: D301 - click's mark for "keep these lines"


@tree.command()
@_FILE
@_application
@_depth
@_seed
@_replicates
@click.option("--contexts", is_flag=True, help="Show how much each node differs between contexts.")
@json_option
def score(file: str, *, application: str, depth: int, seed: int, replicates: int, contexts: bool, as_json: bool) -> int:
    """Compute a tree again from the leaves in its file; no database is needed.

    With --contexts it also shows the contextual robustness of each node: gap and
    spread between scenarios, levels of testing, tester types and groups.

    \b
    Examples
      theodolite tree score support/tree-by-guideline.json --depth 4
      theodolite tree score support/tree-by-guideline.json --contexts
    """  # noqa: D301 - click's mark for "keep these lines"
    draws = Draws(replicates=replicates, seed=seed)
    findings = score_file(
        read_tree_file(file), application=application, draws=draws, methods=tree_methods(), contexts=contexts
    )
    if as_json:
        click.echo(json.dumps({"trees": tree_entries(findings), "exit_code": 0}, ensure_ascii=False))
    else:
        texts = ["\n".join(tree_lines(finding, depth=depth, width=width())) for finding in findings]
        texts += ["\n".join(robustness_lines(finding, width=width())) for finding in findings if contexts]
        click.echo("\n\n".join(texts))
    return 0


@tree.command("show")
@_FILE
@_depth
@json_option
def tree_show(file: str, *, depth: int, as_json: bool) -> int:
    """Show a design: the operation of each node, and its children.

    \b
    Example
      theodolite tree show trees/own.yaml
    """  # noqa: D301
    design = read_tree_file(file).design
    kinds_of(design, tree_methods())
    if as_json:
        click.echo(as_line({"exit_code": 0, "tree": design_document(design)}))
    else:
        click.echo("\n".join(design_lines(design, depth=depth)))
    return 0


@tree.command()
@click.argument("first")
@click.argument("second")
@click.option(
    "--application", "named", multiple=True, help="Application in the first file; repeat for the second file."
)
@_seed
@_replicates
@json_option
def compare(first: str, second: str, *, named: tuple[str, ...], seed: int, replicates: int, as_json: bool) -> int:
    """Compare two measured trees node by node.

    Both files may be the same, with a different application for each, or may
    describe one application at two times. If neither tree is lower in every node,
    they are incomparable; other scenarios, methods or instruments appear side by side.

    \b
    Examples
      theodolite tree compare monday.json friday.json --application bot
      theodolite tree compare run.json run.json --application bot-1.4 --application bot-1.5
    """  # noqa: D301
    item = chosen_of(read_tree_file(first), named[0] if named else "")
    other = chosen_of(read_tree_file(second), named[-1] if named else "")
    result = compare_chosen(item, other, draws=Draws(replicates=replicates, seed=seed), methods=tree_methods())
    if as_json:
        click.echo(json.dumps({**comparison_entry(result), "exit_code": 0}, ensure_ascii=False))
    else:
        click.echo("\n".join(comparison_lines(result, width=width())))
    return 0


def probe_plans(evidence: Evidence, judges: tuple[Annotator, ...], n: int) -> tuple[ProbePlan, ...]:
    """Return the cases that model judges annotate again; empty if `n` is 0."""
    models = [judge for judge in judges if isinstance(judge.labelling, ModelJudge)] if n else []
    plans = (probe_plan(evidence, judge, injection_attempts(), n) for judge in models)
    return tuple(plan for plan in plans if plan.dialogues)


def probe_judges(
    context: StudyContext, plans: tuple[ProbePlan, ...], *, before_asking: BeforeAsking
) -> dict[str, tuple[Measurement, ...]]:
    """Run judges on dialogues again and return the results by judge.

    Raises:
        RunStopped: If an endpoint cannot be used, or the budget is reached.
    """
    return asyncio.run(_probe(context, plans, before_asking)) if plans else {}


async def _probe(
    context: StudyContext, plans: tuple[ProbePlan, ...], before_asking: BeforeAsking
) -> dict[str, tuple[Measurement, ...]]:
    clients = context.connect()
    try:
        await before_asking(context, clients, RunOptions(kinds=frozenset({UnitKind.ANNOTATION})))
        prober = Prober(study=context.loaded.study, clients=clients)
        return {plan.judge.name: await prober.probe(plan) for plan in plans}
    finally:
        await clients.close()


def issue_validation_report(
    context: StudyContext, evidence: Evidence, judge: Annotator, probes: tuple[Measurement, ...] = ()
) -> ValidationReport:
    """Create the validation report of a judge and store it under the judge's version.

    Raises:
        InputError: If no person labelled a dialogue that the judge labelled.
    """
    validation_report = validation_report_of(evidence, judge, context.clock.now(), probes=probes, probed=bool(probes))
    context.store.file(validation_report.judge_version, validation_report)
    return validation_report


@tree.command()
@_FILE
@click.argument("design")
@_application
@_seed
@_replicates
@json_option
def rescore(file: str, design: str, *, application: str, seed: int, replicates: int, as_json: bool) -> int:
    """Score the leaves of an old tree with a new one and state the difference.

    FILE is the tree file of a run, DESIGN the new tree. Both trees use the same
    leaves, so a difference comes from the change of the method alone.

    \b
    Example
      theodolite tree rescore spring/tree-ours.json trees/ours-2.yaml
    """  # noqa: D301
    new = read_tree_file(design).design
    draws = Draws(replicates=replicates, seed=seed)
    old = read_tree_file(file)
    changes = rescore_file(old, new, application=application, draws=draws, methods=tree_methods())
    names = [application] if application else [item.application for item in old.sets]
    if as_json:
        entries = [
            {
                "application": name,
                **comparison_entry(change.comparison),
                "only_old": list(change.only_old),
                "only_new": list(change.only_new),
                "unanswered": list(change.unanswered),
                "same_method": change.same_method,
            }
            for name, change in zip(names, changes, strict=True)
        ]
        click.echo(json.dumps({"changes": entries, "exit_code": 0}, ensure_ascii=False))
    else:
        parts = (
            method_change_lines(
                name,
                change.comparison.differences,
                {"Only in the old tree": change.only_old, "Only in the new tree": change.only_new},
                unanswered=change.unanswered,
                same_method=change.same_method,
                width=width(),
            )
            for name, change in zip(names, changes, strict=True)
        )
        click.echo("\n\n".join("\n".join(lines) for lines in parts))
    return 0


@tree.command()
@_FILE
def expand(file: str) -> int:
    """Expand a graph whose nodes have several parents into a tree, as JSON.

    Nodes with several parents are duplicated, so every node has one parent and
    keeps its value.

    \b
    Example
      theodolite tree expand trees/own.yaml > own-expanded.json
    """  # noqa: D301
    design = read_tree_file(file).design.expanded()
    kinds_of(design, tree_methods())
    click.echo(json.dumps(design_document(design), ensure_ascii=False, indent=1))
    return 0
