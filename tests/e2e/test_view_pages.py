"""One person views, starts, stops and resumes runs on pages of this machine, without an account."""

from __future__ import annotations

import http.client
import re
import signal
import subprocess
import sys
from contextlib import closing
from importlib.resources import files as resource_files
from itertools import accumulate, pairwise
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from ruamel.yaml import YAML
from ruamel.yaml.tokens import KeyToken

from tests.browser_pages import Visitor, assert_accessible, load_by_click
from tests.fakes.loopback import Loopback
from tests.fakes.support_study import SupportStudy
from tests.fakes.terminal import environment, in_a_process, started

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

PERSONAS = 12
LONG = 60
"""Personas of a run that is still in progress when a busy machine has looked at its page; count."""

PATIENCE_MS = 60_000


class Viewer:
    """A running `theodolite view`."""

    def __init__(self, root):
        command = [sys.executable, "-u", "-m", "theodolite", "view", str(root)]
        self.process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
        lines = [""]
        while "Open once" not in lines[-1]:
            lines.append(self.process.stdout.readline())
            assert lines[-1], lines
        self.link = lines[-1].split()[-1]
        self.address = self.link.partition("/enter/")[0]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)
        return self.process.returncode

    def answer(self, method="GET", path="/", **headers):
        """Return status and body of a request without cookies."""
        with closing(http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=60)) as connection:
            connection.request(method, path, headers=headers)
            with connection.getresponse() as response:
                return response.status, response.read().decode()


@pytest.fixture(scope="module")
def server():
    with Loopback(latency_s=0.5) as loopback:
        yield loopback


@pytest.fixture
def root(tmp_path, server):
    """A folder with a study of slow models and a study with an error."""
    SupportStudy(folder=tmp_path / "support", url=server.url, n=PERSONAS).write()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "study.yaml").write_text("study: broken\naplications: {}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def viewer(root):
    opened = Viewer(root)
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
        opened.process.communicate()


@pytest.fixture
def visit(browser, viewer):
    """Return a function that opens a page in the browser that used the link."""
    visitors = []

    def visitor(**options):
        visitors.append(Visitor(browser, viewer.address, bypass_csp=True, **options))
        visitors[-1].page.goto(viewer.link)
        return visitors[-1].page

    yield visitor
    for opened in visitors:
        assert (opened.complaints, opened.strangers) == ([], []), opened.standing
        opened.context.close()


def wait_for_row(page, words):
    """Reload a page without scripts until a row contains a text."""
    for _ in range(60):
        if page.get_by_role("row", name=words).count():
            return
        page.wait_for_timeout(500)
        page.reload()
    pytest.fail(page.inner_text("main"))


def open_study(page, name="support"):
    load_by_click(page.get_by_role("link", name=name, exact=True))


def test_the_link_admits_one_browser_and_no_other_host_or_site(viewer, visit):
    page = visit()

    assert "support" in page.inner_text("main")
    assert viewer.answer(path=urlsplit(viewer.link).path)[0] == 404, "the link is used up"
    status, body = viewer.answer()
    assert (status, "theodolite view" in body, "support" in body) == (403, True, False)
    assert viewer.answer(Host="rebound.example")[0] == 400
    address = urlsplit(page.url).path
    assert viewer.answer("POST", address, Origin="http://127.0.0.1:1")[0] == 403
    assert viewer.answer(path="/account/login/")[0] == 404, "no page with accounts is there"


def test_studies_are_listed_with_the_errors_that_check_prints(viewer, visit):
    page = visit()
    assert_accessible(page)
    assert "errors" in page.inner_text("tr:has-text('broken')")
    assert "valid" in page.inner_text("tr:has-text('support')")

    open_study(page, "broken")

    assert "study.yaml:2:1" in page.inner_text("main")
    assert "Did you mean `applications`?" in page.inner_text("main")
    assert page.get_by_role("link", name="New run").count() == 0
    assert_accessible(page)


def test_a_run_is_checked_started_stopped_and_resumed_in_the_terminal(root, server, viewer, visit):
    SupportStudy(folder=root / "support", url=server.url, n=LONG).write()
    page = visit()
    open_study(page)
    load_by_click(page.get_by_role("link", name="New run"))
    load_by_click(page.get_by_role("button", name="Check endpoints"))
    expect(page.get_by_text("connected")).to_have_count(3)
    assert_accessible(page)

    page.get_by_label("Concurrent calls").fill("2")
    page.get_by_label("The cost is unknown").check()
    load_by_click(page.get_by_role("button", name="Start"))
    expect(page.get_by_role("heading", name="Run 1 is running")).to_be_visible(timeout=PATIENCE_MS)
    assert_accessible(page)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("link", name="Resume")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("Run the same command to resume")).to_be_visible()

    done = in_a_process("run", root / "support")
    assert done.code == 0, done.err
    # The page follows the run of the terminal and loads itself again; a reload from here could meet that one.
    expect(page.get_by_role("row", name="finished")).to_contain_text(f"{LONG} of {LONG}", timeout=PATIENCE_MS)
    assert page.get_by_role("row").count() == 2, "the terminal has continued the same run"


