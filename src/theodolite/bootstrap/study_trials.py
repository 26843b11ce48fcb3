"""Trials of a study before it is saved: connections, and judges on a few dialogues. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from theodolite.bootstrap.connections import SystemClock, model_client, open_one
from theodolite.bootstrap.permission import require_code_permission, require_key_permission
from theodolite.config.loading import LoadedStudy
from theodolite.config.permissions import workspace_for
from theodolite.config.required_access import netloc_of
from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import Application, HttpEndpoint, ModelEndpoint, PromptedModel
from theodolite.domain.errors import InputError, NotFound, RunStopped, TheodoliteError, did_you_mean
from theodolite.domain.run import Spending
from theodolite.domain.study import Study
from theodolite.execution.clients import Clients
from theodolite.execution.stop_conditions import CostEstimator, StopConditions
from theodolite.ports.application import Endpoint, EndpointCheck, Model
from theodolite.usecases.conformance import Examination, examine
from theodolite.usecases.judge_validation import JudgeTrial, TrialReading

CONNECTION_S = 60.0
"""Time limit of a connection check; seconds."""

TRIAL_S = 180.0
"""Time limit of a judge trial; seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialAccess:
    """The access that a trial has to the network.

    Attributes:
        environ: Environment variables; the only source of API keys.
        public_only: Whether hosts are called only at addresses of the public Internet.
        known_hosts: Hosts that may be called at any address, because the operator's own files name them.
    """

    environ: Mapping[str, str]
    public_only: bool = False
    known_hosts: Collection[str] = frozenset()

    def is_restricted(self, url: str) -> bool:
        """Return whether calls to an address may reach only public addresses."""
        return self.public_only and bool(url) and netloc_of(url) not in self.known_hosts


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionCheck:
    """Result of a connection check.

    Attributes:
        name: Name of the model or application.
        check: Answer of a model; None for an application.
        examination: Findings about an application; None for a model.
        problem: Why the test ended without a result; empty if it did not.
    """

    name: str
    check: EndpointCheck | None = None
    examination: Examination | None = None
    problem: str = ""

    @property
    def is_connected(self) -> bool:
        """Whether the endpoint can be used."""
        if self.check is not None:
            return self.check.alive
        return self.examination is not None and not self.examination.unexamined


async def check_connection(loaded: LoadedStudy, name: str, access: TrialAccess) -> ConnectionCheck:
    """Call a model once, or an application a few times as `theodolite check-application` does.

    Raises:
        InputError: If the study names no such endpoint, or runs code or sends keys that are not allowed.
    """
    study = loaded.study
    models = {model.name: model for model in study.models}
    applications = {application.name: application for application in study.applications}
    if name not in models and name not in applications:
        message = f"the study has no model or application `{name}`{did_you_mean(name, [*models, *applications])}"
        raise InputError(message)
    require_code_permission(loaded)
    require_key_permission(loaded, access.environ)
    try:
        async with asyncio.timeout(CONNECTION_S):
            if name in applications:
                result = await _examined(loaded, applications[name], access)
                return ConnectionCheck(name=name, examination=result)
            return ConnectionCheck(name=name, check=await _checked(loaded, models[name], access))
    except TimeoutError:
        return ConnectionCheck(name=name, problem=f"no result within {CONNECTION_S:.0f} seconds")
    except TheodoliteError as error:
        return ConnectionCheck(name=name, problem=str(error))


async def _checked(loaded: LoadedStudy, endpoint: ModelEndpoint, access: TrialAccess) -> EndpointCheck:
    client = _model(loaded, endpoint, access)
    try:
        if isinstance(client, Endpoint):
            return await client.check_endpoint()
        return EndpointCheck(name=endpoint.name, host="", alive=True, answer="answers from the study, without a call")
    finally:
        await client.close()


async def _examined(loaded: LoadedStudy, application: Application, access: TrialAccess) -> Examination:
    connection = application.connection
    if isinstance(connection, HttpEndpoint) and access.is_restricted(connection.url):
        application = replace(application, connection=replace(connection, public_only=True))
    needed = connection.model if isinstance(connection, PromptedModel) else ""
    models = {
        endpoint.name: _model(loaded, endpoint, access) for endpoint in loaded.study.models if endpoint.name == needed
    }
    try:
        opened = open_one(
            loaded,
            application,
            models=models,
            workspace=workspace_for(loaded.folder),
            environ=access.environ,
            clock=SystemClock(),
        )
        return await examine(application.name, opened)
    finally:
        for model in models.values():
            await model.close()


def _model(loaded: LoadedStudy, endpoint: ModelEndpoint, access: TrialAccess) -> Model:
    return model_client(
        endpoint,
        environ=access.environ,
        clock=SystemClock(),
        folder=loaded.folder,
        public_only=access.is_restricted(endpoint.url),
    )


def model_judges(study: Study) -> tuple[Annotator, ...]:
    """Return the judges of a study that are models."""
    return tuple(judge for judge in study.asked if isinstance(judge.labelling, ModelJudge))


def judge_named(study: Study, name: str) -> Annotator:
    """Return a judge that is a model.

    Raises:
        NotFound: If the study has no such judge.
    """
    judges = {judge.name: judge for judge in model_judges(study)}
    if name not in judges:
        message = f"the study has no judge with a model called `{name}`{did_you_mean(name, judges)}"
        raise NotFound(message)
    return judges[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOutcome:
    """Result of a judge trial.

    Attributes:
        readings: The readings; empty if the trial was stopped.
        spent: Cost of the trial.
        problem: Why the trial was stopped; empty if it was not.
    """

    readings: tuple[TrialReading, ...] = ()
    spent: Spending = field(default_factory=Spending)
    problem: str = ""

    @property
    def cost_microusd(self) -> int:
        """Reported and estimated cost; millionths of a US dollar."""
        return self.spent.cost_microusd + self.spent.estimated_microusd


async def try_judge(loaded: LoadedStudy, trial: JudgeTrial, access: TrialAccess, *, spent: Spending) -> TrialOutcome:
    """Let a judge read the dialogues of a trial, and return its readings and their cost.

    The budget of the study covers the trial and everything spent before it.

    Args:
        loaded: The study.
        trial: The judge and the dialogues.
        access: The network and the keys.
        spent: Cost of the study so far.

    Raises:
        InputError: If the study sends keys that are not allowed.
    """
    require_key_permission(loaded, access.environ)
    study, labelling = loaded.study, trial.judge.labelling
    needed = labelling.model if isinstance(labelling, ModelJudge) else ""
    stop_conditions = StopConditions(budget=study.budget, spent=spent, cost_estimator=CostEstimator(study))
    models = {needed: _model(loaded, study.model(needed), access)}
    clients = Clients(models=models, applications={}, stop_conditions=stop_conditions)
    readings: tuple[TrialReading, ...] = ()
    problem = ""
    try:
        async with asyncio.timeout(TRIAL_S):
            readings = await trial.read(clients)
    except RunStopped:
        problem = f"{stop_conditions.reason}; the trial was cut off"
    except TimeoutError:
        problem = f"the judge needed more than {TRIAL_S:.0f} seconds"
    finally:
        await clients.close()
    return TrialOutcome(readings=readings, spent=stop_conditions.spent - spent, problem=problem)
