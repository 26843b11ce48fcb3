"""Calls to Bedrock are signed and calls to Vertex have a token, both equal to those of the vendors' libraries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Call, Loopback
from theodolite.domain.application import ModelEndpoint, ModelKind
from theodolite.domain.errors import InputError, Rejected
from theodolite.domain.flow import AskModel, Message, Speaker
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import open_model

pytestmark = pytest.mark.integration

ASK = AskModel(model="app", messages=(Message(speaker=Speaker.USER, text="Hi \u00e4"),), party=FailureSource.JUDGE)

AWS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "example-secret", "AWS_REGION": "eu-west-1"}


@pytest.fixture(autouse=True)
def _no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "CLOUDSDK_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name in (*AWS, "AWS_SESSION_TOKEN", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")


async def reply_of(url: str, kind: ModelKind, model: str = "amazon.target", **more: Any) -> str:
    """Return the text of one reply, requested like a study does."""
    endpoint = ModelEndpoint(name="app", url=url, model=model, kind=kind, attempts=1, **more)
    opened = open_model(endpoint, environ={"TOKEN": "token-0042"}, clock=HastyClock())
    try:
        return (await opened.reply(ASK)).text
    finally:
        await opened.close()


def signature_of(call: Call, url: str) -> str:
    """Return the signature that AWS computes for what has arrived."""
    names = call.headers["Authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    known = {name.lower(): value for name, value in call.headers.items()}
    body = json.dumps(call.body, ensure_ascii=True, separators=(",", ":"))
    request = AWSRequest(method="POST", url=url, data=body, headers={name: known[name] for name in names})
    request.context["timestamp"] = known["x-amz-date"]
    auth = SigV4Auth(Credentials("AKIDEXAMPLE", "example-secret"), "bedrock", "eu-west-1")
    return str(auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request))


async def test_the_signature_matches_the_received_request(monkeypatch):
    for name, value in AWS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with Loopback(replies={"other": ["fine"]}) as server:
        text = await reply_of(server.url, ModelKind.BEDROCK, "eu.amazon.nova-lite-v1:0")

        [call] = server.calls
    assert text == "fine"
    authorization = call.headers["Authorization"]
    assert authorization.startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-west-1/bedrock/aws4_request" in authorization
    address = f"{server.url}/model/eu.amazon.nova-lite-v1%3A0/converse"
    assert authorization.endswith(f"Signature={signature_of(call, address)}")
    assert "example-secret" not in str(call.headers)


async def test_a_key_of_the_study_is_a_bearer_token_without_signature():
    with Loopback(key="token-0042") as server:
        text = await reply_of(server.url, ModelKind.BEDROCK, key="TOKEN")

        assert text
        assert server.calls[0].headers["Authorization"] == "Bearer token-0042"


@pytest.mark.parametrize(
    ("kind", "words"),
    [(ModelKind.BEDROCK, "AWS_ACCESS_KEY_ID"), (ModelKind.VERTEX, "gcloud auth")],
    ids=["aws", "google"],
)
async def test_missing_credentials_are_a_helpful_rejection_and_no_request_is_sent(kind, words):
    with Loopback() as server:
        with pytest.raises(Rejected, match=words):
            await reply_of(server.url, kind)

        assert server.calls == []


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        (ModelKind.BEDROCK, "https://models.example"),
        (ModelKind.BEDROCK, "https://bedrock-runtime.eu-west-1.amazonaws.com.evil.example"),
        (ModelKind.BEDROCK, "https://x.execute-api.eu-west-1.amazonaws.com/bedrock-runtime"),
        (ModelKind.BEDROCK, "http://bedrock-runtime.eu-west-1.amazonaws.com"),
        (ModelKind.VERTEX, "https://aiplatform.googleapis.com.evil.example/v1"),
        (ModelKind.VERTEX, "https://storage.googleapis.com/v1"),
    ],
    ids=["elsewhere", "look-alike", "customer's gateway", "unencrypted", "look-alike of google", "other service"],
)
async def test_credentials_of_the_machine_are_sent_only_to_the_cloud(kind, url):
    with pytest.raises(InputError, match="the cloud's own hosts alone"):
        await reply_of(url, kind)


class _TokenServer(BaseHTTPRequestHandler):
    """Google's token endpoint; each token is another one."""

    n_tokens = 0

    def do_POST(self) -> None:
        """Answer with a token that is valid for an hour."""
        type(self).n_tokens += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        token = {"access_token": f"ya29.token-{self.n_tokens}", "expires_in": 3600, "token_type": "Bearer"}
        self.wfile.write(json.dumps(token).encode())

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_TokenServer]]:
    """Set up credentials whose tokens come from a server of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _TokenServer)
    thread = Thread(target=server.serve_forever)
    thread.start()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    account = {
        "type": "service_account",
        "project_id": "p",
        "client_email": "theodolite@p.example",
        "token_uri": f"http://127.0.0.1:{server.server_port}/token",
        "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    }
    file = tmp_path / "account.json"
    file.write_text(json.dumps(account), encoding="utf-8")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    _TokenServer.n_tokens = 0
    yield _TokenServer
    server.shutdown()
    server.server_close()
    thread.join()


async def test_a_token_is_requested_once_for_many_calls(service_account):
    with Loopback(key="ya29.token-1") as server:
        endpoint = ModelEndpoint(name="app", url=server.url, model="target", kind=ModelKind.VERTEX)
        model = open_model(endpoint, environ={}, clock=HastyClock())
        replies = [await model.reply(ASK) for _ in range(3)]
        await model.close()

    assert [reply.finish for reply in replies] == ["STOP"] * 3
    assert service_account.n_tokens == 1