def test_a_run_started_in_the_terminal_is_followed_and_resumed_on_the_page(root, server, viewer, visit):
    SupportStudy(folder=root / "support", url=server.url, n=LONG).write()
    page = visit()
    open_study(page)
    with started("run", root / "support", "--concurrency", "2") as process:
        expect(page.get_by_role("heading", name="Run 1 is running")).to_be_visible(timeout=PATIENCE_MS)
        assert page.get_by_role("button", name="Stop").count() == 0
        assert "stop it there, with Ctrl-C" in page.inner_text("main")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    load_by_click(page.get_by_role("link", name="Resume"))

    page.get_by_label("The cost is unknown").check()
    load_by_click(page.get_by_role("button", name="Resume"))

    expect(page.get_by_role("row", name="finished")).to_contain_text(f"{LONG} of {LONG}", timeout=PATIENCE_MS)


def test_pages_work_without_scripts_and_a_run_continues_after_the_server_stops(root, browser, viewer, visit):
    page = visit(java_script_enabled=False)
    open_study(page)
    load_by_click(page.get_by_role("link", name="New run"))
    page.get_by_label("Number of dialogues").fill("3")
    page.get_by_label("The cost is unknown").check()
    load_by_click(page.get_by_role("button", name="Start"))
    assert 'http-equiv="refresh"' in page.content()

    assert viewer.stop() == 0
    again = Viewer(root)
    later = Visitor(browser, again.address, java_script_enabled=False)
    try:
        later.page.goto(again.link)
        open_study(later.page)
        wait_for_row(later.page, "first dialogues done")
    finally:
        later.context.close()
        again.stop()


def test_no_run_starts_before_its_cost_is_confirmed(root, viewer, visit):
    page = visit()
    open_study(page)
    load_by_click(page.get_by_role("link", name="New run"))
    page.evaluate("document.querySelector('[name=confirmed]').required = false")
    load_by_click(page.get_by_role("button", name="Start"))

    assert "Confirm the cost before the start." in page.inner_text("main")
    assert not (root / "support" / ".theodolite" / "run.log").exists()


@pytest.fixture
def done(root, server):
    """The study after two runs; the second asks another question."""
    folder = root / "support"
    assert in_a_process("run", folder).code == 0
    SupportStudy(folder=folder, url=server.url, n=PERSONAS, ask="How helpful are the replies?").write()
    assert in_a_process("run", folder).code == 0
    return folder


def test_results_show_rates_and_the_report_in_a_sandbox(done, viewer, visit):
    page = visit()
    open_study(page)
    load_by_click(page.get_by_role("link", name="Run 2"))

    assert f"of {PERSONAS}" in page.inner_text("tbody tr")
    assert_accessible(page)
    answer = page.request.get(page.url + "report/")
    assert "A support bot" in answer.text()
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert f"frame-ancestors {viewer.address}" in policy
    assert page.request.get(page.url + "results.json").json()["run"]["number"] == 2


def test_dialogues_are_filtered_and_show_each_judges_own_calls(done, viewer, visit):
    page = visit()
    open_study(page)
    load_by_click(page.get_by_role("link", name="Dialogues"))
    expect(page).to_have_url(re.compile("/runs/2/dialogues/$"))
    assert_accessible(page)
    assert page.locator("tbody tr").count() == PERSONAS

    page.get_by_label("Label or tester").fill("d003")
    load_by_click(page.get_by_role("button", name="Filter"))
    load_by_click(page.get_by_role("link", name="d003"))

    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    reply = page.locator("details").filter(has_text="Reply 1")
    expect(reply.get_by_text("How helpful are the replies?")).to_be_hidden()
    reply.locator("summary").click()
    expect(reply.get_by_text("How helpful are the replies?")).to_be_visible()
    assert_accessible(page)


