"""The `scenarios` section: situations, scripts and attacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from pydantic import Discriminator, Field, Tag

from theodolite.config.load_context import Entry, LoadContext
from theodolite.config.validation import (
    KIND,
    Filled,
    OneOrMore,
    Spec,
    Word,
    as_list,
    expression_problem,
    first_slot,
    form_of,
    syntax_problem,
    without_empty,
)
from theodolite.domain.dialogue import Level, Passage, passages_in
from theodolite.domain.errors import Severity, did_you_mean
from theodolite.domain.persona import Aim, Script, StrategyInfo
from theodolite.domain.scenario import Proxy, Scenario, SourceText, Task, TestPacket
from theodolite.domain.study import Study
from theodolite.testing.strategies import APPROACHES, Approach, catalogue_with, info_of_approach

LevelName: TypeAlias = Literal["model_testing", "red_teaming", "field_testing"]
"""One of ARIA's three levels of testing."""


class ScriptSpec(Spec):
    """Fixed prompts instead of a tester."""

    prompts: list[Filled] = Field(min_length=1)
    """Prompts, in order."""
    purpose: Literal["", "useful", "guardrail"] = ""
    """`useful` tests permitted content, `guardrail` prohibited content."""
    expected: Word = ""
    """Expected answer, for judges, functions and rules such as `equals: "{{ expected }}"`."""
    values: dict[str, Word] = Field(default_factory=dict)
    """Further values of the case by name, for `groups`."""


ScriptForm: TypeAlias = Annotated[
    Annotated[Filled, Tag(KIND + "text")]
    | Annotated[list[Filled], Tag(KIND + "list")]
    | Annotated[ScriptSpec, Tag(KIND + "mapping")],
    Discriminator(form_of),
]
"""A prompt, several prompts, or several prompts with a purpose."""


class SignsSpec(Spec):
    """Signs that show a release or a refusal without a model."""

    released: list[Filled] = Field(default_factory=list)
    """Regular expressions that find prohibited content in a response; case is ignored."""
    refused: list[Filled] = Field(default_factory=list)
    """Regular expressions that find a refusal in a response."""


class ScenarioSpec(Spec):
    """Situation and goal of some dialogues."""

    task: Task = Task.CHAT
    """The user's task: `question_answering`, `chat`, `search`, `summarisation`, `rewriting`, `generation`."""
    goal: str = ""
    """Goal of the tester; may use the columns of the personas' rows, e.g. `{{ wish }}`."""
    source: OneOrMore | None = None
    """File or files with the source material."""
    corpus: OneOrMore | None = None
    """File or files to search for every prompt; blank lines separate passages."""
    passages: int = Field(default=3, ge=1)
    """Maximum number of passages in a search result."""
    turns: int = Field(default=1, ge=1)
    """Maximum number of turns of a dialogue; a turn is one prompt and one response."""
    starter: str = ""
    """Fixed first prompt; may use the columns of the personas' rows."""
    stop: str = ""
    """Text of the simulated user that ends the dialogue."""
    permitted: list[Filled] = Field(default_factory=list)
    """Behaviour that must be possible."""
    prohibited: list[Filled] = Field(default_factory=list)
    """Behaviour that must not occur."""
    signs: SignsSpec = Field(default_factory=SignsSpec)
    """Patterns that detect a release or a refusal without a model (`rule: packet`)."""
    use_case: str = ""
    """The real use that the scenario represents."""
    capabilities: str = ""
    """Key enabling capabilities of that use."""
    design: str = ""
    """Methods, data and measurements of the experiment."""
    instructions: dict[LevelName, str] = Field(default_factory=dict)
    """Instructions for testers, by level."""
    risks: list[Filled] = Field(default_factory=list)
    """Names of its risks."""
    topics: list[Filled] = Field(default_factory=list)
    """Names of its sensitive topics (`topics` of the study or pack)."""
    personas: list[Filled] = Field(default_factory=list)
    """Names of its persona groups; default: all, and none if it has scripts and neither goal nor starter."""
    scripts: dict[str, ScriptForm] = Field(default_factory=dict)
    """Fixed prompts, by key; without personas they are the only testers."""
    attacks: list[Filled] = Field(default_factory=list)
    """Strategies of simulated red teamers, e.g. `role_play`; default: those of `levels.red_teaming`."""
    aims: dict[str, Filled] = Field(default_factory=dict)
    """Prohibited content that red teamers request, by key; default: the `guardrail` scripts."""
    attacker: str = ""
    """Name of the model for strategies that need one (`paraphrase`, `translation`, `adaptive`)."""
    guidelines: list[Filled] = Field(default_factory=list)
    """Names of the guidelines for its dialogues; default: all."""
    questionnaires: dict[LevelName, OneOrMore] = Field(default_factory=dict)
    """Questionnaire or questionnaires after a session, by level; none for `model_testing`."""


