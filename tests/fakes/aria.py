"""Classes with ARIA's dialogue interface: one that keeps it, and ways of not keeping it."""

import threading
import time
from typing import Any

CODE = "CODE"
"""What a prompt says before a word that is to be kept in mind."""


class Faithful:
    """Keeps to the interface, and its mind in the session; remembers what was called, from which thread."""

    journal: list[tuple[str, Any]]

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = [("made", threading.get_ident())]
        self.said: list[str] = []

    def OpenConnection(self, auth: Any = None) -> Any:
        self.calls.append(("OpenConnection", auth))
        return True

    def CloseConnection(self) -> Any:
        self.calls.append(("CloseConnection", threading.get_ident()))
        return True

    def GetVersion(self) -> Any:
        return "2.1"

    def StartSession(self) -> Any:
        self.said = []
        return True

    def GetResponse(self, text: str) -> Any:
        self.said.append(text)
        return {"success": True, "response": f"{len(self.said)}: {text}"}


def made(**methods: Any) -> type:
    """Return a class that keeps to the interface but for some methods, and counts its instances."""

    class Team(Faithful):
        instances: list[Faithful] = []  # noqa: RUF012 - one list a class is what is wanted

        def __init__(self) -> None:
            super().__init__()
            self.instances.append(self)

    for name, method in methods.items():
        setattr(Team, name, method)
    return Team


def returning(value: Any) -> Any:
    """Return a method that returns a value whatever it is given."""
    return lambda *_: value


def raising(error: BaseException) -> Any:
    """Return a method that raises."""

    def method(*_: Any) -> Any:
        raise error

    return method


def hanging(seconds: float = 30.0) -> Any:
    """Return a method that does not come back while a test runs."""
    return lambda *_: time.sleep(seconds)
