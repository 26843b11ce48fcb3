"""A worker in this process, for functions and classes that a test makes: the real worker without its pipes."""

from __future__ import annotations

import json
from typing import Any

from theodolite.domain.application import AriaClass, PythonCallable
from theodolite.gateways.applications.aria_application import AriaApplication
from theodolite.gateways.applications.callable_application import CallableApplication
from theodolite.gateways.applications.worker import Worker
from theodolite.gateways.applications.worker_process import WorkerChannel
from theodolite.gateways.applications.workers import ApplicationCode, Workers
from theodolite.gateways.secret_redaction import Credentials
from theodolite.ports.progress import Clock

NO_CREDENTIALS = Credentials()


class LocalChannel(WorkerChannel):
    """Carries requests to a worker in this process, as JSON all the same."""

    def __init__(self, target: Any) -> None:
        super().__init__(lambda kind, name: None)
        self._worker = Worker(lambda answer: self._receive(json.loads(json.dumps(answer))), target=target)

    def _write(self, request: dict[str, Any]) -> None:
        self._worker.handle(json.loads(json.dumps(request)))

    def kill(self, reason: str = "it was ended by the test") -> None:
        self._end(reason)

    async def close(self) -> None:
        self.kill()


def local_workers(
    target: Any,
    *,
    is_class: bool,
    owner: str,
    credentials: Credentials = NO_CREDENTIALS,
    init: tuple[str, ...] = (),
    offered: tuple[str, ...] = (),
) -> Workers:
    """Return the processes of an application whose code a test has made; they are threads."""
    request = {"target": "test:target", "is_class": is_class, "folder": "", "init": list(init)}
    request["offered"] = list(offered)
    code = ApplicationCode(owner=owner, target="test:target", start=lambda: LocalChannel(target), request=request)
    return Workers(code, credentials=credentials)


def local_callable(name: str, connection: PythonCallable, function: Any, *, clock: Clock) -> CallableApplication:
    """Return an application that is a function of a test."""
    return CallableApplication(name, connection, local_workers(function, is_class=False, owner=name), clock=clock)


def local_aria(
    name: str, connection: AriaClass, kind: Any, *, credentials: Credentials = NO_CREDENTIALS, clock: Clock
) -> AriaApplication:
    """Return an application that is a class of a test."""
    init = tuple(json.loads(connection.init))
    workers = local_workers(kind, is_class=True, owner=name, credentials=credentials, init=init)
    return AriaApplication(name, connection, workers, credentials=credentials, clock=clock)
