"""Error, timeout, empty reply and refusal are distinct for every kind of application."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import theodolite

pytestmark = pytest.mark.integration

HANGS_S, PATIENCE_S = 6.0, 2.0

CODE = f"""
import time
from theodolite.aria import AriaDialogAPI
from theodolite.domain.errors import ContentRefused

def reply(prompt):
    if prompt == "error":
        raise RuntimeError("out of order")
    if prompt == "filter":
        raise ContentRefused("our own filter stepped in")
    if prompt == "hang":
        time.sleep({HANGS_S})
    return "" if prompt == "silence" else "Hello."

class Api(AriaDialogAPI):
    def OpenConnection(self, auth=None):
        return True
    def CloseConnection(self):
        return True
    def StartSession(self):
        return True
    def GetResponse(self, text):
        text = "hello" if text == "filter" else text
        return {{"success": True, "response": reply(text)}}
"""

STUDY = """
study: apart
models:
  m: {{url: {root}/v1, name: m, timeout: {patience}, attempts: 1}}
applications:
  python: {{kind: python, call: "app.py:reply", timeout: {patience}}}
  aria: {{kind: aria, class: "app.py:Api", timeout: {patience}}}
  http: {{kind: http, url: {root}/app, body: {{q: "{{{{ prompt }}}}"}}, timeout: {patience}}}
  model: {{kind: model, model: m}}
scenarios:
  all: {{scripts: {{one: hello, two: error, three: hang, four: silence, five: filter}}}}
judges:
  rude: {{ask: Rude?, defect: "== yes", rule: {{any: [stupid], then: yes, else: no}}}}
"""


class Site(BaseHTTPRequestHandler):
    """A server that fails in the way that the prompt names."""

    FILTERED: ClassVar = {"error": {"message": "held back", "code": "content_filter"}}

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["q"] if "q" in body else body["messages"][-1]["content"]
        if prompt == "hang":
            time.sleep(HANGS_S)
        words = "" if prompt == "silence" else "Hello."
        message = {"text": words, "choices": [{"message": {"content": words}, "finish_reason": "stop"}]}
        answers: dict[str, tuple[int, Any]] = {
            "error": (200, {"error": {"message": "out of order"}}),
            "filter": (400, self.FILTERED),
        }
        self._send(*answers.get(prompt, (200, message)))

    def do_OPTIONS(self) -> None:
        self._send(200, {})

    def _send(self, status: int, answer: Any) -> None:
        raw = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def root() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_each_kind_of_application_has_distinct_names_for_all_outcomes(root: str, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.format(root=root, patience=PATIENCE_S), encoding="utf-8")

    theodolite.run(str(tmp_path))

    entries = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))["applications"]
    endings = {"answered with an error": 1, "timed out": 1, "gave an empty reply": 1}
    for entry in entries:
        assert {failed["what"]: failed["n"] for failed in entry["failed"]} == endings, entry["name"]
        assert (entry["planned"], entry["completed"], entry["open"], entry["failed_by_others"]) == (5, 2, 0, 0)
    filtered = {entry["name"]: entry["filtered"] for entry in entries}
    assert filtered == {"python": 1, "aria": 0, "http": 1, "model": 1}
