"""Your application: replace the echo with your own code."""

from __future__ import annotations


class MyApplication:
    """One session of the application; the server creates an instance for each session."""

    def __init__(self) -> None:
        """Start without data of any other session."""
        self._said: list[str] = []

    def OpenConnection(self, auth: dict | None = None) -> bool:
        """Connect with the credentials; return True on success."""
        return True

    def CloseConnection(self) -> bool:
        """Release all resources; return True on success."""
        return True

    def GetVersion(self) -> str:
        """Return the version of the application."""
        return "1.0"

    def StartSession(self) -> bool:
        """Start a dialogue without data of any other; return True on success."""
        self._said = []
        return True

    def GetResponse(self, text: str) -> dict:
        """Answer a prompt; `success` is False if the application fails, not if it refuses."""
        self._said.append(text)
        return {"success": True, "response": "So far you have said: " + " / ".join(self._said)}
