"""The dialogue interface of NIST's ARIA as a class to derive from.

Names and meanings are those that ARIA's evaluation design describes; the words
and the code are ours. A class that was written for ARIA against NIST's own base
class, or against none, is taken just as well: only the methods count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypedDict

__all__ = ["AriaDialogAPI", "AriaReply"]

BASE_MODULE = "aria_dialog_api_base"
"""Name of the module that ARIA's participants import their base class from."""


class AriaReply(TypedDict):
    """What `GetResponse` returns.

    Attributes:
        success: Whether the application answered; False is an error of the
            application and never a refusal.
        response: Its words, as text or Markdown.
    """

    success: bool
    response: str


class AriaDialogAPI(ABC):
    """An application under test behind ARIA's dialogue interface.

    Each session gets its own instance, and all calls to one instance come
    from one thread, in order: `OpenConnection`, `StartSession`, `GetResponse`
    once a turn, `CloseConnection`. Store the state of a dialogue on `self`.

    Example:
        >>> class Echo(AriaDialogAPI):
        ...     def OpenConnection(self, auth=None):
        ...         return True
        ...     def CloseConnection(self):
        ...         return True
        ...     def StartSession(self):
        ...         return True
        ...     def GetResponse(self, text):
        ...         return {"success": True, "response": f"You said: {text}"}
        >>> Echo().GetResponse("hello")["response"]
        'You said: hello'
    """

    @abstractmethod
    def OpenConnection(self, auth: Mapping[str, Any] | None = None) -> bool:
        """Connect to the application, and return whether that worked.

        Args:
            auth: Credentials from the environment; empty if there are none.
        """

    @abstractmethod
    def CloseConnection(self) -> bool:
        """Close the connection, and return whether that worked."""

    @staticmethod
    def GetVersion() -> str:
        """Return the version of the application."""
        return "not stated"

    @abstractmethod
    def StartSession(self) -> bool:
        """Begin a new dialogue that knows nothing of earlier ones, and return whether that worked."""

    @abstractmethod
    def GetResponse(self, text: str) -> AriaReply:
        """Return the response to a prompt.

        Args:
            text: The tester's message.
        """
