"""A tester without a browser, who comes in by the one-click accounts of the seeded event."""

from __future__ import annotations

import re

from theodolite.bootstrap.rehearsal.visitor import Form, HttpVisitor, PageAnswer

__all__ = ["Form", "HttpTester", "PageAnswer"]


class HttpTester(HttpVisitor):
    """Somebody at a browser without scripts."""

    def enter(self, role: str) -> PageAnswer:
        """Become somebody of the seeded event."""
        self.get(f"{self.base}/demo/")
        return self.send(f"/demo/as/{role.replace(' ', '-')}/")

    def agree(self) -> PageAnswer:
        """Agree to everything, say nothing of oneself, and begin."""
        boxes = dict(re.findall(r'type="checkbox" name="(\w+)" value="(\w+)"', self.page.text))
        self.send("", **boxes)
        self.send("", skip="yes")
        return self.send("")
