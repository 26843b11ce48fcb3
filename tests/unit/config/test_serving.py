"""How the web side is to be served: options, environment, file."""

from __future__ import annotations

import re

import pytest

from theodolite.config.permissions import Permissions, remember_permissions
from theodolite.config.serving import load_serving
from theodolite.config.yaml_source import InvalidStudyError
from theodolite.domain.errors import InputError

WHOLE = """\
listen: 0.0.0.0:80
address: https://event.example.org/
proxies: [10.0.0.2, 10.1.0.0/16]
second_factor: [organiser, analyst]
mail: {server: smtp.example.org, user: me, password: SMTP_SECRET, sender: Event <event@example.org>}
sign_in:
  lab: {name: The lab, server: https://id.example.org, client: th, secret: LAB_SECRET, trusts_addresses: yes}
"""
SECRETS = {"SMTP_SECRET": "pw-1", "LAB_SECRET": "pw-2"}


@pytest.fixture(autouse=True)
def own_study(tmp_path):
    """Make the folder one whose study the operator has made."""
    (tmp_path / ".theodolite").mkdir()
    remember_permissions(tmp_path, Permissions(is_own=True))


@pytest.fixture
def foreign(tmp_path):
    """Return the folder of somebody else's study, whose settings name the host that gets the mail password."""
    folder = tmp_path / "foreign"
    (folder / ".theodolite").mkdir(parents=True)
    (folder / "serve.yaml").write_text(WHOLE)
    return folder


def test_settings_next_to_a_foreign_study_are_ignored(foreign):
    with pytest.raises(InputError, match="--settings"):
        load_serving(SECRETS, folder=foreign)


def test_settings_named_by_the_operator_are_used(foreign):
    assert load_serving(SECRETS, folder=foreign, file=str(foreign / "serve.yaml")).port == 80


def test_settings_allowed_by_the_operator_are_trusted_until_they_change(foreign):
    asked = []

    def confirm(file, text):
        asked.append((file, text))
        return True

    assert load_serving(SECRETS, folder=foreign, confirm=confirm).port == 80
    assert load_serving(SECRETS, folder=foreign).port == 80
    assert asked == [(foreign / "serve.yaml", WHOLE)]

    (foreign / "serve.yaml").write_text(WHOLE + "application_classes: ['evil.bot:Bot']\n")
    with pytest.raises(InputError, match="--settings"):
        load_serving(SECRETS, folder=foreign)


def test_settings_linked_to_another_file_are_not_loaded(foreign, tmp_path):
    (tmp_path / "secret").write_text("root:x:0:0")
    (foreign / "serve.yaml").unlink()
    (foreign / "serve.yaml").symlink_to(tmp_path / "secret")

    with pytest.raises(InputError, match="leads out") as refused:
        load_serving({}, folder=foreign, confirm=lambda _, __: True)
    assert "root:x" not in str(refused.value)


def test_a_demo_reads_no_settings():
    assert load_serving({}).port == 8000


def test_the_default_is_this_machine_only(tmp_path):
    settings = load_serving({}, folder=tmp_path)

    assert (settings.host, settings.port, settings.is_private, settings.is_https) == ("127.0.0.1", 8000, True, False)
    assert (settings.mail, settings.sign_ins, settings.proxies) == (None, (), ())


def test_a_file_sets_everything_except_secrets(tmp_path):
    (tmp_path / "serve.yaml").write_text(WHOLE)
    settings = load_serving(SECRETS, folder=tmp_path)

    assert (settings.host, settings.port, settings.address) == ("0.0.0.0", 80, "https://event.example.org")
    assert settings.proxies == ("10.0.0.2", "10.1.0.0/16")
    assert settings.second_factor == ("organiser", "analyst")
    assert (settings.mail.port, settings.mail.encryption, settings.mail.password) == (587, "starttls", "pw-1")
    assert (settings.sign_ins[0].secret, settings.sign_ins[0].trusts_addresses) == ("pw-2", True)
    assert "pw-" not in repr(settings)


def test_the_command_line_precedes_the_environment_and_the_environment_the_file(tmp_path):
    (tmp_path / "serve.yaml").write_text("listen: :1\naddress: http://file.example\n")
    environ = {"THEODOLITE_LISTEN": "[::1]:2", "THEODOLITE_ADDRESS": "http://environ.example"}

    assert load_serving({}, folder=tmp_path).port == 1
    assert (load_serving(environ, folder=tmp_path).host, load_serving(environ, folder=tmp_path).port) == ("::1", 2)
    assert load_serving(environ, folder=tmp_path).address == "http://environ.example"
    assert load_serving(environ, folder=tmp_path, listen="a:3").port == 3


