"""`theodolite compare`, `monitor` and `gate`: applications, runs and scores against each other and against limits."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from theodolite.bootstrap.comparing import Compared, Request, Seen, differences_from, keep_watch
from theodolite.bootstrap.comparing import compare as compare_places
from theodolite.bootstrap.files import write_whole
from theodolite.bootstrap.permission import require_output_inside
from theodolite.bootstrap.study_context import StudyContext, open_study
from theodolite.cli.report import require_gates
from theodolite.cli.terminal import RowProgress, as_line, json_option, speaks_unicode, study_argument, width
from theodolite.config.histories import DeclaredChange, HistoryForm, aware
from theodolite.config.questions import parse_condition
from theodolite.domain.comparison import Comparison
from theodolite.domain.errors import InputError, RunStopped
from theodolite.domain.estimate import Estimate
from theodolite.domain.gate import GateResult, GateState, worst_of
from theodolite.domain.instrument import Condition
from theodolite.domain.monitoring import ScaleDirection, WatchRules
from theodolite.domain.text import printable
from theodolite.measurement.comparison import non_inferiority
from theodolite.reporting.comparing.document import comparison_document
from theodolite.reporting.comparing.text import (
    NO_COMMON_RATE,
    comparison_text,
    heading,
    unpaired,
    unpaired_text,
)
from theodolite.reporting.monitoring.document import alert_entry
from theodolite.reporting.queries.gates import gate_facts, gate_lines, gate_results
from theodolite.reporting.results.gates import gates_entry, github_annotations, junit_xml, markdown_summary, sarif_text
from theodolite.reporting.words.estimates import leading, rate_name
from theodolite.usecases.monitoring import Watched

PERCENT = 100.0


@click.command()
@click.argument("places", nargs=-1)
@click.option("--study", default=".", show_default=True, help="Study in which to look up names of applications.")
@click.option("--by", type=click.Choice(["mitigation"]), help="Compare applications that differ by one mitigation.")
@click.option(
    "--margin", type=float, metavar="POINTS", help="Exit with 1 if an increase of this many points cannot be excluded."
)
@click.option("--browser", "open_it", is_flag=True, help="Open the changed dialogues in a browser.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for compare.html and compare.json.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def compare(
    places: tuple[str, ...],
    *,
    study: str,
    by: str | None,
    margin: float | None,
    open_it: bool,
    out: str | None,
    as_json: bool,
) -> int:
    """Compare A and B pair by pair: fixed and regressed dialogues.

    A and B are applications of one study, two studies, two of its runs
    (STUDY@1 STUDY@3), or two results.json; PLACE#APPLICATION names one
    application of several. With --by mitigation, A
    is a study: the command estimates each mitigation's effect on both sides of
    the guardrail and on all other measures.

    \b
    Examples
      theodolite compare bot-1.4 bot-1.5 --study support
      theodolite compare support@1 support
      theodolite compare before/results.json after/results.json --margin 5
      theodolite compare guarded --by mitigation
    """  # noqa: D301 - click's mark for "keep these lines"
    first, second = _two(places, by)
    seen = compare_places(first, second, study=study, by_mitigation=by is not None, out=out)
    worse = [] if margin is None else _not_ruled_out(seen.comparisons, margin)
    code = 1 if worse else 0
    if as_json:
        document = comparison_document(seen.comparisons)
        click.echo(as_line({"exit_code": code, **document, "page": seen.page, "data": seen.data}))
    else:
        _show(seen, places, study, by, worse)
    if open_it:
        click.launch(seen.page)
    return code


def _two(sources: tuple[str, ...], by: str | None) -> tuple[str, str]:
    requested = (0, 1) if by else (2,)
    if len(sources) not in requested:
        names = " ".join(sources) or "none"
        message = f"expected {'a study' if by else 'two places, A and B'}; got {len(sources)}: {names}"
        raise InputError(message)
    return (*sources, "", "")[0], (*sources, "", "")[1]


def _show(seen: Compared, sources: tuple[str, ...], study: str, by: str | None, worse: list[str]) -> None:
    more = [*(["--study", study] if study != "." else []), *(["--by", by] if by else [])]
    command = shlex.join(["theodolite", "compare", *sources, *more])
    click.echo(comparison_text(seen.comparisons, width=width(), command=command, page=seen.page))
    for line in worse:
        click.echo(f"Gate           {line}")


def _not_ruled_out(comparisons: tuple[Comparison, ...], points: float) -> list[str]:
    """Return descriptions of the rates whose interval does not exclude an increase by the margin."""
    result = []
    for comparison in comparisons:
        empty = unpaired(comparison)
        for rate in leading(comparison):
            difference = rate.difference
            ruled_out = isinstance(difference, Estimate) and non_inferiority(difference, points / PERCENT)
            if not ruled_out and rate not in empty:
                name = f"{heading(comparison)}, {rate_name(rate, comparison)}"
                result.append(f"{name}: an increase of {points:g} points cannot be excluded")
        if empty:
            name = f"{heading(comparison)}, {unpaired_text(comparison)}"
            result.append(f"{name}: an increase of {points:g} points cannot be excluded")
        if not comparison.rates:
            result.append(f"{heading(comparison)}: {NO_COMMON_RATE}, so an increase cannot be excluded")
    return result


_CHANGE = re.compile(r"(?P<part>\w+)=(?P<version>.+)@(?P<since>.+)")

_SCALE = re.compile(r"(?P<low>-?[\d.]+)\.\.(?P<high>-?[\d.]+)")

_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@click.command()
@click.argument("history", type=click.Path())
@click.option("--query", default="", metavar="SQL", help="SQL query; one row per score.")
@click.option("--columns", default="", metavar="ROLE=NAME,...", help="Roles of columns, e.g. score=stars,at=day.")
@click.option("--scale", default="", metavar="LOW..HIGH", help="Ends of the scale; default: from the scores.")
@click.option("--defect", default="", metavar="RULE", help='Rule for defects, e.g. "<= 3".')
@click.option("--worse", type=click.Choice([end.value for end in ScaleDirection]), help="Bad end of the scale.")
@click.option("--changed", multiple=True, metavar="PART=VERSION@TIME", help="A change of judge, data or schema.")
@click.option("--published", is_flag=True, help="Count consecutive equal scores as one measurement.")
@click.option("--guideline", default="", help="Guideline of the study to monitor.")
@click.option("--annotator", default="", help="Annotator of the study to monitor.")
@click.option(
    "--anchors", default="", metavar="APPLICATION", help="Application of the study with the frozen anchor dialogues."
)
@click.option("--window", default=8, show_default=True, help="Scores in a rolling window.")
@click.option("--order", default=3, show_default=True, help="Scores in a pattern of permutation entropy (PEN), 2 to 7.")
@click.option("--delay", default=1, show_default=True, help="Step between the scores of a pattern.")
@click.option("--reference", default=100, show_default=True, help="Number of first scores that define the baseline.")
@click.option("--baseline", type=float, help="Defect rate of the baseline; default: estimated.")
@click.option("--limit", type=float, help="Maximum acceptable defect rate.")
@click.option("--arl", default=10_000, show_default=True, help="Minimum number of scores between two false alarms.")
@click.option(
    "--recalibrate", default=90, show_default=True, metavar="DAYS", help="Interval between reviews by people; 0: never."
)
@click.option("--since", default="", metavar="TIME", help="Ignore alerts that ended before this time in the exit code.")
@click.option("--browser", "open_it", is_flag=True, help="Open the charts in a browser.")
@click.option("--out", type=click.Path(file_okay=False), help="Folder for monitor.html and monitor.json.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def monitor(history: str, *, open_it: bool, as_json: bool, **options: Any) -> int:
    """Monitor scores over time; exit code 1 means an alert.

    HISTORY is a study with several runs, a table of scores (CSV, JSON lines), or
    a database (sqlite:///FILE, postgresql://...) with --query.

    \b
    Examples
      theodolite monitor support                        all runs of a study
      theodolite monitor stars.csv --defect "<= 3"      a table
      theodolite monitor sqlite:///app.db --query "SELECT score, at FROM replies"
    """  # noqa: D301 - click's mark for "keep these lines"
    with RowProgress() as details:
        seen = keep_watch(_request(history, options), on_rows=details)
    click.echo(_line(seen) if as_json else seen.screen(width=width(), unicode=speaks_unicode()))
    if open_it:
        click.launch(seen.page)
    return seen.exit_code


def _line(seen: Seen) -> str:
    alerts = [alert_entry(alert) for alert in seen.watch.alerts]
    return as_line({"exit_code": seen.exit_code, "alerts": alerts, "page": seen.page, "data": seen.data})


def _request(history: str, options: dict[str, Any]) -> Request:
    """Return the requested items; one error lists all that are unreadable."""
    problems: list[str] = []
    form = HistoryForm(
        columns=_columns(options["columns"], problems),
        scale=_scale(options["scale"], problems),
        defect=_defect(options["defect"], problems),
        worse=ScaleDirection(options["worse"]) if options["worse"] else None,
        changes=tuple(change for text in options["changed"] for change in _changes(text, problems)),
        published=options["published"],
    )
    since = _time(options["since"], "--since", problems) if options["since"] else None
    if problems:
        raise InputError("\n".join(problems))
    return Request(
        place=history,
        query=options["query"],
        form=form,
        watched=Watched(guideline=options["guideline"], annotator=options["annotator"], anchors=options["anchors"]),
        rules=WatchRules(
            window=options["window"],
            order=options["order"],
            delay=options["delay"],
            reference=options["reference"],
            baseline=options["baseline"],
            limit=options["limit"],
            arl=options["arl"],
            recalibrate_days=options["recalibrate"] or None,
        ),
        since=since,
        out=options["out"],
    )


def _columns(text: str, problems: list[str]) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    problems += [f"--columns: `{role}` has no column name; expected ROLE=NAME" for role, _, name in pairs if not name]
    return {role.strip(): name.strip() for role, _, name in pairs}


def _scale(text: str, problems: list[str]) -> tuple[float, float] | None:
    if not text:
        return None
    match = _SCALE.fullmatch(text)
    try:
        ends = (float(match["low"]), float(match["high"])) if match else None
    except ValueError:
        ends = None
    if ends is None or ends[0] >= ends[1]:
        problems.append(f"--scale: `{text}` is not a scale; expected LOW..HIGH, e.g. 1..5")
        return None
    return ends


def _defect(text: str, problems: list[str]) -> Condition | None:
    if not text:
        return None
    condition = parse_condition(text)
    if isinstance(condition, str):
        problems.append(f"--defect: `{text}` {condition}")
        return None
    strange = [value for value in condition.values if not _NUMBER.fullmatch(value)]
    problems += [f"--defect: `{value}` is not a number, but the scores are" for value in strange]
    return None if strange else condition


def _changes(text: str, problems: list[str]) -> list[DeclaredChange]:
    match = _CHANGE.fullmatch(text)
    if match is None:
        problems.append(f"--changed: `{text}`; expected PART=VERSION@TIME, e.g. judge=2.1@2026-03-01")
        return []
    since = _time(match["since"], "--changed", problems)
    return [DeclaredChange(part=match["part"], version=match["version"], since=since)] if since else []


def _time(text: str, option: str, problems: list[str]) -> datetime | None:
    try:
        return aware(text)
    except ValueError:
        problems.append(
            f"{option}: `{text}` is not a time; expected a form like 2026-03-01 or 2026-03-01T14:02:11+01:00"
        )
        return None


_FILE = click.Path(dir_okay=False)


@click.command()
@study_argument
@click.option("--junit", type=_FILE, help="Write the results as JUnit XML.")
@click.option("--summary", type=_FILE, help="Write the results as a Markdown table.")
@click.option("--sarif", type=_FILE, help="Write gates that are not met as SARIF 2.1.0.")
@click.option("--github", is_flag=True, help="Print annotations for GitHub Actions.")
@click.option("--baseline", metavar="PLACE", help="For `worse_by`: STUDY@1, @1, results.json or an application.")
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 if a gate is inconclusive.")
@click.option("--partial", is_flag=True, help="Check an incomplete run.")
@json_option
def gate(
    study: str,
    *,
    junit: str | None,
    summary: str | None,
    sarif: str | None,
    github: bool,
    baseline: str | None,
    allow_inconclusive: bool,
    partial: bool,
    as_json: bool,
) -> int:
    """Check the latest run against the `gates` of its study.

    A gate is met, not met, or inconclusive: the interval crosses the limit, or
    dialogues without a label could break it. Exit code 0: all gates are met;
    1: a gate is not met or inconclusive; 3: the run is incomplete.

    \b
    Examples
      theodolite gate support
      theodolite gate support --junit gates.xml --summary gates.md
      theodolite gate support --baseline support@1
      theodolite gate support --allow-inconclusive
    """  # noqa: D301 - click's mark for "keep these lines"
    context = open_study(study)
    try:
        results = _results(context, baseline or "", partial=partial)
        state = worst_of(results)
        code = 0 if state is GateState.MET or (state is GateState.INCONCLUSIVE and allow_inconclusive) else 1
        _write(context, results, junit=junit, summary=summary, sarif=sarif)
        if github:
            for line in github_annotations(results, file=_file(context)):
                click.echo(printable(line))
        if as_json:
            click.echo(as_line({"exit_code": code, **gates_entry(results)}))
        else:
            for line in gate_lines(results):
                click.echo(printable(line))
        return code
    finally:
        context.close()


def _results(context: StudyContext, baseline: str, *, partial: bool) -> tuple[GateResult, ...]:
    study = context.loaded.study
    require_gates(study)
    evidence = context.evidence()
    if not partial and not context.is_finished():
        message = (
            f"The latest run of `{study.name}` is incomplete. "
            f"Resume it:  theodolite run {context.path}  or check it with  --partial"
        )
        raise RunStopped(message)
    findings = context.findings(evidence)
    differences = differences_from(baseline, context, evidence, findings) if baseline else {}
    return gate_results(study, findings, replace(gate_facts(evidence, context.clock.now()), differences=differences))


def _write(
    context: StudyContext, results: Sequence[GateResult], *, junit: str | None, summary: str | None, sarif: str | None
) -> None:
    name = context.loaded.study.name
    files = (
        (junit, junit_xml(results, name)),
        (summary, markdown_summary(results, name, command=f"theodolite report {context.path} --browser")),
        (sarif, sarif_text(results, name, file=_file(context), version=version("theodolite"))),
    )
    for file, text in files:
        if file is not None:
            require_output_inside(context.loaded.folder, Path(file))
            write_whole(Path(file), text)


def _file(context: StudyContext) -> str:
    """Return the path of the study file in a form that a reader of a CI log can open."""
    path = Path(context.path)
    return (path / "study.yaml").as_posix() if path.is_dir() else path.as_posix()