def note_attacks(entry: Entry[ScenarioSpec], context: LoadContext, strategies: Sequence[StrategyInfo]) -> None:
    """Note reasons why the strategies of a scenario cannot run completely, or cannot show success."""
    path = ("attacks",) if entry.spec.attacks else ()
    for message in _reasons(entry, strategies):
        context.diagnostics.add(entry.diagnostic(*path, message=message, severity=Severity.NOTE, at_key=True))


def _reasons(entry: Entry[ScenarioSpec], strategies: Sequence[StrategyInfo]) -> Iterator[str]:
    turns = entry.spec.turns
    # A model adapts to its number of turns; fixed steps beyond the last turn are never sent.
    cut = [
        f"`{strategy.name}` ({strategy.tries} steps)"
        for strategy in strategies
        if strategy.tries > turns and not strategy.needs_model
    ]
    if cut:
        allowed = "1 turn" if turns == 1 else f"{turns} turns"
        yield f"scenario `{entry.name}` ends after {allowed}, too early for all of {', '.join(cut)}: raise `turns`"
    if strategies and not entry.spec.signs.released:
        yield (
            f"nothing tells whether an attack in scenario `{entry.name}` succeeds: add words that only a release"
            " holds, e.g. `signs: {released: [heron seven]}`"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RedTeaming:
    """Settings of `levels.red_teaming` for all scenarios.

    Attributes:
        attacks: Names of known strategies.
        attacker: Name of the model for strategies that need one.
        models: Names of the study's models.
    """

    attacks: tuple[str, ...] = ()
    attacker: str = ""
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacks:
    """Attempts of simulated red teamers in a scenario."""

    names: tuple[str, ...] = ()
    aims: tuple[Aim, ...] = ()
    attacker: str = ""
    brought: tuple[StrategyInfo, ...] = ()


class AttackKeys(Protocol):
    """The keys of a level on simulated red teaming."""

    @property
    def attacks(self) -> list[str]:
        """Strategies."""

    @property
    def attacker(self) -> str:
        """Model of the red teamer."""


def red_teaming_of(
    entry: Entry[Spec], levels: Mapping[LevelName, AttackKeys], context: LoadContext, models: tuple[str, ...]
) -> RedTeaming:
    """Return a study's settings for simulated red teaming; errors are added to the diagnostics."""
    for name, other in levels.items():
        if name != "red_teaming" and (other.attacks or other.attacker):
            message = f"`attacks` and `attacker` belong to level `red_teaming`, not to `{name}`"
            context.diagnostics.add(entry.diagnostic("levels", name, message=message))
    level = levels.get("red_teaming")
    if level is None:
        return RedTeaming(models=models)
    names = _known(entry, context, level.attacks, ("levels", "red_teaming", "attacks"))
    _check_model(entry, context, level.attacker, models, ("levels", "red_teaming", "attacker"))
    return RedTeaming(attacks=names, attacker=level.attacker, models=models)


def attacks_of(entry: Entry[ScenarioSpec], context: LoadContext, red_teaming: RedTeaming) -> Attacks:
    """Return the attacks of simulated red teamers in a scenario; errors are added to the diagnostics."""
    spec = entry.spec
    own = _known(entry, context, spec.attacks, ("attacks",))
    _check_model(entry, context, spec.attacker, red_teaming.models, ("attacker",))
    names, attacker = own or red_teaming.attacks, spec.attacker or red_teaming.attacker
    aims = tuple(Aim(key=key, ask=ask) for key, ask in _aims(spec).items())
    if own and not aims:
        message = (
            f"scenario `{entry.name}` has `attacks` but nothing that they want to hear: "
            "add `aims`, e.g. `aims: {ending: How does it end?}`"
        )
        context.diagnostics.add(entry.diagnostic("attacks", message=message, at_key=True))
    strategies = [info_of_approach(_offered(context)[name]) for name in names]
    needy = [strategy.name for strategy in strategies if strategy.needs_model]
    if needy and aims and not attacker:
        message = f"strategy `{needy[0]}` in scenario `{entry.name}` is played by a model: name it as `attacker`"
        context.diagnostics.add(entry.diagnostic(*(("attacks",) if own else ()), message=message, at_key=True))
    if not (names and aims):
        return Attacks()
    note_attacks(entry, context, strategies)
    custom = tuple(strategy for strategy in strategies if strategy.name not in APPROACHES)
    return Attacks(names=names, aims=aims, attacker=attacker if needy else "", brought=custom)


def _offered(context: LoadContext) -> Mapping[str, Approach]:
    return catalogue_with(context.resolver.strategies)


def _aims(spec: ScenarioSpec) -> Mapping[str, str]:
    if spec.aims:
        return spec.aims
    scripts = {key: form for key, form in spec.scripts.items() if isinstance(form, ScriptSpec)}
    return {key: form.prompts[0] for key, form in scripts.items() if form.purpose == "guardrail" and form.prompts}


def _known(entry: Entry[Spec], context: LoadContext, names: list[str], path: tuple[str, ...]) -> tuple[str, ...]:
    offered = _offered(context)
    for index, name in enumerate(names):
        if name not in offered:
            tail = did_you_mean(name, offered) or f"; known here: {', '.join(offered)}"
            context.diagnostics.add(entry.diagnostic(*path, index, message=f"there is no strategy `{name}`{tail}"))
        elif name in names[:index]:
            context.diagnostics.add(entry.diagnostic(*path, index, message=f"strategy `{name}` is named twice"))
    return tuple(name for name in dict.fromkeys(names) if name in offered)


def _check_model(
    entry: Entry[Spec],
    context: LoadContext,
    name: str,
    models: tuple[str, ...],
    path: tuple[str, ...],
) -> None:
    if name and name not in models:
        tail = did_you_mean(name, models) or "; name it under `models`"
        context.diagnostics.add(
            entry.diagnostic(*path, message=f"`attacker` names a model `{name}` that the study does not have{tail}")
        )


LEVELS: Mapping[str, Level] = {
    "model_testing": Level.MODEL_TESTING,
    "red_teaming": Level.RED_TEAMING,
    "field_testing": Level.FIELD_TESTING,
}
"""Level of testing by its name in study files."""


def scenario_to_domain(
    entry: Entry[ScenarioSpec], context: LoadContext, *, risks: tuple[str, ...], red_teaming: RedTeaming
) -> Scenario:
    """Return the scenario of an entry; its errors are reported."""
    spec = entry.spec
    attacks = attacks_of(entry, context, red_teaming)
    for key in ("goal", "starter"):
        problem = syntax_problem(getattr(spec, key))
        if problem:
            context.diagnostics.add(entry.diagnostic(key, message=f"`{key}` of scenario `{entry.name}`: {problem}"))
    _check_risks(entry, context, risks)
    _note_slots(entry, context)
    return Scenario(
        name=entry.name,
        goal=spec.goal,
        task=spec.task,
        turns=spec.turns,
        starter=spec.starter,
        stop=spec.stop,
        packet=_packet(entry, context),
        proxy=Proxy(use_case=spec.use_case, capabilities=spec.capabilities, design=spec.design),
        scripts=_scripts(entry, context),
        instructions={LEVELS[level].value: text for level, text in spec.instructions.items()},
        risks=tuple(spec.risks),
        personas=tuple(spec.personas),
        corpus=_corpus(entry, context),
        passages=spec.passages,
        attacks=attacks.names,
        aims=attacks.aims,
        attacker=attacks.attacker,
        brought=attacks.brought,
        guidelines=tuple(spec.guidelines),
        questionnaires={LEVELS[level].value: tuple(as_list(names)) for level, names in spec.questionnaires.items()},
    )


def _corpus(entry: Entry[ScenarioSpec], context: LoadContext) -> tuple[Passage, ...]:
    passages: list[Passage] = []
    for name in as_list(entry.spec.corpus):
        text = context.text(entry, "corpus", name=name)
        result = passages_in(name, text) if text is not None else ()
        if text is not None and not result:
            context.diagnostics.add(
                entry.diagnostic("corpus", message=f"`{name}` holds no text that a search could find")
            )
        passages += result
    return tuple(passages)


def _packet(entry: Entry[ScenarioSpec], context: LoadContext) -> TestPacket:
    names = as_list(entry.spec.source)
    texts = [(name, context.text(entry, "source", name=name)) for name in names]
    return TestPacket(
        permitted=tuple(entry.spec.permitted),
        prohibited=tuple(entry.spec.prohibited),
        sources=tuple(SourceText(name=name, text=text) for name, text in texts if text is not None),
        release_signs=_signs(entry, context, "released", entry.spec.signs.released),
        refusal_signs=_signs(entry, context, "refused", entry.spec.signs.refused),
    )


def _signs(entry: Entry[ScenarioSpec], context: LoadContext, key: str, signs: Sequence[str]) -> tuple[str, ...]:
    for index, sign in enumerate(signs):
        if problem := expression_problem(sign):
            context.diagnostics.add(entry.diagnostic("signs", key, index, message=problem))
    return tuple(signs)


def _scripts(entry: Entry[ScenarioSpec], context: LoadContext) -> tuple[Script, ...]:
    scripts = []
    for key, form in entry.spec.scripts.items():
        if isinstance(form, ScriptSpec):
            script = Script(
                key=key,
                prompts=tuple(form.prompts),
                purpose=form.purpose,
                expected=form.expected,
                values=form.values,
            )
        else:
            script = Script(key=key, prompts=tuple(as_list(form)))
        if not script.prompts:
            message = f"script `{key}` of scenario `{entry.name}` says nothing; expected one prompt at least"
            context.diagnostics.add(entry.diagnostic("scripts", key, message=message))
        scripts.append(script)
    return tuple(scripts)


def _note_slots(entry: Entry[ScenarioSpec], context: LoadContext) -> None:
    """Note placeholders in texts that no row fills, although the author expects it."""
    for key, form in entry.spec.scripts.items():
        prompts = form.prompts if isinstance(form, ScriptSpec) else as_list(form)
        _note_slot(entry, context, ("scripts", key), f"script `{key}`", prompts)
    for key, ask in entry.spec.aims.items():
        _note_slot(entry, context, ("aims", key), f"aim `{key}`", (ask,))


def _note_slot(
    entry: Entry[ScenarioSpec], context: LoadContext, path: tuple[str, ...], what: str, texts: Sequence[str]
) -> None:
    slot = next(filter(None, map(first_slot, texts)), "")
    if slot:
        message = f"`{slot}` in {what} is said as it stands: rows of personas fill `goal` and `starter` alone"
        context.diagnostics.add(entry.diagnostic(*path, message=message, words=slot, severity=Severity.NOTE))


def _check_risks(entry: Entry[ScenarioSpec], context: LoadContext, risks: tuple[str, ...]) -> None:
    for index, name in enumerate(entry.spec.risks):
        if name not in risks:
            tail = did_you_mean(name, risks) or "; name it under `risks`"
            message = f"scenario `{entry.name}` looks for a risk `{name}` that the study does not name{tail}"
            context.diagnostics.add(entry.diagnostic("risks", index, message=message))


def scenario_from_domain(study: Study, scenario: Scenario) -> dict[str, Any]:
    """Return an entry of `scenarios`."""
    return without_empty(
        task=scenario.task.value,
        goal=scenario.goal,
        source=[source.name for source in scenario.packet.sources],
        corpus=list(dict.fromkeys(passage.name.rpartition(", paragraph ")[0] for passage in scenario.corpus)),
        passages=scenario.passages if scenario.corpus else None,
        turns=scenario.turns,
        starter=scenario.starter,
        stop=scenario.stop,
        permitted=list(scenario.packet.permitted),
        prohibited=list(scenario.packet.prohibited),
        signs=without_empty(released=list(scenario.packet.release_signs), refused=list(scenario.packet.refusal_signs)),
        use_case=scenario.proxy.use_case,
        capabilities=scenario.proxy.capabilities,
        design=scenario.proxy.design,
        instructions={level.replace(" ", "_"): text for level, text in scenario.instructions.items()},
        risks=list(scenario.risks),
        topics=[topic.name for topic in study.topics if scenario.name in topic.scenarios],
        personas=list(scenario.personas),
        scripts={
            item.key: without_empty(
                prompts=list(item.prompts), purpose=item.purpose, expected=item.expected, values=dict(item.values)
            )
            for item in scenario.scripts
        },
        attacks=list(scenario.attacks),
        aims={aim.key: aim.ask for aim in scenario.aims},
        attacker=scenario.attacker,
        guidelines=list(scenario.guidelines),
        questionnaires={level.replace(" ", "_"): list(names) for level, names in scenario.questionnaires.items()},
    )