def test_the_environment_alone_is_sufficient(tmp_path):
    environ = {
        "THEODOLITE_PROXIES": "10.0.0.2, 10.0.0.3",
        "EMAIL_URL": "smtps://me%40x:p%2Fw@smtp.example.org",
        "EMAIL_FROM": "event@example.org",
        "OIDC_SERVER": "https://id.example.org",
        "OIDC_SECRET": "pw",
        "THEODOLITE_SECRET_KEY": "k" * 50,
    }
    settings = load_serving(environ, folder=tmp_path)

    assert settings.proxies == ("10.0.0.2", "10.0.0.3")
    mail = settings.mail
    assert (mail.user, mail.password, mail.port, mail.encryption) == ("me@x", "p/w", 465, "tls")
    assert (settings.sign_ins[0].key, settings.sign_ins[0].name) == ("sso", "single sign-on")
    assert settings.secret_key == "k" * 50


def test_all_errors_are_reported_at_once_with_their_locations(tmp_path):
    (tmp_path / "serve.yaml").write_text(
        "lissten: :1\naddress: https://event.example/x\nproxies: [me]\n"
        "mail: {server: a, sender: b, password: NOT_SET}\n"
        "sign_in: {lab: {name: L, server: http://id.example, client: c, secret: LAB_SECRET}}\n"
    )
    with pytest.raises(InvalidStudyError) as caught:
        load_serving({**SECRETS, "EMAIL_URL": ""}, folder=tmp_path, listen="here")
    found = {(fault.line, re.split(r"; |\. Did", fault.message)[0]) for fault in caught.value.placed}

    assert found == {
        (1, "unknown key `lissten` in the settings"),
        (1, "`listen` is `here`"),
        (2, "`address` is `https://event.example/x`"),
        (3, "`me` of `proxies` is no IP address or network, e.g. 10.0.0.2"),
        (4, "the variable `NOT_SET` that `password` names is not set"),
        (5, "`server` of `lab` must begin with https://"),
    }


def test_provider_pages_are_allowed_as_unique_origins(tmp_path):
    pages = "[https://login.example/a, https://login.example/b, http://localhost:9]"
    (tmp_path / "serve.yaml").write_text(
        f"sign_in: {{lab: {{name: L, server: https://id.example/x, client: c, secret: LAB_SECRET, pages: {pages}}}}}\n"
    )
    (lab,) = load_serving({"LAB_SECRET": "s"}, folder=tmp_path).sign_ins

    assert lab.origins == ("https://id.example", "https://login.example", "http://localhost:9")


@pytest.mark.parametrize("page", ["http://login.example", "https://*", "https://a;script-src *", "login.example", "*"])
def test_a_malformed_host_is_not_a_provider_page(tmp_path, page):
    (tmp_path / "serve.yaml").write_text(
        f"sign_in: {{lab: {{name: L, server: https://id.example, client: c, secret: S, pages: ['{page}']}}}}\n"
    )
    with pytest.raises(InvalidStudyError, match="`pages` of `lab` must begin with https://"):
        load_serving({"S": "s"}, folder=tmp_path)


@pytest.mark.parametrize("url", ["http://x", "smtp://", "smtp://host"], ids=["scheme", "host", "no sender"])
def test_an_unusable_address_of_a_mail_server_is_reported(tmp_path, url):
    with pytest.raises(InvalidStudyError, match="EMAIL_FROM"):
        load_serving({"EMAIL_URL": url}, folder=tmp_path)


def test_a_named_file_must_exist(tmp_path):
    with pytest.raises(InvalidStudyError, match="cannot be read"):
        load_serving({}, folder=tmp_path, file=str(tmp_path / "other.yaml"))


def test_settings_next_to_a_study_are_not_a_study(tmp_path):
    from theodolite.config.permissions import study_file

    (tmp_path / "serve.yaml").write_text("listen: :1\n")
    (tmp_path / "mine.yaml").write_text("study: mine\n")

    assert study_file(tmp_path) == tmp_path / "mine.yaml"
