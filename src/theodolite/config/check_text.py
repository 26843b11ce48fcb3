"""The lines that `check` prints of a study that holds no faults."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from theodolite.config.calls import CallEstimate, Range, price_days
from theodolite.config.diagnostics import LocatedDiagnostic
from theodolite.config.load_context import Found
from theodolite.config.loading import LoadedStudy
from theodolite.config.outbound_data import code_hosts, hosts, named_keys
from theodolite.config.resources import SHIPPED
from theodolite.config.user_code_check import named_code
from theodolite.domain.application import RecordedFile
from theodolite.domain.dialogue import Level
from theodolite.domain.fault import Severity
from theodolite.domain.money import dollars
from theodolite.domain.printable import printable
from theodolite.domain.study import Study

_WIDTH = 80
_CENT = 0.01
_TESTERS = {Level.RED_TEAMING: "red teamer", Level.FIELD_TESTING: "field tester"}


def check_lines(loaded: LoadedStudy, estimate: CallEstimate) -> tuple[str, ...]:
    """Return what a run will be: plan, tokens, cost, hosts, cells, and where names were found.

    Args:
        loaded: The study.
        estimate: Of its calls.
    """
    named = (
        ("Plan", _plan(loaded.study, estimate)),
        ("Tokens", _tokens(loaded.study, estimate)),
        ("Cost", _cost(loaded.study, estimate)),
        ("Hosts", _hosts(loaded.study)),
        ("Keys", _keys(loaded.study)),
        ("Code", _code(loaded.study)),
        ("Outside", _outside(loaded)),
        ("Cells", _cells(loaded.study)),
        ("Read", _readings(loaded)),
        ("From", _found(loaded.found)),
    )
    return tuple(_wrapped(name, words) for name, words in named if words)


def _wrapped(name: str, words: str) -> str:
    """Return a name and its words, on further lines where the terminal is too narrow."""
    lines = textwrap.wrap(printable(words), _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return f"{name:<8}" + ("\n" + " " * 8).join(lines)


def closing_line(placed: Sequence[LocatedDiagnostic], path: str, *, calls: int = 1) -> str:
    """Return the last line of a check without faults: the count, and what to do next.

    Args:
        placed: Notes and open items.
        path: What the user typed to name the study.
        calls: Calls that a run makes; with none there is nothing to look at before paying.
    """
    n_notes = sum(fault.severity is Severity.NOTE for fault in placed)
    n_open = sum(fault.severity is Severity.OPEN for fault in placed)
    counts = [_count(0, "error"), _count(n_notes, "note")]
    counts += [f"{n_open} open"] if n_open else []
    return f"{', '.join(counts)}.   Next: theodolite run {path}{' --limit 3' if calls else ''}"


def _readings(loaded: LoadedStudy) -> str:
    """Say how tables were read: recorded ones always, others where they are not what one expects."""
    usual = not loaded.recordings
    return "; ".join(words for words in loaded.readings if not (usual and words.endswith("UTF-8, comma")))


def _plan(study: Study, estimate: CallEstimate) -> str:
    if not estimate.dialogues:
        return "no dialogue by a program; people hold all of them, and judges are asked about those as they come"
    parts = [_count(estimate.dialogues, "dialogue") + _made_of(estimate)]
    if estimate.turns:
        parts.append(_count(estimate.turns, "turn"))
    if estimate.judges:
        parts.append(_count(estimate.judges, "judge"))
    if not estimate.calls:
        return f"{', '.join(parts)}: nothing is called"
    budget = _budget(study.budget.calls, "{:,}".format, Range(high=estimate.calls))
    return f"{', '.join(parts)}: {_count(estimate.calls, 'call')}{budget}"


def _made_of(estimate: CallEstimate) -> str:
    if estimate.recorded == estimate.dialogues:
        return ", recorded"
    testers = [(estimate.personas, "persona"), (estimate.scripts, "script"), (estimate.attacks, "attack")]
    words = " and ".join(_count(n, noun) for n, noun in testers if n)
    n_testers = estimate.personas + estimate.scripts + estimate.attacks
    times, rest = divmod(estimate.dialogues - estimate.recorded, max(1, n_testers * estimate.applications))
    if rest or not n_testers:
        return f" of {words}" if words else ""
    factors = [words if " and " not in words else f"({words})"]
    factors += [str(times)] if times > 1 else []
    factors += [_count(estimate.applications, "application")] if estimate.applications > 1 else []
    recorded = f" + {estimate.recorded:,} recorded" if estimate.recorded else ""
    return f" = {' x '.join(factors)}{recorded}"


def _tokens(study: Study, estimate: CallEstimate) -> str:
    read, written = estimate.tokens_in, estimate.tokens_out
    if not read.high:
        return ""
    budget = _budget(study.budget.tokens, "{:,}".format, read + written)
    return f"about {_guessed(read)} read, {_guessed(written)} written{budget}"


def _cost(study: Study, estimate: CallEstimate) -> str:
    cost, unpriced = estimate.cost_usd, estimate.unpriced
    budget = _budget(study.budget.usd, dollars, cost)
    if not any(item.is_model and item.calls for item in estimate.endpoints):
        return ""
    names = ", ".join(f"`{name}`" for name in unpriced)
    if unpriced and not cost.high:
        return f"unknown: no price for {names}{budget}"
    if not cost.high:
        return f"nothing: only scripts are called{budget}"
    days = price_days(study.models)
    dated = f" at prices of {days[-1]}" if days else " at the study's prices"
    without = f", without {names}: no price" if unpriced else ""
    about = (
        f"about ${cost.middle:.2f} ({cost.low:.2f} to {cost.high:.2f})" if cost.high >= _CENT else "less than a cent"
    )
    return f"{about}{dated}{without}{budget}"


def _guessed(tokens: Range) -> str:
    return f"{_rounded(tokens.middle)} ({_rounded(tokens.low)} to {_rounded(tokens.high)})"


def _rounded(n: float) -> str:
    """Return a count with two digits that mean something: a guess has no more."""
    return f"{round(n, 2 - len(str(int(n)))):,.0f}"


def _budget(limit: float | None, worded: Callable[[float], str], needed: Range) -> str:
    """Return the words on a limit of the study, and whether a run keeps below it; none where there is no limit."""
    if limit is None:
        return ""
    words = f"; budget {worded(limit)}"
    if needed.low > limit:
        return f"{words} does not suffice"
    return f"{words} may not suffice" if needed.high > limit else words


def _hosts(study: Study) -> str:
    named = [f"{host.name} ({', '.join(host.roles)})" for host in hosts(study)]
    named += code_hosts(study)
    return ", ".join(named) if named else "none: nothing leaves this machine"


def _keys(study: Study) -> str:
    """List which environment variables a run sends, and where."""
    return ", ".join(f"{use.shown} ({', '.join(use.users)})" for use in named_keys(study))


def _code(study: Study) -> str:
    named = [f"{code.shown} ({', '.join(code.users)})" for code in named_code(study)]
    return f"{', '.join(named)}: a run executes it with your rights" if named else ""


def _outside(loaded: LoadedStudy) -> str:
    """List the files that are read from outside of the study's folder."""
    return ", ".join(f"{name} ({real})" for name, real in loaded.outside.items())


