"""What an application's code does on the network: what the study allows, and what was observed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkUse:
    """The connections of one application that is code.

    Python's own calls are observed. What native libraries and other programs
    connect to is not, unless the system gives the processes no network at all.

    Attributes:
        application: Name of the application.
        allowed: Hosts that the study allows; None for any.
        connections: Destinations of attempted connections, as `host:port`.
        refused: Destinations that the study does not allow.
        programs: Other programs that the code has started.
        is_cut_off: Whether the system gave its processes no network.
        is_observed: Whether its code has run, so that the others say something.
    """

    application: str
    allowed: tuple[str, ...] | None = None
    connections: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    is_cut_off: bool = False
    is_observed: bool = False

    @property
    def rule(self) -> str:
        """What the study says: nothing, no host, or a list."""
        if self.allowed is None:
            return "unknown"
        return f"only {', '.join(self.allowed)}" if self.allowed else "none"

    @property
    def text(self) -> str:
        """What is known, in words.

        Example:
            >>> NetworkUse(application="blue", connections=("models.example:443",), is_observed=True).text
            'connections attempted: models.example:443'
        """
        if not self.is_observed:
            return f"{self.rule}, not run yet" if self.allowed is None else f"{self.rule} (`network`), not run yet"
        parts = [
            f"connections attempted: {', '.join(self.connections)}" if self.connections else "no connection observed"
        ]
        if self.is_cut_off:
            parts = ["no network (the system enforces `network: none`)"]
        elif self.allowed is not None:
            parts.append(f"allowed: {self.rule.removeprefix('only ')}")
        if self.refused:
            parts.append(f"refused: {', '.join(self.refused)}")
        if self.programs:
            parts.append(f"started other programs, whose connections are not observed: {', '.join(self.programs)}")
        return "; ".join(parts)