def test_two_runs_are_compared_and_monitored_and_pages_of_judges_list_missing_labels(done, viewer, visit):
    page = visit()
    open_study(page)
    load_by_click(page.get_by_role("link", name="Compare"))
    expect(page.get_by_role("heading", name="Run 1 to run 2")).to_be_visible()
    expect(page.frame_locator("iframe").locator("h1")).to_be_visible()

    load_by_click(page.get_by_role("link", name="Judges"))
    expect(page.get_by_text("not validated", exact=True)).to_be_visible()
    assert f"theodolite judge validate {done} useful" in page.inner_text("main")
    assert_accessible(page)

    load_by_click(page.get_by_role("link", name="Monitor"))
    expect(page.frame_locator("iframe").locator("h1")).to_contain_text("support")


def test_every_page_of_a_study_without_runs_states_it(viewer, visit):
    page = visit()
    open_study(page)
    for name in ("Results", "Matrix", "Dialogues", "Judges", "Trees"):
        load_by_click(page.get_by_role("link", name=name, exact=True))
        assert "has not been run here yet" in page.inner_text("main")
        assert page.locator("main").get_by_role("link", name="New run").count() == 1
    load_by_click(page.get_by_role("link", name="Compare"))
    assert "No comparison yet" in page.inner_text("main")
    assert_accessible(page)


def test_a_study_is_written_from_an_empty_folder_to_a_clean_check(tmp_path, browser):
    opened = Viewer(tmp_path)
    writer = Visitor(browser, opened.address, bypass_csp=True, viewport={"width": 390, "height": 844})
    page = writer.page
    page.goto(opened.link)
    load_by_click(page.get_by_role("link", name="New study").first)
    page.get_by_label("Name", exact=True).fill("shop")
    page.get_by_label("Address of the application").fill("http://127.0.0.1:9/chat")
    load_by_click(page.get_by_role("button", name="Create study"))
    expect(page.get_by_role("heading", name="No errors")).to_be_visible()

    page.get_by_role("textbox", name="study.yaml").press("Control+End")
    page.keyboard.type("titel: A shop\n")
    page.keyboard.press("Control+s")
    page.get_by_role("button", name="Replace by title").click()
    expect(page.get_by_role("heading", name="No errors")).to_be_visible()
    load_by_click(page.get_by_role("link", name="Study", exact=True))
    page.get_by_label("Title").fill("A small shop")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("textbox", name="study.yaml")).to_have_value(re.compile("title: A small shop\n$"))
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert in_a_process("check", tmp_path / "shop").code == 0
    assert (writer.complaints, writer.strangers) == ([], [])
    writer.context.close()
    assert opened.stop() == 0


def open_editor(page, query):
    """Open the editor of the support study at a file or a part."""
    open_study(page)
    page.goto(f"{page.url}edit/{query}")


def test_a_pasted_table_becomes_a_persona_group(root, visit):
    page, folder = visit(viewport={"width": 390, "height": 844}), root / "support"
    open_editor(page, "?at=personas")
    page.get_by_text("Add a persona group from a table").click()
    page.get_by_label("Name of the group").fill("callers")
    page.get_by_label("Table", exact=True).fill("name\twish\nDora\ta refund\nEmil\n")
    page.get_by_label("Table", exact=True).press("Control+s")
    expect(page.get_by_text("callers.csv, line 3:").first).to_be_visible()
    assert_accessible(page)
    assert not (folder / "callers.csv").exists()
    page.get_by_label("Table", exact=True).fill("name\twish\nDora\ta refund\nEmil\ta receipt\n")
    load_by_click(page.get_by_role("button", name="Add persona group"))
    expect(page.get_by_text("Added callers.csv and persona group callers")).to_be_visible()
    expect(page.get_by_role("heading", name="No errors")).to_be_visible()
    assert (folder / "callers.csv").read_text(encoding="utf-8") == "name,wish\nDora,a refund\nEmil,a receipt\n"
    assert in_a_process("check", folder).code == 0


