"""The long form of a study: what its short forms became, defaults included."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

from theodolite.config.scenarios import LEVELS
from theodolite.config.series import series_document
from theodolite.config.writing.expanded_instruments import questionnaires_of, schemas_of
from theodolite.config.writing.expanded_labels import (
    annotators_of,
    corrections_document,
    guidelines_of,
    judges_of,
    reference_of,
    shared_spelling,
)
from theodolite.domain.application import (
    Application,
    AriaClass,
    BodyFormat,
    HttpEndpoint,
    Isolation,
    Markup,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.domain.model import ModelEndpoint, ModelKind
from theodolite.domain.network_settings import NetworkSettings
from theodolite.domain.people.event import AnnotationProcess
from theodolite.domain.persona import PersonaGroup
from theodolite.domain.scenario import Scenario
from theodolite.domain.shown_order import OrderPlan
from theodolite.domain.study import Study
from theodolite.domain.trees.form import design_document

_LEVEL_NAMES = {level: name for name, level in LEVELS.items()}


def expanded(study: Study) -> str:
    """Return the study as a study file that leaves nothing to a default or to another file's name."""
    writer = YAML(typ="rt", pure=True)
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = 110
    writer.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    writer.dump(_blocks(_filled(**_document(study))), out)
    return out.getvalue()


def _document(study: Study) -> dict[str, Any]:
    return {
        "study": study.name,
        "title": study.title,
        "about": study.about,
        "language": "" if study.language == "en" else study.language,
        "series": series_document(study.preregistered) if study.preregistered else study.series,
        "pack": _packs(study),
        "models": {model.name: _model(model) for model in study.models},
        "applications": _applications(study.applications),
        "scenarios": {scenario.name: _scenario(study, scenario) for scenario in study.scenarios},
        "personas": {group.name: _personas(group) for group in study.personas},
        "guidelines": guidelines_of(study),
        "schemas": schemas_of(study),
        "questionnaires": questionnaires_of(study),
        "judges": judges_of(study),
        "annotators": annotators_of(study),
        "spelling": shared_spelling(study),
        "reference": reference_of(study),
        "corrections": corrections_document(study),
        "groups": list(study.groups),
        "risks": {
            risk.name: {
                "taxonomy": risk.taxonomy,
                "description": risk.description,
                "identified_by": risk.identified_by.value,
                **_filled(shown_by=[*risk.rules, *(answer.text for answer in risk.answers)]),
            }
            for risk in study.risks
        },
        "topics": {topic.name: {"about": topic.about, "weight": topic.weight.value} for topic in study.topics},
        "tree": _trees(study),
        "sampling": _filled(
            dialogues=study.sampling.dialogues, seed=study.sampling.seed, repeats=study.sampling.repeats
        ),
        "budget": _filled(usd=study.budget.usd, tokens=study.budget.tokens, calls=study.budget.calls),
        **_people(study),
    }


def _filled(**values: Any) -> dict[str, Any]:
    """Return the values that are there at all."""
    return {key: value for key, value in values.items() if value not in (None, "", {}, [], ())}


