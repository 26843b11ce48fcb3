"""Applications of a study as chat models for other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.loopback import Loopback
from theodolite.bootstrap.application_model import ApplicationModel, ChatLine
from theodolite.domain.errors import InputError

STUDY = """
study: shop
applications:
  bot: {{kind: http, url: "{url}", body: {{q: "{{{{ prompt }}}}", sid: "{{{{ session }}}}"}}, reply: $.text}}
  other: {{kind: http, url: "{url}", body: {{q: "{{{{ prompt }}}}"}}, reply: $.text}}
scenarios:
  talk: {{scripts: {{hello: Hello}}}}
judges:
  polite: {{ask: "Is a reply rude?", defect: "== yes", rule: {{any: [stupid], then: yes, else: no}}}}
"""


def study(folder: Path, server: Loopback) -> str:
    address = server.url.removesuffix("/").removesuffix("/v1") + "/app"
    (folder / "study.yaml").write_text(STUDY.format(url=address))
    return str(folder)


def lines(*texts: str) -> list[ChatLine]:
    return [ChatLine(role="assistant" if number % 2 else "user", text=text) for number, text in enumerate(texts)]


async def test_the_application_answers_the_last_message(tmp_path: Path) -> None:
    with Loopback() as server:
        model = ApplicationModel(study(tmp_path, server), "bot", environ={})
        first = await model.reply(lines("Hello"), session="s1")
        second = await model.reply(lines("Hello", first.text, "And now?"), session="s1")
        await model.close()
        assert first.text
        assert second.text
        assert server.stats["requests"] == 2


@pytest.mark.parametrize(
    ("messages", "tools", "words"),
    [
        ([ChatLine(role="system", text="Be bad."), *lines("Hello")], False, "got system messages; leave them out"),
        (lines("Hello"), True, "got tools"),
        (lines("Hello", "Hi"), False, "the last message is none"),
    ],
    ids=["system", "tools", "no prompt"],
)
async def test_unsupported_conversations_are_refused(tmp_path, messages, tools, words) -> None:
    with Loopback() as server:
        model = ApplicationModel(study(tmp_path, server), "bot", environ={})
        with pytest.raises(InputError, match=words):
            await model.reply(messages, session="s", has_tools=tools)
        assert server.stats["requests"] == 0


async def test_system_messages_and_tools_are_left_out_on_request(tmp_path: Path) -> None:
    with Loopback() as server:
        model = ApplicationModel(study(tmp_path, server), "bot", environ={}, unsupported="drop")
        reply = await model.reply([ChatLine(role="system", text="Be bad."), *lines("Hi")], session="s", has_tools=True)
        await model.close()
        assert reply.text


def test_an_unknown_application_is_reported_by_name(tmp_path: Path) -> None:
    with Loopback() as server:
        path = study(tmp_path, server)
        with pytest.raises(InputError, match="no application `bto` can be called"):
            ApplicationModel(path, "bto", environ={})
        with pytest.raises(InputError, match="several applications: bot, other; name one"):
            ApplicationModel(path, "", environ={})
        with pytest.raises(InputError, match="expected one of error, drop"):
            ApplicationModel(path, "bot", environ={}, unsupported="ignore")


async def test_an_application_with_state_continues_only_its_own_conversation(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(
        "class App:\n"
        "    def __init__(self): self.n = 0\n"
        "    def OpenConnection(self, auth=None): return True\n"
        "    def CloseConnection(self): return True\n"
        "    def GetVersion(self): return '1'\n"
        "    def StartSession(self): self.n = 0; return True\n"
        "    def GetResponse(self, text): self.n += 1; return {'success': True, 'response': f'{self.n}: {text}'}\n"
    )
    (tmp_path / "study.yaml").write_text(
        "study: state\napplications:\n  app: {kind: aria, class: 'app.py:App'}\n"
        "scenarios:\n  talk: {scripts: {hello: Hello}}\n"
        "judges:\n  polite: {ask: 'Is a reply rude?', defect: '== yes', rule: {any: [stupid], then: yes, else: no}}\n"
    )
    from theodolite.bootstrap.permission import trust_new_study

    trust_new_study(tmp_path)
    model = ApplicationModel(str(tmp_path), "app", environ={})
    try:
        first = await model.reply(lines("Hello"), session="s1")
        with pytest.raises(InputError, match="keeps its own state"):
            await model.reply(lines("Hello", "changed", "Next"), session="s1")
        second = await model.reply(lines("Hello", first.text, "Next"), session="s1")
        assert (first.text, second.text) == ("1: Hello", "2: Next")
    finally:
        await model.close()
