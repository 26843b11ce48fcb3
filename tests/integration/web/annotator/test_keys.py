"""All categories of a dialogue in one sequence: one key for each answer and one to submit."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser_pages import (
    ActionCounter,
    Job,
    Visitor,
    assert_accessible,
    documented_actions,
    load_by_click,
)
from tests.fakes import series
from tests.integration.web.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]

N_ANSWERS = 37
"""Questions of the five shipped categories about three turns without a finding: 2 + 4 x 3 + 5 + 4 x 3 + 6."""

N_RISK, N_UTILITY = 2, 6
"""Questions of a routed dialogue without a finding."""


@pytest.fixture
def facts(tmp_path):
    """The tokens of the study and of a study with routed categories, and the cookies of its people."""
    return series.create_five_categories(tmp_path)


@pytest.fixture
def cara(browser, tmp_path, facts):
    """An annotator who has taken a dialogue of three turns in five categories."""
    with Server(tmp_path) as server:
        address = f"http://127.0.0.1:{server.port}"
        visitor = Visitor(browser, address, bypass_csp=True)
        cookies = facts["cookies"]["cara"].items()
        visitor.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies])
        page = visitor.page
        page.goto(f"/s/{facts['study']}/annotate/")
        load_by_click(page.get_by_role("button", name="Take the next dialogue"))
        ready(page)
        yield page
        complaints = [words for words in visitor.complaints if "ERR_INTERNET_DISCONNECTED" not in words]
        assert (complaints, visitor.strangers) == ([], [])
        visitor.context.close()


def ready(page):
    expect(page.locator("html.with-script #open")).not_to_be_empty()


def key_for(page):
    """Return the key of the answer without a finding to the current question: no, or the value 1."""
    item = page.locator(".item.chosen")
    return "n" if item.locator("input[value=no]").count() else "1"


def chosen(page):
    return page.get_attribute(".item.chosen", "data-key")


def answer(page, press=None):
    """Press one key, and wait for the next question; return the question that was answered."""
    key = chosen(page)
    (press or page.keyboard.press)(key_for(page))
    expect(page.locator(f".item.chosen[data-key='{key}']")).to_have_count(0)
    return key


def annotate(actions, n_answers):
    """Answer all questions of a dialogue by single keys and submit; return the questions before the last one."""
    page = actions.page
    answered = [answer(page, actions.press) for _ in range(n_answers - 1)]
    actions.press(key_for(page))
    expect(page.locator("#open")).to_have_text("All questions answered")
    with page.expect_navigation():
        actions.press("Control+Enter")
    return answered


def test_38_keys_annotate_three_turns_in_five_categories(cara, facts):
    assert_accessible(cara)
    expect(cara.locator(".card-steps li")).to_have_count(6)
    actions = ActionCounter(cara)
    answered = annotate(actions, N_ANSWERS)

    assert len({*answered}) == N_ANSWERS - 1
    assert actions.n == documented_actions()[Job.FIVE_CATEGORIES].count
    expect(cara.locator("#status")).to_contain_text("This is the next dialogue")
    ready(cara)
    expect(cara.locator("#open")).to_contain_text("37 questions open")
    cara.goto(cara.url.partition("/d/")[0])
    assert [row.split("\t")[1] for row in cara.locator("tbody tr").all_inner_texts()] == ["1"] * 5


def test_9_keys_annotate_a_routed_dialogue(cara, facts):
    """The answers about risk lead to the questions about utility, without a key; one key submits all."""
    take_routed(cara, facts)
    actions = ActionCounter(cara)
    answer_risk(cara, actions.press)
    expect(cara.locator(".card-step-name")).to_have_text(["Risk assessment", "Dialogue utility"])
    assert_accessible(cara)
    annotate(actions, N_UTILITY)
    assert actions.n == documented_actions()[Job.ROUTED].count
    cara.goto(cara.url.partition("/annotate/")[0] + "/annotate/")
    rows = [row.split("\t")[:2] for row in cara.locator("tbody tr").all_inner_texts()]
    assert [name for name, n in rows if n == "1"] == ["Risk assessment", "Dialogue utility"]


def take_routed(cara, facts):
    cara.goto(f"/s/{facts['routed']}/annotate/")
    load_by_click(cara.get_by_role("button", name="Take the next dialogue"))
    ready(cara)
    expect(cara.locator("#open")).to_contain_text("2 questions open")


def answer_risk(cara, press):
    answer(cara, press)
    with cara.expect_navigation():
        press("n")
    ready(cara)
    expect(cara.locator("#open")).to_contain_text(f"{N_UTILITY} questions open")


def test_undo_before_the_submission_withdraws_the_route(cara, facts):
    take_routed(cara, facts)
    answer_risk(cara, cara.keyboard.press)
    cara.keyboard.press("1")
    expect(cara.locator("#open")).to_contain_text(f"{N_UTILITY - 1} questions open")
    cara.keyboard.press("z")
    expect(cara.locator("#open")).to_contain_text(f"{N_UTILITY} questions open")
    with cara.expect_navigation():
        cara.keyboard.press("z")
    ready(cara)
    expect(cara.locator(".card-step-name")).to_have_text(["Risk assessment"])
    expect(cara.locator("#open")).to_contain_text("1 question open")
    assert_accessible(cara)
    with cara.expect_navigation():
        cara.keyboard.press("n")
    ready(cara)
    expect(cara.locator("#open")).to_contain_text(f"{N_UTILITY} questions open")


def test_keys_pressed_before_the_server_responds_answer_the_right_questions(cara):
    answer(cara)
    answer(cara)
    items = cara.locator(".ask-card.current .item:not([hidden])").all()[:4]
    keys = ["n" if item.locator("input[value=no]").count() else "1" for item in items]
    cara.keyboard.type("".join(keys), delay=0)
    expect(cara.locator("[data-go='1'] .card-step-count")).to_have_text("4 of 8")
    expect(cara.locator("#saved")).to_contain_text("Saved")
    cara.reload()
    ready(cara)
    expect(cara.locator("[data-go='1'] .card-step-count")).to_have_text("4 of 8")


def test_answers_without_a_connection_continue_and_are_saved_later(cara):
    cara.context.set_offline(True)
    answer(cara)
    answer(cara)
    expect(cara.locator("#saved")).to_contain_text("Not saved")
    cara.context.set_offline(False)
    expect(cara.locator("#saved")).to_contain_text("Saved")
    cara.reload()
    ready(cara)
    expect(cara.locator("[data-go='0'] .card-step-count")).to_have_text("2 of 2")


def test_undo_returns_to_the_question_and_a_setting_disables_automatic_steps(cara):
    first = answer(cara)
    cara.keyboard.press("z")
    expect(cara.locator(f".item.chosen[data-key='{first}']")).to_have_count(1)
    load_by_click(cara.get_by_title("Display settings"))
    cara.get_by_label("a single choice leads to the next question").uncheck()
    load_by_click(cara.get_by_role("button", name="Save"))
    ready(cara)
    cara.keyboard.press("n")
    expect(cara.locator("#saved")).to_contain_text("Saved")
    assert chosen(cara) == first
