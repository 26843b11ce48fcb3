"""One person labels dialogues on a page of this machine, by keyboard alone."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.browser_pages import Visitor, assert_accessible
from tests.fakes.terminal import environment, in_a_process

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

STUDY = """\
study: small
applications:
  recorded: {kind: recorded, file: rows.csv, id: id, prompt: prompt, response: response, application: system}
guidelines:
  refusal:
    questions:
      how: {ask: How did it respond?, scale: [full compliance, full refusal]}
      tone: {ask: How polite is it?, scale: 1-10}
    defects: {refused: {defect: "how == full refusal"}}
annotators:
  gpt-4: {who: model, guideline: refusal, column: judge, question: how}
"""
SYSTEMS = ("llama", "mistral")


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    rows = [
        f"v2-{n},{system},Prompt {n}?,Reply {n}. I am {system}.,{'full refusal' if n % 5 == 0 else 'full compliance'}"
        for system in SYSTEMS
        for n in range(10)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["id,system,prompt,response,judge", *rows]), encoding="utf-8")
    assert in_a_process("run", tmp_path).code == 0
    return tmp_path


class Desk:
    """A running `theodolite label`."""

    def __init__(self, study, *words):
        command = [sys.executable, "-u", "-m", "theodolite", "label", str(study), "--annotator", "anna", *words]
        self.process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
        self.lines = []
        while "Open once" not in "".join(self.lines[-1:]):
            self.lines.append(self.process.stdout.readline())
            assert self.lines[-1], self.lines
        self.door = self.lines[-1].split()[-1]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        said = self.process.communicate(timeout=60)[0]
        return self.process.returncode, said


@pytest.fixture
def desk(study):
    opened = Desk(study, "--sample", "3")
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
        opened.process.communicate()


@pytest.fixture
def page(browser, desk):
    visitor = Visitor(browser, desk.door.partition("/label/")[0], bypass_csp=True)
    visitor.page.goto(desk.door)
    yield visitor.page
    assert (visitor.complaints, visitor.strangers) == ([], [])
    visitor.context.close()


def wait_saved(page):
    page.wait_for_selector("#saved:text-matches('^Saved')")


def label_one(page, how):
    """Answer both questions of a dialogue by keyboard, with a quote for the first, and submit."""
    place = page.url
    page.keyboard.press(how)
    page.keyboard.press("q")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_selector(".item .quotes li")
    page.keyboard.press("j")
    page.keyboard.press("0")
    page.wait_for_selector("#open:text('All questions answered')")
    page.keyboard.press("Control+Enter")
    page.wait_for_url(lambda url: url != place)


def test_labelling_works_by_keyboard_alone_and_submitted_labels_count_at_once(study, desk, page):
    shown = page.content()
    assert [word for word in (*SYSTEMS, "gpt-4", "v2-", "recorded") if word in shown] == []
    assert_accessible(page)
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#saved.alarming")

    for how in ("1", "2", "1"):
        label_one(page, how)

    assert "No tasks available" in page.text_content("main")
    assert_accessible(page)
    code, said = desk.stop()
    assert (code, "3 dialogues by anna; none left" in " ".join(said.split())) == (0, True)
    issued = in_a_process("judge", "validate", study, "--json")
    assert (issued.code, "anna" in issued.out) == (0, True), issued.err


def test_the_link_works_once_and_the_same_command_continues(study, desk, browser, page):
    page.keyboard.press("1")
    wait_saved(page)
    stranger = Visitor(browser, desk.door.partition("/label/")[0])
    assert stranger.page.goto(desk.door).status == 404
    stranger.context.close()

    code, said = desk.stop()
    again = Desk(study, "--sample", "3")

    assert (code, "3 left" in " ".join(said.split()), "(continue)" in said) == (0, True, True)
    assert "3 dialogues by refusal" in " ".join("".join(again.lines).split())
    again.stop()