def _blocks(value: Any) -> Any:
    """Let texts of several lines stand as blocks, as people write them."""
    if isinstance(value, dict):
        return {key: _blocks(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_blocks(item) for item in value]
    return LiteralScalarString(value) if isinstance(value, str) and "\n" in value else value


def _model(model: ModelEndpoint) -> dict[str, Any]:
    price = model.price
    return _filled(
        kind="" if model.kind is ModelKind.OPENAI else model.kind.value,
        url=model.url,
        name=model.model,
        key=model.key,
        key_header=model.key_header,
        params=dict(model.params),
        price=_filled(input=price.input_usd, output=price.output_usd, as_of=price.as_of) if price else None,
        parallel=model.parallel,
        rpm=model.rpm,
        tpm=model.tpm,
        timeout=model.timeout_s,
        deadline=model.deadline_s,
        attempts=model.attempts,
        cache=model.cache.value,
        structured=model.structured,
        stream=model.stream or None,
        connection=_network(model.network),
        script=list(model.script),
    )


def _applications(applications: Iterable[Application]) -> dict[str, Any]:
    """Return the applications; those that one recorded file was split into become one again."""
    kept: dict[str, Any] = {}
    for application in applications:
        connection = application.connection
        if isinstance(connection, RecordedFile) and connection.where:
            name = f"recorded in {connection.file}"
        else:
            name = application.name
        kept.setdefault(name, _connection(application) | _said_of(application))
    return kept


def _said_of(application: Application) -> dict[str, Any]:
    claims = [
        _filled(
            text=item.text, kind=item.kind.value, scripts=list(item.scripts), rule=item.rule, untestable=item.untestable
        )
        for item in application.claims
    ]
    return _filled(
        description=application.description,
        guardrails=application.guardrails.value,
        claims=claims,
        mitigations={item.name: item.description for item in application.mitigations},
        variant_of=application.variant_of,
        scenarios=list(application.scenarios),
    )


def _connection(application: Application) -> dict[str, Any]:
    connection = application.connection
    if isinstance(connection, RecordedFile):
        split_by = next(iter(connection.where), "")
        return _filled(kind="recorded", file=connection.file, **connection.columns, application=split_by)
    if isinstance(connection, PromptedModel):
        context = list(connection.context)
        return _filled(kind="model", model=connection.model, system=connection.system, context=context)
    if isinstance(connection, HttpEndpoint):
        return _http(connection)
    if isinstance(connection, PythonCallable):
        return _python(connection)
    return _aria(connection)


def _http(connection: HttpEndpoint) -> dict[str, Any]:
    return _filled(
        kind="http",
        url=connection.url,
        method=connection.method,
        headers=dict(connection.headers),
        body=json.loads(connection.body),
        body_as="" if connection.body_as is BodyFormat.JSON else connection.body_as.value,
        reply={"regex": connection.reply_pattern} if connection.reply_pattern else connection.reply,
        stream=connection.stream or None,
        session=connection.session,
        public_only=connection.public_only or None,
        key=connection.key,
        key_header=connection.key_header,
        timeout=connection.timeout_s,
        connection=_network(connection.network),
        parallel=connection.parallel,
    )


def _network(network: NetworkSettings) -> dict[str, Any]:
    return _filled(
        proxy=network.proxy,
        no_proxy=list(network.no_proxy),
        ca=network.ca,
        client_cert=network.client_cert,
        client_key=network.client_key,
        client_key_password=network.client_key_password,
    )


def _python(connection: PythonCallable) -> dict[str, Any]:
    return _filled(
        kind="python",
        call=connection.target,
        **_runtime(connection),
        timeout=connection.timeout_s,
        parallel=connection.parallel,
    )


def _aria(connection: AriaClass) -> dict[str, Any]:
    return _filled(
        kind="aria",
        **{"class": connection.target},
        init=json.loads(connection.init),
        auth=connection.auth,
        prompt=connection.prompt,
        **_runtime(connection),
        timeout=connection.timeout_s,
        parallel=connection.parallel,
    )


def _runtime(connection: PythonCallable | AriaClass) -> dict[str, Any]:
    """Return how processes are set up; `ignore` is not known any more, since the version that it led to is."""
    runtime = connection.runtime
    return {
        "isolation": "" if runtime.isolation is Isolation.APPLICATION else runtime.isolation.value,
        "python": runtime.python,
        "requirements": runtime.requirements,
        "env": list(runtime.env),
        "network": None if runtime.network is None else list(runtime.network) or "none",
        "memory_mb": runtime.memory_mb or None,
        "cpu_seconds": runtime.cpu_s or None,
        "sessions": runtime.sessions or None,
        "markup": "" if connection.markup is Markup.TEXT else connection.markup.value,
    }


def _trees(study: Study) -> Any:
    """Return the study's tree with all its nodes; of several trees their names, since a study file writes out one."""
    if len(study.trees) == 1:
        return design_document(study.trees[0])
    return [design.name for design in study.trees]


def _packs(study: Study) -> str | list[str]:
    packs = study.pack.split(", ") if study.pack else []
    return packs[0] if len(packs) == 1 else packs


def _scenario(study: Study, scenario: Scenario) -> dict[str, Any]:
    return _filled(
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
        signs=_filled(released=list(scenario.packet.release_signs), refused=list(scenario.packet.refusal_signs)),
        use_case=scenario.proxy.use_case,
        capabilities=scenario.proxy.capabilities,
        design=scenario.proxy.design,
        instructions={level.replace(" ", "_"): text for level, text in scenario.instructions.items()},
        risks=list(scenario.risks),
        topics=[topic.name for topic in study.topics if scenario.name in topic.scenarios],
        personas=list(scenario.personas),
        scripts={item.key: _filled(prompts=list(item.prompts), purpose=item.purpose) for item in scenario.scripts},
        attacks=list(scenario.attacks),
        aims={aim.key: aim.ask for aim in scenario.aims},
        attacker=scenario.attacker,
        guidelines=list(scenario.guidelines),
        questionnaires={level.replace(" ", "_"): list(names) for level, names in scenario.questionnaires.items()},
    )


def _personas(group: PersonaGroup) -> dict[str, Any]:
    rows = [dict(row.values) for row in group.rows if row.values]
    return _filled(
        template=group.template.text,
        rows=rows,
        model=group.model,
        style=list(group.style),
        language=group.language,
        history=group.history,
    )


def _people(study: Study) -> dict[str, Any]:
    levels = {
        _LEVEL_NAMES[plan.level]: {
            "people": plan.people,
            "sessions": plan.sessions,
            "minutes": plan.minutes,
            "repeats": plan.repeats,
        }
        for plan in study.levels
    }
    process, event = study.annotation, study.event
    return {
        "levels": levels,
        "assign": event.assign.value if event else "",
        "annotation": process and _process(process),
        "event": event and _filled(opens=event.opens, closes=event.closes, zone=event.zone),
        "contact": event.contact if event else "",
    }


def _process(process: AnnotationProcess) -> dict[str, Any]:
    return _filled(
        passes=process.passes,
        route=process.route.value,
        quality_check=process.quality_check,
        schema=process.schema,
        reserve_min=process.reserve_min,
        most_share=process.most_share,
        apart=process.apart,
        practice=process.practice,
        pass_mark=process.pass_mark,
        attempts=process.attempts,
        judge_passes=process.judge_passes,
        order=_order(process.order),
    )


def _order(order: OrderPlan) -> dict[str, Any]:
    if not order.is_varied:
        return {}
    return _filled(questions=order.questions.value, options=order.options, turns=order.turns, dialogues=order.dialogues)
