"""`theodolite monitor`: a history of scores over time, and an exit code for cron and CI."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import click

from theodolite.bootstrap.monitoring import Request, Seen, keep_watch
from theodolite.cli.json_output import as_line
from theodolite.cli.terminal import RowProgress, speaks_unicode, width
from theodolite.config.histories import DeclaredChange, HistoryForm, aware
from theodolite.config.questions import parse_condition
from theodolite.domain.errors import InputError
from theodolite.domain.instrument import Condition
from theodolite.domain.monitoring import WatchRules
from theodolite.domain.score_history import ScaleDirection
from theodolite.reporting.monitoring.document import alert_entry
from theodolite.usecases.monitoring import Watched

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
    """Watch scores over time; ends with 1 where there is an alert.

    HISTORY is a study with several runs, a table of scores (CSV, JSON lines), or
    a database (sqlite:///FILE, postgresql://...) with --query.

    \b
    Examples
      theodolite monitor support                        all runs of a study
      theodolite monitor stars.csv --defect "<= 3"      a table
      theodolite monitor sqlite:///app.db --query "SELECT score, at FROM replies"
    """  # noqa: D301 - click's mark for "keep these lines"
    with RowProgress() as told:
        seen = keep_watch(_request(history, options), on_rows=told)
    click.echo(_line(seen) if as_json else seen.screen(width=width(), unicode=speaks_unicode()))
    if open_it:
        click.launch(seen.page)
    return seen.exit_code


def _line(seen: Seen) -> str:
    alerts = [alert_entry(alert) for alert in seen.watch.alerts]
    return as_line({"exit_code": seen.exit_code, "alerts": alerts, "page": seen.page, "data": seen.data})


def _request(history: str, options: dict[str, Any]) -> Request:
    """Return what is asked for; everything that cannot be read is named at once."""
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