def _cells(study: Study) -> str:
    plans = [plan for plan in study.levels if plan.people and plan.level in _TESTERS]
    if not plans:
        return ""
    people = [(plan.people, _TESTERS[plan.level]) for plan in plans]
    n_live = sum(not isinstance(item.connection, RecordedFile) for item in study.applications)
    within = study.event is None or study.event.assign.value == "within_subjects"
    total = sum(plan.people * plan.sessions for plan in plans)
    words = " + ".join(_count(n, noun) for n, noun in people)
    if within and all(plan.sessions == n_live for plan in plans):
        return f"({words}) x {_count(n_live, 'application')} = {total}"
    if all(plan.sessions == 1 for plan in plans):
        return f"{words} = {total}"
    held = (f"{_count(n, noun)} x {_count(p.sessions, 'session')}" for (n, noun), p in zip(people, plans, strict=True))
    return f"{' + '.join(held)} = {total}"


def _found(found: Sequence[Found]) -> str:
    """Say where names were found, e.g. `groundedness 1.2 and persona template customer 1.0: shipped`."""
    by_place: dict[str, list[str]] = {}
    for item in sorted(found, key=lambda entry: entry.noun != "guideline"):
        noun = "" if item.noun == "guideline" else f"{item.noun} "
        by_place.setdefault(item.where, []).append(f"{noun}{item.name} {item.edition}".strip())
    order = sorted(by_place, key=lambda where: where != SHIPPED)
    return "; ".join(f"{_listed(by_place[where])}: {where}" for where in order)


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