def test_files_are_renamed_deleted_and_restored(root, visit):
    page, folder = visit(viewport={"width": 390, "height": 844}), root / "support"
    before = (folder / "customers.csv").read_bytes()
    open_editor(page, "?file=customers.csv")
    page.get_by_label("New name").fill("people/customers.csv")
    load_by_click(page.get_by_role("button", name="Rename"))
    expect(page.get_by_text("customers.csv is now people/customers.csv.")).to_be_visible()
    assert "rows: people/customers.csv" in (folder / "study.yaml").read_text(encoding="utf-8")
    load_by_click(page.get_by_role("button", name="Delete people/customers.csv"))
    expect(page.get_by_text("The check of the study will then have 1 more error:")).to_be_visible()
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Delete people/customers.csv").first)
    expect(page.get_by_text("people/customers.csv is deleted. Its versions are kept.")).to_be_visible()
    assert_accessible(page)
    assert not (folder / "people/customers.csv").exists()
    load_by_click(page.get_by_role("button", name="Restore people/customers.csv"))
    expect(page.get_by_role("heading", name="No errors")).to_be_visible()
    assert (folder / "people/customers.csv").read_bytes() == before
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_second_of_two_tabs_keeps_its_text_when_the_first_deletes_the_file(root, viewer, browser):
    visitor = Visitor(browser, viewer.address, bypass_csp=True, java_script_enabled=False)
    first = visitor.page
    first.goto(viewer.link)
    open_editor(first, "?file=customers.csv")
    second = first.context.new_page()
    second.goto(first.url)
    load_by_click(first.get_by_role("button", name="Delete customers.csv"))
    load_by_click(first.get_by_role("button", name="Delete customers.csv").first)
    text = second.get_by_role("textbox", name="customers.csv", exact=True)
    text.fill("name,wish\nFinn,a catalogue\n")
    load_by_click(second.get_by_role("button", name="Save", exact=True))
    expect(second.get_by_text("the file was deleted or renamed since you opened the page")).to_be_visible()
    expect(text).to_have_value("name,wish\nFinn,a catalogue\n")
    assert not (root / "support/customers.csv").exists()
    load_by_click(second.get_by_role("button", name="Save", exact=True))
    expect(second.get_by_role("heading", name="No errors")).to_be_visible()
    assert (root / "support/customers.csv").read_text(encoding="utf-8") == "name,wish\nFinn,a catalogue\n"
    assert [complaint for complaint in visitor.complaints if "status of 409" not in complaint] == []
    visitor.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_steps_lead_from_the_study_to_its_run(root, visit, scheme):
    page = visit(color_scheme=scheme)
    open_editor(page, "")
    titles = "Study, Consent, Applications, Scenarios, Levels and quotas, Questionnaires, Annotation, Judges, Run"
    steps = page.get_by_role("navigation", name="Steps and files of the study")
    for title in titles.split(", "):
        load_by_click(steps.get_by_role("link", name=title, exact=True).first)
        expect(steps.locator("[aria-current=step]")).to_have_text(title)
    assert_accessible(page)
    load_by_click(page.get_by_role("link", name="New run").last)
    expect(page).to_have_url(re.compile("/new/$"))


def misspelt(page):
    """Misspell two keys of the support study in its text, save, and return the lines of both."""
    box = page.locator("#text")
    text = box.input_value().replace("personas:", "personnas:", 1).replace("judges:", "juges:", 1)
    box.fill(text)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", name=re.compile("2 errors"))).to_be_visible()
    return sorted(text[: text.index(word)].count("\n") + 1 for word in ("personnas:", "juges:"))


def test_f8_and_the_listed_lines_lead_to_the_problems_of_a_text(root, visit):
    page = visit()
    open_editor(page, "")
    first, second = misspelt(page)
    told, selected = page.locator("[data-message]"), "getSelection().toString()"

    for key, place in (("F8", "1 of 2"), ("F8", "2 of 2"), ("F8", "1 of 2"), ("Shift+F8", "2 of 2")):
        page.keyboard.press(key)
        expect(told).to_contain_text(f"Problem {place}, line {first if place.startswith('1') else second}: ")
    last_word = page.evaluate(selected)
    page.keyboard.press("Control+Home")
    page.keyboard.type("# one more line\n")
    page.keyboard.press("F8")
    expect(told).to_contain_text(f"Problem 1 of 2, line {first + 1}: ")
    first_word = page.evaluate(selected)
    assert {first_word, last_word} == {"personnas", "juges"}
    page.get_by_role("link", name=f"Line {second}").click()
    page.wait_for_function(f"getSelection().toString() === '{last_word}'")
    assert_accessible(page)
    page.get_by_role("button", name="Replace by").first.click()
    expect(page.get_by_role("heading", name=re.compile("1 error"))).to_be_visible()
    assert page.locator("#text").input_value().startswith("# one more line\n"), "the word is replaced in its moved line"


