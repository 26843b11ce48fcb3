"""Facts about the making of a report that the evidence does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from theodolite.domain.network import NetworkUse


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """How a report was made.

    Attributes:
        command: What one types to have it all again, e.g. `theodolite run support`.
        package_version: Version of this package.
        generated: When the report was made; UTC.
        hosts: Hosts that the run spoke to, in order of the study file.
        network: What the code of applications has done on the network.
        unobserved: Code with unobserved connections, in words.
        code_changes: What changed in the code of applications since the run before, in words.
        duration_s: Time that the run took; seconds, None where unknown.
        show_command: What one types before the label of a dialogue to read it.
        label_command: What one types to label dialogues; empty where there is no such command.
        validate_command: Command that validates judges; empty likewise.
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
