"""Facts about the creation of a report that the evidence does not contain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from theodolite.domain.network import NetworkUse


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """How a report was made.

    Attributes:
        command: Command that repeats the run, e.g. `theodolite run support`.
        package_version: Version of this package.
        generated: When the report was made; UTC.
        hosts: Hosts contacted by the run, in order of the study file.
        network: Network use by the code of applications.
        unobserved: Code with unobserved connections, as text.
        code_changes: Changes in the code of applications since the previous run, as text.
        duration_s: Time that the run took; seconds, None if unknown.
        show_command: Command that shows a dialogue, before its label.
        label_command: Command for labelling dialogues; empty if there is none.
        validate_command: Command that validates judges; empty if there is none.
    """

    command: str
    package_version: str
    generated: datetime
    hosts: tuple[str, ...] = ()
    network: tuple[NetworkUse, ...] = ()
    unobserved: tuple[str, ...] = ()
    code_changes: tuple[str, ...] = ()
    duration_s: float | None = None
    show_command: str = ""
    label_command: str = ""
    validate_command: str = ""