def test_an_error_in_another_file_leads_to_its_line(root, visit):
    (root / "support/customers.csv").write_text("name,wish\nAna,a refund\nAna,a refund\n", encoding="utf-8")
    page = visit()
    open_editor(page, "")
    load_by_click(page.get_by_role("link", name="customers.csv:3").first)
    expect(page.locator("#text")).to_be_focused()
    assert page.evaluate("document.activeElement.selectionStart") == len("name,wish\nAna,a refund\n")


_READ = """async text => {
  const editor = document.querySelector("script[type=module]").src;
  const { readLine, START } = await import(editor.replace(".js", "/yaml.js"));
  let state = START;
  return text.split("\\n").map((line) => { const read = readLine(line, state); state = read.end; return read.parts; });
}"""


def parsed_keys(text):
    """Return line and column of each scalar key, from 0, as the YAML parser finds them."""
    tokens = list(YAML().scan(text))
    marks = [one.start_mark for key, one in pairwise(tokens) if isinstance(key, KeyToken) if hasattr(one, "value")]
    return {(mark.line, mark.column) for mark in marks}


def test_keys_are_coloured_where_the_parser_of_yaml_finds_them(visit):
    page = visit()
    open_editor(page, "")
    shipped = sorted(p for p in resource_files("theodolite").rglob("*.yaml") if "starters" not in p.parts)
    for file in shipped:
        text = file.read_text(encoding="utf-8")
        lines = page.evaluate(_READ, text)
        assert "\n".join("".join(part for _, part in line) for line in lines) == text, file
        ends = [list(accumulate(len(part) for _, part in line)) for line in lines]
        found = {
            (row, ends[row][index] - len(part))
            for row, line in enumerate(lines)
            for index, (kind, part) in enumerate(line)
            if kind == "key"
        }
        assert found == parsed_keys(text), file
    assert len(shipped) > 20


CONTRASTS = """() => {
  const box = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    box.fillStyle = colour;
    box.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...box.getImageData(0, 0, 1, 1).data].map((part) => linear(part / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const root = getComputedStyle(document.documentElement);
  const grounds = ["--surface", "--att-t", "--accent-t"].map((name) => luminance(root.getPropertyValue(name)));
  return [...document.querySelectorAll(".colours span")].flatMap((part) => grounds.map((ground) => {
    const colour = luminance(getComputedStyle(part).color);
    return [part.className, (Math.max(colour, ground) + 0.05) / (Math.min(colour, ground) + 0.05)];
  }));
}"""


def test_the_colours_of_the_text_have_contrast_in_every_scheme(visit):
    page = visit()
    open_editor(page, "")
    page.locator("#text").fill("# note\nkey: {a: 'value of {{ name }}'}\n")
    expect(page.locator(".colours .template")).to_have_count(1)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for own in ("", "contrast", "contrast-dark"):
            page.evaluate("own => { document.documentElement.className = own }", own)
            ratios = page.evaluate(CONTRASTS)
            assert {kind for kind, _ in ratios} == {"comment", "key", "mark", "value", "template"}
            assert [one for one in ratios if one[1] < 4.5] == [], (scheme, own)


def test_a_long_text_is_drawn_in_the_part_that_is_visible(visit):
    page = visit()
    open_editor(page, "")
    page.locator("#text").fill("".join(f"key{n}: value\n" for n in range(1, 2001)))
    page.evaluate("() => { const box = document.querySelector('#text'); box.scrollTop = box.scrollHeight; }")
    expect(page.locator(".colours .line").last).to_have_text("")
    expect(page.locator(".colours .line").nth(-2)).to_have_text("key2000: value")
    expect(page.locator(".gutter .line").nth(-2)).to_have_text("2000")
    assert page.locator(".colours .line").count() < 60
    page.wait_for_function("""() => {
      const [box, last] = ["#text", ".colours .line:last-child"].map((one) => document.querySelector(one));
      const end = box.getBoundingClientRect().top + box.clientHeight - parseFloat(getComputedStyle(box).paddingBottom);
      return Math.abs(last.getBoundingClientRect().bottom - end) < 1.5; // the colours are behind the letters
    }""")
