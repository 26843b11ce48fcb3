"""Your application: put your own words in place of the echo."""

from __future__ import annotations


class MyApplication:
    """One session of the application; the server makes an instance for each."""

    def __init__(self) -> None:
        """Begin without knowledge of any other session."""
        self._said: list[str] = []

    def OpenConnection(self, auth: dict | None = None) -> bool:
        """Connect with the credentials; True once it worked."""
        return True

    def CloseConnection(self) -> bool:
        """Let go of everything; True once it worked."""
        return True

    def GetVersion(self) -> str:
        """Name the version, so that a later one can be told from it."""
        return "1.0"

    def StartSession(self) -> bool:
        """Begin a dialogue that knows nothing of any other; True once it worked."""
        self._said = []
        return True

    def GetResponse(self, text: str) -> dict:
        """Answer a prompt; `success` is False where the application failed, not where it declines."""
        self._said.append(text)
        return {"success": True, "response": "So far you have said: " + " / ".join(self._said)}
