"""`theodolite tree`: measurement trees by themselves, from a file."""

from __future__ import annotations

import json

import click

from theodolite.bootstrap.plugins import tree_methods
from theodolite.bootstrap.trees import read_tree_file
from theodolite.cli.arguments import json_option
from theodolite.cli.terminal import width

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
@click.option("--contexts", is_flag=True, help="Show how far each node moves between contexts.")
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
    from theodolite.measurement.trees.measuring import Draws
    from theodolite.reporting.results.trees import tree_entries
    from theodolite.reporting.terminal.trees import robustness_lines, tree_lines
    from theodolite.usecases.trees import score_file

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


@tree.command()
@_FILE
@_depth
def show(file: str, *, depth: int) -> int:
    """Show a design: what each node does, and what lies below it.

    \b
    Example
      theodolite tree show trees/own.yaml
    """  # noqa: D301
    from theodolite.measurement.trees.checks import kinds_of
    from theodolite.reporting.terminal.trees import design_lines

    design = read_tree_file(file).design
    kinds_of(design, tree_methods())
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

    Both files may be the same, with an application of each; or of one
    application at two times. Where neither is lower everywhere they are
    incomparable, and other scenarios, methods or instruments stand side by side.

    \b
    Examples
      theodolite tree compare monday.json friday.json --application bot
      theodolite tree compare run.json run.json --application bot-1.4 --application bot-1.5
    """  # noqa: D301
    from theodolite.measurement.trees.measuring import Draws
    from theodolite.reporting.results.trees import comparison_entry
    from theodolite.reporting.terminal.trees import comparison_lines
    from theodolite.usecases.trees import chosen_of, compare_chosen

    one = chosen_of(read_tree_file(first), named[0] if named else "")
    other = chosen_of(read_tree_file(second), named[-1] if named else "")
    found = compare_chosen(one, other, draws=Draws(replicates=replicates, seed=seed), methods=tree_methods())
    if as_json:
        click.echo(json.dumps({**comparison_entry(found), "exit_code": 0}, ensure_ascii=False))
    else:
        click.echo("\n".join(comparison_lines(found, width=width())))
    return 0


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
    from theodolite.measurement.trees.measuring import Draws
    from theodolite.reporting.results.trees import comparison_entry
    from theodolite.reporting.terminal.trees import method_change_lines
    from theodolite.usecases.trees import rescore as rescore_file

    new = read_tree_file(design).design
    draws = Draws(replicates=replicates, seed=seed)
    old = read_tree_file(file)
    changes = rescore_file(old, new, application=application, draws=draws, methods=tree_methods())
    names = [application] if application else [each.application for each in old.sets]
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
    """Write a tree with several parents for a node as a proper tree, in JSON.

    Nodes with several parents are repeated, so every node has one parent and
    keeps its value.

    \b
    Example
      theodolite tree expand trees/own.yaml > own-expanded.json
    """  # noqa: D301
    from theodolite.domain.tree_form import design_document
    from theodolite.measurement.trees.checks import kinds_of

    design = read_tree_file(file).design.expanded()
    kinds_of(design, tree_methods())
    click.echo(json.dumps(design_document(design), ensure_ascii=False, indent=1))
    return 0
