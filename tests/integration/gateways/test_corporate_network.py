"""Models behind a proxy, behind a private certificate authority, and behind a check of client certificates."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pytest

from tests.fakes.gateway_clock import HastyClock
from tests.fakes.loopback import Loopback
from tests.fakes.private_network import PASSPHRASE, LoopbackProxy, PrivateAuthority, private_authority
from theodolite.domain.application import Application, HttpEndpoint, ModelEndpoint
from theodolite.domain.errors import GatewayError, InputError, Unreachable
from theodolite.domain.flow import AskModel, Message, SayToApplication, Speaker
from theodolite.domain.network import NetworkSettings
from theodolite.domain.run import FailureSource
from theodolite.gateways.factory import open_application, open_model

NAME = "model.test"
ASK = AskModel(model="m", messages=(Message(speaker=Speaker.USER, text="Hello?"),), party=FailureSource.APPLICATION)


@pytest.fixture
def authority() -> PrivateAuthority:
    return private_authority()


@asynccontextmanager
async def opened(port, *, folder, scheme="https", host=NAME, environ=None, **network):
    endpoint = ModelEndpoint(
        name="m", url=f"{scheme}://{host}:{port}/v1", model="target", network=NetworkSettings(**network), attempts=2
    )
    model = open_model(endpoint, environ=environ or {}, clock=HastyClock(), folder=folder)
    try:
        yield model
    finally:
        await model.close()


async def text_of(port, **how):
    async with opened(port, **how) as model:
        return (await model.reply(ASK)).text


async def error_of(port, **how):
    async with opened(port, **how) as model:
        with pytest.raises(GatewayError) as caught:
            await model.reply(ASK)
    return str(caught.value)


@pytest.fixture
def served(authority, tmp_path):
    authority.write(tmp_path / "ca.pem")
    with Loopback(tls=authority.server_context(tmp_path, NAME)) as server:
        yield server


async def test_a_model_is_called_through_a_proxy_under_a_private_authority(served, tmp_path):
    with LoopbackProxy() as proxy:
        text = await text_of(served.port, folder=tmp_path, proxy=proxy.url, ca="ca.pem")

    assert "ships in two days" in text
    assert proxy.requests == [f"CONNECT {NAME}:{served.port} HTTP/1.1"]
    assert "authorization" not in proxy.headers[0]


async def test_calls_share_a_connection_through_the_proxy(served, tmp_path):
    with LoopbackProxy() as proxy:
        async with opened(served.port, folder=tmp_path, proxy=proxy.url, ca="ca.pem") as model:
            for _ in range(3):
                await model.reply(ASK)

    assert len(proxy.requests) == 1


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_the_proxy_of_the_environment_is_used_with_its_password(served, tmp_path, variable):
    with LoopbackProxy(password="ana:s3cr/et") as proxy:
        environ = {variable: f"http://ana:s3cr%2Fet@127.0.0.1:{proxy.port}"}
        text = await text_of(served.port, folder=tmp_path, environ=environ, ca="ca.pem")

    assert "ships in two days" in text


async def test_an_unencrypted_call_through_a_proxy_has_an_absolute_address(tmp_path):
    with Loopback() as server, LoopbackProxy(password="ana:secret") as proxy:
        environ = {"HTTP_PROXY": f"ana:secret@127.0.0.1:{proxy.port}"}
        text = await text_of(server.port, folder=tmp_path, scheme="http", environ=environ)

    assert "ships in two days" in text
    assert proxy.requests == [f"POST http://{NAME}:{server.port}/v1/chat/completions HTTP/1.1"]


@pytest.mark.parametrize(
    ("environ", "network"),
    [
        ({"NO_PROXY": NAME}, {}),
        ({"no_proxy": ".example, .test"}, {}),
        ({"NO_PROXY": "*"}, {}),
        ({}, {"proxy": "none"}),
    ],
    ids=["its name", "a name above it", "all", "the study"],
)
async def test_a_host_excluded_from_the_proxy_is_called_directly(tmp_path, environ, network):
    with LoopbackProxy(status=403) as proxy:
        environ = {"HTTPS_PROXY": proxy.url, **environ}
        await error_of(9, folder=tmp_path, environ=environ, **network)

    assert proxy.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_loopback_addresses_ignore_the_proxy_of_the_environment(tmp_path, host):
    with Loopback() as server, LoopbackProxy(status=403) as proxy:
        text = await text_of(server.port, folder=tmp_path, scheme="http", host=host, environ={"HTTP_PROXY": proxy.url})

    assert "ships in two days" in text
    assert proxy.requests == []


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (407, "407 Proxy Authentication Required; put user and password into its address in `HTTPS_PROXY`"),
        (403, "403 Forbidden"),
        (502, "502 Bad Gateway, 2 tries"),
    ],
)
async def test_a_proxy_that_refuses_is_named(tmp_path, status, words):
    with LoopbackProxy(status=status) as proxy:
        message = await error_of(443, folder=tmp_path, proxy=proxy.url)

    assert f"the proxy 127.0.0.1:{proxy.port} refuses: {words}" in message
    assert message.startswith(f"nobody answers at {NAME}:443 ")


async def test_an_unreachable_proxy_is_named(tmp_path):
    with LoopbackProxy() as proxy:
        pass
    message = await error_of(443, folder=tmp_path, proxy=proxy.url)

    assert f"the proxy 127.0.0.1:{proxy.port}: refused" in message


async def test_a_proxy_that_refuses_an_unencrypted_call_is_named(tmp_path):
    with LoopbackProxy(status=407) as proxy:
        message = await error_of(80, folder=tmp_path, scheme="http", proxy=proxy.url)

    assert f"the proxy 127.0.0.1:{proxy.port} refuses: 407" in message


async def test_a_private_authority_is_trusted_only_if_it_is_configured(served, tmp_path):
    with LoopbackProxy() as proxy:
        message = await error_of(served.port, folder=tmp_path, proxy=proxy.url)

    assert "its certificate is not trusted" in message


async def test_the_authority_of_the_environment_is_trusted(served, tmp_path):
    with LoopbackProxy() as proxy:
        environ = {"HTTPS_PROXY": proxy.url, "THEODOLITE_CA_FILE": str(tmp_path / "ca.pem")}
        assert "ships in two days" in await text_of(served.port, folder=tmp_path, environ=environ)


@pytest.fixture
def guarded(authority, tmp_path):
    """A model server that answers only to certificates of its authority."""
    authority.write(tmp_path / "ca.pem")
    authority.write_certificate(tmp_path / "me.pem", "ana")
    authority.write_certificate(tmp_path / "cert.pem", "ana", key_file=tmp_path / "key.pem", passphrase=PASSPHRASE)
    with Loopback(tls=authority.server_context(tmp_path, "localhost", asks_clients=True)) as server:
        yield server


@pytest.mark.parametrize(
    "network",
    [
        {"client_cert": "me.pem"},
        {"client_cert": "cert.pem", "client_key": "key.pem", "client_key_password": "PHRASE"},
    ],
    ids=["one file", "an encrypted key apart"],
)
async def test_a_client_certificate_is_presented(guarded, tmp_path, network):
    environ = {"PHRASE": PASSPHRASE}

    assert await text_of(guarded.port, host="localhost", folder=tmp_path, environ=environ, ca="ca.pem", **network)


async def test_a_client_certificate_is_presented_through_a_proxy(guarded, tmp_path):
    with LoopbackProxy() as proxy:
        network = {"client_cert": "me.pem", "ca": "ca.pem", "proxy": proxy.url}
        assert await text_of(guarded.port, host="localhost", folder=tmp_path, **network)

    assert proxy.requests == [f"CONNECT localhost:{guarded.port} HTTP/1.1"]


async def test_the_client_certificate_of_the_environment_is_presented(guarded, tmp_path):
    environ = {
        "THEODOLITE_CLIENT_CERT": str(tmp_path / "cert.pem"),
        "THEODOLITE_CLIENT_KEY": str(tmp_path / "key.pem"),
        "THEODOLITE_CLIENT_KEY_PASSWORD": PASSPHRASE,
        "THEODOLITE_CA_FILE": str(tmp_path / "ca.pem"),
    }

    assert await text_of(guarded.port, host="localhost", folder=tmp_path, environ=environ)


async def test_a_missing_client_certificate_ends_the_connection(guarded, tmp_path):
    # Under TLS 1.3 the server decides after the handshake, and asyncio does not pass its reason on.
    message = await error_of(guarded.port, host="localhost", folder=tmp_path, ca="ca.pem")

    assert message.startswith(("the connection broke off", "nobody answers"))


@pytest.mark.parametrize(
    ("network", "environ", "words"),
    [
        ({"ca": "text.pem"}, {}, "`ca` of model `m`: .*text.pem` holds no certificate"),
        ({"ca": "gone.pem"}, {}, "`ca` of model `m`: there is no file"),
        ({"client_cert": "ca.pem"}, {}, "hold no certificate with its private key"),
        ({"client_cert": "me.pem", "client_key": "other.pem"}, {}, "does not belong to the certificate"),
        ({"client_cert": "cert.pem", "client_key": "key.pem"}, {}, "is encrypted; name .* `client_key_password`"),
        (
            {"client_cert": "cert.pem", "client_key": "key.pem", "client_key_password": "P"},
            {"P": "wrong"},
            "the passphrase does not open",
        ),
        ({}, {"THEODOLITE_CA_FILE": "gone.pem"}, "variable `THEODOLITE_CA_FILE`: there is no file"),
        ({}, {"HTTPS_PROXY": "socks5://127.0.0.1:1080"}, "variable `HTTPS_PROXY` names a SOCKS proxy"),
        ({}, {"HTTPS_PROXY": "http://a:secret@b:port"}, "variable `HTTPS_PROXY` is not an address of a proxy"),
    ],
    ids=["no pem", "no ca", "no key", "another key", "locked", "wrong passphrase", "no env file", "socks", "port"],
)
async def test_unusable_settings_are_reported_before_any_call(guarded, tmp_path, network, environ, words):
    (tmp_path / "text.pem").write_text("s3cret text")
    private_authority().write_certificate(tmp_path / "other.pem", "eve")

    with pytest.raises(InputError, match=words) as caught:
        async with opened(443, folder=tmp_path, environ=environ, **network):
            pass

    assert "s3cret" not in str(caught.value)
    assert "secret@" not in str(caught.value)


async def test_a_submitted_application_is_never_reached_through_a_proxy(tmp_path):
    with LoopbackProxy() as proxy, Loopback() as server:
        connection = HttpEndpoint(
            url=f"http://localhost:{server.port}/app",
            body='{"q": "{{ prompt }}"}',
            public_only=True,
            network=NetworkSettings(proxy=proxy.url),
        )
        application = open_application(
            Application(name="team", connection=connection),
            models={},
            recordings=(),
            folder=tmp_path,
            environ={"HTTP_PROXY": proxy.url},
            clock=HastyClock(),
        )
        with pytest.raises(Unreachable, match="no public address"):
            await application.reply(SayToApplication(application="team", prompt="hello", turn=1), session="s")
        await application.close()

    assert proxy.requests == []
    assert server.calls == []
