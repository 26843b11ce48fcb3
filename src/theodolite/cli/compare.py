"""`theodolite compare`: two applications or two runs, pair by pair."""

from __future__ import annotations

import shlex

import click

from theodolite.bootstrap.comparing import Compared
from theodolite.bootstrap.comparing import compare as compare_places
from theodolite.cli.json_output import as_line
from theodolite.cli.terminal import width
from theodolite.domain.comparison import Comparison
from theodolite.domain.errors import InputError
from theodolite.domain.estimate import Estimate
from theodolite.reporting.comparing.document import comparison_document
from theodolite.reporting.comparing.text import (
    NO_COMMON_RATE,
    comparison_text,
    heading,
    leading,
    rate_name,
    unpaired,
    unpaired_text,
)

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
    is a study: each mitigation's effect on both sides of the guardrail, and on
    everything else that is measured.

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


def _two(places: tuple[str, ...], by: str | None) -> tuple[str, str]:
    wanted = (0, 1) if by else (2,)
    if len(places) not in wanted:
        message = (
            f"expected {'a study' if by else 'two places, A and B'}; got {len(places)}: {' '.join(places) or 'none'}"
        )
        raise InputError(message)
    return (*places, "", "")[0], (*places, "", "")[1]


def _show(seen: Compared, places: tuple[str, ...], study: str, by: str | None, worse: list[str]) -> None:
    more = [*(["--study", study] if study != "." else []), *(["--by", by] if by else [])]
    command = shlex.join(["theodolite", "compare", *places, *more])
    click.echo(comparison_text(seen.comparisons, width=width(), command=command, page=seen.page))
    for line in worse:
        click.echo(f"Gate           {line}")


def _not_ruled_out(comparisons: tuple[Comparison, ...], points: float) -> list[str]:
    """Return descriptions of the rates whose interval does not exclude an increase by the margin."""
    from theodolite.measurement.comparison import non_inferiority

    found = []
    for one in comparisons:
        empty = unpaired(one)
        for rate in leading(one):
            difference = rate.difference
            ruled_out = isinstance(difference, Estimate) and non_inferiority(difference, points / PERCENT)
            if not ruled_out and rate not in empty:
                found.append(
                    f"{heading(one)}, {rate_name(rate, one)}: an increase of {points:g} points cannot be excluded"
                )
        if empty:
            found.append(f"{heading(one)}, {unpaired_text(one)}: an increase of {points:g} points cannot be excluded")
        if not one.rates:
            found.append(f"{heading(one)}: {NO_COMMON_RATE}, so an increase cannot be excluded")
    return found
