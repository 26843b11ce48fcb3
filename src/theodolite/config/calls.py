"""Calls: the number of calls of a run, and their estimated cost.

Counts calls from the plan itself; a stopping rule may save some. Tokens are an
estimate between two bounds, because the length of dialogues is unknown beforehand.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from theodolite.config.load_context import SHIPPED, Found
from theodolite.config.loading import LoadedStudy
from theodolite.config.required_access import code_hosts, hosts, hosts_of, named_code, named_keys
from theodolite.config.yaml_source import LocatedDiagnostic
from theodolite.domain.annotator import ModelJudge, StopRule, Voting
from theodolite.domain.application import ModelEndpoint, Price, PromptedModel, RecordedFile
from theodolite.domain.dialogue import Level
from theodolite.domain.errors import Severity
from theodolite.domain.guideline import Guideline
from theodolite.domain.identity import canonical_json
from theodolite.domain.persona import Attack, Persona, Script
from theodolite.domain.plan import PlannedSession
from theodolite.domain.scenario import Scenario
from theodolite.domain.study import Study
from theodolite.domain.text import dollars, printable
from theodolite.testing.planning import planned_sessions
from theodolite.testing.strategies import strategy_info

__all__ = ["CallEstimate", "EndpointCalls", "estimate_calls", "hosts_of"]

_PROMPT, _RESPONSE, _VERDICT = (15, 60), (40, 250), (60, 200)

ASSUMPTION = (
    f"a token is four characters; a prompt has {_PROMPT[0]} to {_PROMPT[1]} tokens, a response {_RESPONSE[0]} to"
    f" {_RESPONSE[1]}, a verdict {_VERDICT[0]} to {_VERDICT[1]}; thoughts before them are not foreseen;"
    " every dialogue runs its full length; no call is tried twice"
)
"""Basis of the estimated tokens, as in `check --json`."""

_OVERHEAD = 350
"""Tokens of a request in addition to the guideline: role, format of the answer; count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """An estimate between two bounds."""

    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Range) -> Range:
        """Return the sum, bound by bound."""
        return Range(low=self.low + other.low, high=self.high + other.high)

    @property
    def middle(self) -> float:
        """The geometric mean: equally far from both bounds in proportion."""
        return float((self.low * self.high) ** 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointCalls:
    """Expected calls of one model or application.

    Attributes:
        name: Its name in the study.
        is_model: Whether it is a language model of the study.
        calls: Maximum number of calls; count.
        tokens_in: Tokens read; 0 if no model is called.
        tokens_out: Tokens written; 0 if no model is called.
        cost_usd: US dollars; None if no price is known. A script costs nothing.
    """

    name: str
    is_model: bool
    calls: int
    tokens_in: Range = field(default_factory=Range)
    tokens_out: Range = field(default_factory=Range)
    cost_usd: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEstimate:
    """Expected cost of a run of a study.

    Attributes:
        dialogues: Dialogues of the plan, including recorded ones; count.
        recorded: Recorded dialogues among them; count.
        personas: Expanded personas; count.
        scripts: Scripts; count.
        attacks: Simulated red teamers: strategies times attack goals; count.
        applications: Live applications; count.
        turns: Turns of the longest live dialogue; count.
        judges: Model judges; count.
        endpoints: The planned calls of each endpoint.
        with_people: Dialogues with people that judges annotate; count.
        assumption: Basis of the token estimate.
    """

    dialogues: int
    recorded: int
    personas: int
    scripts: int
    attacks: int
    applications: int
    turns: int
    judges: int
    endpoints: tuple[EndpointCalls, ...]
    with_people: int = 0
    assumption: str = ASSUMPTION

    @property
    def calls(self) -> int:
        """Maximum number of calls to all endpoints; count."""
        return sum(endpoint.calls for endpoint in self.endpoints)

    @property
    def tokens_in(self) -> Range:
        """Tokens read by models."""
        return sum((endpoint.tokens_in for endpoint in self.endpoints), Range())

    @property
    def tokens_out(self) -> Range:
        """Tokens written by models."""
        return sum((endpoint.tokens_out for endpoint in self.endpoints), Range())

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of the models without a known price that a run calls."""
        return tuple(item.name for item in self.endpoints if item.is_model and item.calls and item.cost_usd is None)

    @property
    def cost_usd(self) -> Range:
        """Cost of the models with a known price; US dollars."""
        return sum((item.cost_usd for item in self.endpoints if item.cost_usd is not None), Range())


@dataclass(slots=True)
class _Tally:
    calls: int = 0
    tokens_in: Range = field(default_factory=Range)
    tokens_out: Range = field(default_factory=Range)

    def add(self, calls: int, tokens_in: Range, tokens_out: Range) -> None:
        self.calls += calls
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out


def estimate_calls(
    loaded: LoadedStudy, *, people: Sequence[tuple[str, int]] = (), judges_only: bool = False
) -> CallEstimate:
    """Return the maximum number of calls of a run, and an estimate of tokens and cost.

    Args:
        loaded: The study.
        people: Scenario and number of turns of each completed dialogue with a person; judges annotate these as well.
        judges_only: Whether to count only the calls of judges.

    Raises:
        PlanError: If no plan can be drawn from the study.
        TemplateError: If a template cannot be filled.
    """
    study = loaded.study
    sessions = planned_sessions(study, loaded.recordings)
    recorded = {item.name for item in study.applications if isinstance(item.connection, RecordedFile)}
    live = list(sessions.live)
    tallies: dict[tuple[str, bool], _Tally] = defaultdict(_Tally)
    for session in () if judges_only else live:
        _count_session(study, session, tallies)
    judges = [item for item in study.annotators if isinstance(item.labelling, ModelJudge)]
    for session in sessions if judges else ():
        scenario = _scenario(study, session.scenario)
        material = _material(session, scenario)
        _count_judges(study, scenario, turns=_turns(study, session), material=material, tallies=tallies)
    for name, turns in people if judges else ():
        scenario = _scenario(study, name)
        _count_judges(study, scenario, turns=turns, material=scenario.context, tallies=tallies)
    testers = {(session.scenario, session.tester.key): session.tester for session in live}
    return CallEstimate(
        dialogues=len(sessions),
        recorded=len(sessions) - len(live),
        personas=sum(isinstance(tester, Persona) for tester in testers.values()),
        scripts=sum(isinstance(tester, Script) for tester in testers.values()),
        attacks=sum(isinstance(tester, Attack) for tester in testers.values()),
        applications=len(study.applications) - len(recorded),
        turns=max((_turns(study, session) for session in live), default=0),
        judges=len(judges),
        endpoints=tuple(_endpoints(study, tallies)),
        with_people=len(people),
    )


def _endpoints(study: Study, tallies: dict[tuple[str, bool], _Tally]) -> Iterator[EndpointCalls]:
    models = {model.name: model for model in study.models}
    for (name, is_model), tally in tallies.items():
        if not is_model or models[name].is_scripted:
            free = Range() if is_model else None
            yield EndpointCalls(name=name, is_model=is_model, calls=tally.calls, cost_usd=free)
            continue
        yield EndpointCalls(
            name=name,
            is_model=True,
            calls=tally.calls,
            tokens_in=tally.tokens_in,
            tokens_out=tally.tokens_out,
            cost_usd=_cost(models[name].price, tally),
        )


def _cost(price: Price | None, tally: _Tally) -> Range | None:
    if price is None:
        return None
    return Range(
        low=(price.input_usd * tally.tokens_in.low + price.output_usd * tally.tokens_out.low) / 1e6,
        high=(price.input_usd * tally.tokens_in.high + price.output_usd * tally.tokens_out.high) / 1e6,
    )


def _turns(study: Study, session: PlannedSession) -> int:
    match session.tester:
        case Script(prompts=prompts):
            return len(prompts)
        case Attack(strategy=strategy):
            scenario = _scenario(study, session.scenario)
            return min(strategy_info(strategy, scenario.brought).tries, scenario.turns)
        case _:
            return _scenario(study, session.scenario).turns


def _scenario(study: Study, name: str) -> Scenario:
    return next((item for item in study.scenarios if item.name == name), Scenario(name=name))


def _count_session(study: Study, session: PlannedSession, tallies: dict[tuple[str, bool], _Tally]) -> None:
    scenario, turns = _scenario(study, session.scenario), _turns(study, session)
    text = _range(_PROMPT, turns)
    answered = _range(_RESPONSE, turns)
    history = _history(turns)
    application = study.application(session.application).connection
    if isinstance(application, PromptedModel):
        fixed = _passage_tokens(scenario) + _tokens(
            application.system, _material(session, scenario), *application.context.values()
        )
        read = Range(low=fixed * turns, high=fixed * turns) + history + text
        tallies[application.model, True].add(turns, read, answered)
    else:
        tallies[session.application, False].add(turns, Range(), Range())
    tester = session.tester
    if isinstance(tester, Persona):
        question = turns - bool(tester.starter)
        fixed = _tokens(tester.text, *tester.style)
        tallies[tester.model, True].add(question, Range(low=fixed * question, high=fixed * question) + history, text)
    elif isinstance(tester, Attack) and tester.model:
        tallies[tester.model, True].add(turns, Range(low=_OVERHEAD * turns, high=_OVERHEAD * turns) + history, text)


def _count_judges(
    study: Study, scenario: Scenario, *, turns: int, material: str, tallies: dict[tuple[str, bool], _Tally]
) -> None:
    for annotator in study.annotators:
        labelling = annotator.labelling
        if isinstance(labelling, ModelJudge) and study.asks(annotator.guideline, scenario.name):
            fixed = _guideline_tokens(study.guideline(annotator.guideline)) + _tokens(material)
            fixed += _passage_tokens(scenario) * turns
            dialogue = _range(_PROMPT, turns) + _range(_RESPONSE, turns)
            once = Range(low=fixed, high=fixed) + dialogue
            read, written = (_voted(part, labelling.voting) for part in (once, _range(_VERDICT, 1)))
            tallies[labelling.model, True].add(labelling.voting.most, read, written)


def _voted(once: Range, voting: Voting) -> Range:
    """Return the maximum and minimum number of a judge's readings of one dialogue."""
    least = {
        StopRule.FIXED: voting.most,
        StopRule.CURTAILED: voting.most // 2 + 1,
        StopRule.LEAD: min(voting.lead, voting.most),
        StopRule.BAYES: 1,
    }[voting.rule]
    return Range(low=once.low * least, high=once.high * voting.most)


def _material(session: PlannedSession, scenario: Scenario) -> str:
    own = session.tester.material if isinstance(session.tester, Persona) else ""
    return own or scenario.context


def _passage_tokens(scenario: Scenario) -> int:
    """Return the tokens of one search result, with passages of usual length."""
    corpus = scenario.corpus
    usual = _tokens(*(passage.text for passage in corpus)) / len(corpus) if corpus else 0
    return round(usual * min(scenario.passages, len(corpus)))


def _guideline_tokens(guideline: Guideline) -> int:
    return _OVERHEAD + _tokens(canonical_json(guideline))


def _history(turns: int) -> Range:
    """Return the tokens of earlier turns that are sent again, over all turns of one dialogue."""
    earlier = turns * (turns - 1) / 2
    return Range(low=earlier * (_PROMPT[0] + _RESPONSE[0]), high=earlier * (_PROMPT[1] + _RESPONSE[1]))


def _range(ends: tuple[int, int], times: int) -> Range:
    return Range(low=ends[0] * times, high=ends[1] * times)


def _tokens(*texts: str) -> int:
    return sum(len(text) for text in texts) // 4


def price_days(models: Sequence[ModelEndpoint]) -> tuple[str, ...]:
    """Return the dates of the price lists behind the models' prices."""
    return tuple(sorted({model.price.as_of for model in models if model.price and model.price.as_of}))


_WIDTH = 80

_CENT = 0.01

_TESTERS = {Level.RED_TEAMING: "red teamer", Level.FIELD_TESTING: "field tester"}


def check_lines(loaded: LoadedStudy, estimate: CallEstimate) -> tuple[str, ...]:
    """Return the plan of a run: sessions, tokens, cost, hosts, cells, and where names were found.

    Args:
        loaded: The study.
        estimate: Estimate of its calls.
    """
    named = (
        ("Plan", _plan(loaded.study, estimate)),
        ("Tokens", _tokens_text(loaded.study, estimate)),
        ("Cost", _cost_text(loaded.study, estimate)),
        ("Hosts", _hosts(loaded.study)),
        ("Keys", _keys(loaded.study)),
        ("Code", _code(loaded.study)),
        ("Outside", _outside(loaded)),
        ("Cells", _cells(loaded.study)),
        ("Read", _readings(loaded)),
        ("From", _found(loaded.found)),
    )
    return tuple(_wrapped(name, text) for name, text in named if text)


def _wrapped(name: str, text: str) -> str:
    """Return a name and its text, wrapped if the terminal is narrow."""
    lines = textwrap.wrap(printable(text), _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return f"{name:<8}" + ("\n" + " " * 8).join(lines)


def closing_line(placed: Sequence[LocatedDiagnostic], path: str, *, calls: int = 1) -> str:
    """Return the last line of a check without errors: the count, and the next step.

    Args:
        placed: Notes and open items.
        path: The study's path as typed by the user.
        calls: Calls of a run; if 0, the next step suggests no trial run.
    """
    n_notes = sum(diagnostic.severity is Severity.NOTE for diagnostic in placed)
    n_open = sum(diagnostic.severity is Severity.OPEN for diagnostic in placed)
    counts = [_count(0, "error"), _count(n_notes, "note")]
    counts += [f"{n_open} open"] if n_open else []
    return f"{', '.join(counts)}.   Next: theodolite run {path}{' --limit 3' if calls else ''}"


def _readings(loaded: LoadedStudy) -> str:
    """Report how tables were read: recorded tables always, others if they are unusual."""
    usual = not loaded.recordings
    return "; ".join(text for text in loaded.readings if not (usual and text.endswith("UTF-8, comma")))


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
    text = " and ".join(_count(n, noun) for n, noun in testers if n)
    n_testers = estimate.personas + estimate.scripts + estimate.attacks
    times, rest = divmod(estimate.dialogues - estimate.recorded, max(1, n_testers * estimate.applications))
    if rest or not n_testers:
        return f" of {text}" if text else ""
    factors = [text if " and " not in text else f"({text})"]
    factors += [str(times)] if times > 1 else []
    factors += [_count(estimate.applications, "application")] if estimate.applications > 1 else []
    recorded = f" + {estimate.recorded:,} recorded" if estimate.recorded else ""
    return f" = {' x '.join(factors)}{recorded}"


def _tokens_text(study: Study, estimate: CallEstimate) -> str:
    read, written = estimate.tokens_in, estimate.tokens_out
    if not read.high:
        return ""
    budget = _budget(study.budget.tokens, "{:,}".format, read + written)
    return f"about {_guessed(read)} read, {_guessed(written)} written{budget}"


def _cost_text(study: Study, estimate: CallEstimate) -> str:
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
    """Return a count rounded to two significant digits, since it is an estimate."""
    return f"{round(n, 2 - len(str(int(n)))):,.0f}"


def _budget(limit: float | None, format_cost: Callable[[float], str], needed: Range) -> str:
    """Return the text on a limit of the study and whether a run stays below it; empty if there is no limit."""
    if limit is None:
        return ""
    text = f"; budget {format_cost(limit)}"
    if needed.low > limit:
        return f"{text} does not suffice"
    return f"{text} may not suffice" if needed.high > limit else text


def _hosts(study: Study) -> str:
    named = [f"{host.name} ({', '.join(host.roles)})" for host in hosts(study)]
    named += code_hosts(study)
    return ", ".join(named) if named else "none: nothing leaves this machine"


def _keys(study: Study) -> str:
    """List the environment variables that a run sends, with their receivers."""
    return ", ".join(f"{use.shown} ({', '.join(use.users)})" for use in named_keys(study))


def _code(study: Study) -> str:
    named = [f"{code.shown} ({', '.join(code.users)})" for code in named_code(study)]
    return f"{', '.join(named)}: a run executes it with your rights" if named else ""


def _outside(loaded: LoadedStudy) -> str:
    """List the files outside the study folder that are read."""
    return ", ".join(f"{name} ({real})" for name, real in loaded.outside.items())


def _cells(study: Study) -> str:
    plans = [plan for plan in study.levels if plan.people and plan.level in _TESTERS]
    if not plans:
        return ""
    people = [(plan.people, _TESTERS[plan.level]) for plan in plans]
    n_live = sum(not isinstance(item.connection, RecordedFile) for item in study.applications)
    within = study.event is None or study.event.assign.value == "within_subjects"
    total = sum(plan.people * plan.sessions for plan in plans)
    text = " + ".join(_count(n, noun) for n, noun in people)
    if within and all(plan.sessions == n_live for plan in plans):
        return f"({text}) x {_count(n_live, 'application')} = {total}"
    if all(plan.sessions == 1 for plan in plans):
        return f"{text} = {total}"
    products = (
        f"{_count(n, noun)} x {_count(p.sessions, 'session')}" for (n, noun), p in zip(people, plans, strict=True)
    )
    return f"{' + '.join(products)} = {total}"


def _found(result: Sequence[Found]) -> str:
    """Report the origin of names, e.g. `groundedness 1.2 and persona template customer 1.0: shipped`."""
    by_place: dict[str, list[str]] = {}
    for item in sorted(result, key=lambda entry: entry.noun != "guideline"):
        noun = "" if item.noun == "guideline" else f"{item.noun} "
        by_place.setdefault(item.where, []).append(f"{noun}{item.name} {item.edition}".strip())
    order = sorted(by_place, key=lambda where: where != SHIPPED)
    return "; ".join(f"{_listed(by_place[where])}: {where}" for where in order)


def _listed(texts: Sequence[str]) -> str:
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
