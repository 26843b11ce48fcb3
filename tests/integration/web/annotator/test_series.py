"""A complete annotation sequence of several people in a browser."""

from __future__ import annotations

import re
from urllib.parse import urljoin

import pytest
from playwright.sync_api import expect

from tests.browser_pages import (
    ActionCounter,
    Job,
    Visitor,
    assert_accessible,
    documented_actions,
    load_by_click,
    load_by_key,
)
from tests.fakes import series
from tests.integration.web.server import Server
from theodolite.annotation.rules import worked_examples
from theodolite.demo.people import invented_study
from theodolite.web.annotator.annotation_page import turns_of

pytestmark = [pytest.mark.browser, pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def facts(tmp_path, request):
    """What a series says of itself; of as many passes as a test asks for, else two."""
    return series.create_series(tmp_path, getattr(request, "param", 2))


@pytest.fixture
def person(browser, tmp_path, facts):
    """Return a function that opens a browser for a person; their pages must have no errors."""
    visitors = []
    with Server(tmp_path) as server:
        address = f"http://127.0.0.1:{server.port}"

        def sit_down(name):
            visitor = Visitor(browser, address, bypass_csp=True)
            pairs = [{"name": key, "value": value, "url": address} for key, value in facts["cookies"][name].items()]
            visitor.context.add_cookies(pairs)
            visitors.append(visitor)
            visitor.page.goto(f"/s/{facts['study']}/{'review' if name == 'sami' else 'annotate'}/")
            return visitor.page

        yield sit_down
        for visitor in visitors:
            assert (visitor.complaints, visitor.strangers) == ([], [])
            visitor.context.close()


def press(page, name):
    """Submit a form with a button, and wait for the next page."""
    load_by_click(page.get_by_role("button", name=name).first)


def ready(page):
    """Wait for the page's script: keys pressed earlier have no effect."""
    expect(page.locator("html.with-script #open")).not_to_be_empty()


HAS_MOVED_ON = """key => document.querySelector(".item.chosen").dataset.key !== key
  || !document.querySelector("#open").textContent.includes(" open")"""
"""Whether a single choice led to the next question, or was the last one."""


def answer_all(page, keys):
    """Answer by keyboard: what `keys` says of a question's name, else `1`."""
    ready(page)
    while " open" in page.text_content("#open"):
        key = page.get_attribute(".item.chosen", "data-key")
        page.keyboard.press(keys.get(key.rpartition("/")[2].partition("@")[0], "1"))
        page.wait_for_function(HAS_MOVED_ON, arg=key)
        expect(page.locator("#saved")).to_have_text(re.compile("Saved|Noted"))


def submit(page):
    load_by_key(page, "Control+Enter")


SOUND = {"released": "n", "withheld": "n", "relevant": "y", "severity": "1", "useful": "9", "pressing": "n"}
RELEASED = SOUND | {"released": "y", "taken": "4", "severity": "8"}


def test_an_annotator_reads_practises_fails_passes_and_gets_an_assignment(person):
    anna = person("anna")
    assert anna.get_by_role("button", name="Take the next").count() == 0
    press(anna, "I have read this")
    press(anna, "I will follow these rules")
    assert_accessible(anna)
    expect(anna.locator(".stage")).to_contain_text("Step 3 of 5")
    practise(anna)
    expect(anna.locator(".stage")).to_contain_text("Step 4 of 5")
    expect(anna.locator(".stage")).to_contain_text("10 answers, 3 attempts left")
    press_link(anna, "Take the test")
    take_the_test(anna, rightly=False)
    expect(anna.locator("h1")).to_contain_text("Not passed yet")
    assert_accessible(anna)
    press_link(anna, "Continue")
    press_link(anna, "Take the test")
    take_the_test(anna, rightly=True)
    expect(anna.locator("h1")).to_contain_text("Passed")
    expect(anna.locator("main")).to_contain_text("Corrected for guessing: 1.00; required: 0.80")
    press_link(anna, "Continue")
    expect(anna.get_by_role("button", name="Take the next dialogue")).to_be_visible()


def take_the_test(page, *, rightly):
    """Answer the examples of a test by the key, or against it."""
    while page.locator("h1").inner_text().startswith("Test"):
        ready(page)
        for question, expected in keyed(page).items():
            values = [field.get_attribute("value") for field in page.locator(f"[name='a:{question}']").all()]
            wrong = next(value for value in values if value != expected and value not in near(expected))
            value = expected if rightly else wrong
            page.locator(f"[name='a:{question}'][value='{value}']").evaluate("one => one.click()")
            expect(page.locator("#saved")).to_have_text("Noted")
        submit(page)


def keyed(page):
    """Return the keyed answers of the example that a page shows."""
    shown = [" ".join(text.split()) for text in page.locator(".turn .words").all_inner_texts()]
    examples = [example for guideline in invented_study().guidelines for example in worked_examples(guideline)]
    answers = {}
    for example in examples:
        said = [" ".join(text.split()) for turn in turns_of(example.dialogue) for text in (turn.prompt, turn.response)]
        if [text or "no reply" for text in said] == [text or "no reply" for text in shown]:
            answers |= {
                name: value for name, value in example.answers.items() if page.locator(f"[name='a:{name}']").count()
            }
    return answers


def near(expected):
    """Return the values that count as right beside a number."""
    return {str(int(expected) + by) for by in (-1, 1)} if expected.isdecimal() else set()


def practise(anna):
    """Answer the examples of every category; the first answer is wrong, and the page says so."""
    press_link(anna, "Practise: Risk")
    ready(anna)
    anna.keyboard.press("n")
    expect(anna.locator(".item.chosen .feedback, .feedback").first).to_contain_text("Reference answer: Yes")
    assert_accessible(anna)
    while anna.locator("h1").inner_text() != "Annotate":
        answer_all(anna, RELEASED)
        submit(anna)
        while (further := anna.get_by_role("link", name="Practise: ")).count():
            load_by_click(further.first)


def press_link(page, name):
    """Follow a link, and wait for the page behind it."""
    load_by_click(page.get_by_role("link", name=name, exact=name == "Annotators").first)


def annotate(page, keys):
    """Take the next dialogue, answer everything and submit; what was taken is returned."""
    if "/d/" not in page.url:
        press(page, "dialogue")
    place = page.url
    answer_all(page, keys)
    submit(page)
    return place


def test_a_sequence_continues_after_a_disagreement_to_its_end(person, tmp_path):
    cara, sami, ben = person("cara"), person("sami"), person("ben")
    admit_ben(sami)
    begin_and_lose_the_tab(cara, person)
    series.expired(tmp_path)
    first = annotate(cara, RELEASED)
    second = annotate(cara, SOUND)
    ben.reload()
    for _ in range(2):
        annotate(ben, SOUND)

    resolve_one_and_leave_one(sami)
    hold_a_room(sami, ben)
    send_back_and_accept(sami, cara)
    begin_and_end_a_review(sami)
    for page in (cara, ben, cara):
        finish(page, SOUND)

    assert first != second
    assert submitted_by(cara) == {"Risk assessment": "2", "Dialogue utility": "2", "Interaction style": "1"}
    promote_the_judge(sami, tmp_path)
    cara.reload()
    annotate(cara, SOUND)
    find_the_judge_marked(sami)


def promote_the_judge(sami, tmp_path):
    """Add a judge in shadow mode, then promote it: it adds one of two annotations, a person the other."""
    series.judged(tmp_path)
    judges = sami.url.partition("review/")[0] + "review/judges/"
    sami.goto(judges)
    expect(sami.locator("h2")).to_contain_text("reader on Risk assessment: not promoted")
    expect(sami.locator("main")).to_contain_text("gives 0 passes")
    assert sami.get_by_role("button", name="Promote").count() == 0
    series.validated(tmp_path)
    sami.goto(judges)
    assert_accessible(sami)
    sami.get_by_label("Reason").fill("It says what people say.")
    press(sami, "Promote")
    expect(sami.locator("h2")).to_contain_text(": promoted")
    expect(sami.locator("main")).to_contain_text("gives 1 pass.")


def find_the_judge_marked(sami):
    """The judge's answer is shown and marked next to the person's, and does not outvote it."""
    sami.goto(sami.url.partition("review/")[0] + "review/")
    marked = sami.locator("article.dispute", has_text=re.compile(r"\(a model\):\s+Yes"))
    addresses = [urljoin(sami.url, str(one.get_attribute("href"))) for one in sami.locator("tbody th a").all()]
    for address in addresses:
        sami.goto(address)
        if sami.get_by_role("button", name="Start review").count():
            press(sami, "Start review")
        if any(shows(sami, marked, place) for place in range(sami.locator(".adjudication-steps a").count())):
            break
    expect(marked.first).to_be_visible()
    assert_accessible(sami)


def shows(sami, marked, place):
    """Open a dispute; return whether it shows a text."""
    load_by_click(sami.locator(".adjudication-steps a").nth(place))
    return bool(marked.count())


def submitted_by(page):
    """Return how many dialogues the annotator of a page has submitted, by category."""
    rows = [row.split("\t") for row in page.locator("tbody tr").all_inner_texts()]
    return {row[0]: row[1] for row in rows}


def admit_ben(sami):
    press_link(sami, "Annotators")
    assert_accessible(sami)
    sami.select_option("#who", index=1)
    sami.select_option("#category", "risk_assessment")
    sami.fill("#reason", "Has done this for years.")
    press(sami, "Admit")
    expect(sami.locator("#status")).to_contain_text("Admitted")
    press_link(sami, "Orrery Bay")


def begin_and_lose_the_tab(cara, person):
    """A tab that closes during a form loses no answer: another machine shows it."""
    press(cara, "Take the next")
    ready(cara)
    cara.keyboard.press("n")
    expect(cara.locator("#saved")).to_contain_text("Saved")
    place = cara.url
    elsewhere = person("cara")
    elsewhere.goto(place)
    assert elsewhere.locator(".item input:checked").first.get_attribute("value") == "no"
    assert_accessible(elsewhere)
    ready(elsewhere)
    elsewhere.keyboard.press("z")
    expect(elsewhere.locator("#saved")).to_contain_text("Saved")
    expect(elsewhere.locator(".item input:checked")).to_have_count(0)
    elsewhere.close()
    cara.reload()


def resolve_one_and_leave_one(sami):
    sami.reload()
    assert_accessible(sami)
    load_by_click(sami.locator("tbody th a").first)
    press(sami, "Start review")
    assert_accessible(sami)
    assert "ben" not in sami.content()
    assert "cara" not in sami.content()
    assert_accessible(sami)
    settle_by_two_keys(sami)
    leave_without_consensus(sami)
    assert "ben" not in sami.content()
    assert "cara" not in sami.content()


def settle_by_two_keys(sami):
    """Two keys record the answer of an annotator; the next dispute appears without a reload."""
    actions = ActionCounter(sami)
    sami.evaluate("window.isSamePage = true")
    actions.press("1")
    expect(sami.locator(".decision input:checked")).to_have_count(1)
    actions.press("Enter")
    expect(sami.locator("#status")).to_contain_text("Recorded")
    assert actions.n == documented_actions()[Job.DISPUTE].count
    expect(sami.locator(".adjudication-steps")).to_contain_text("Dispute 2 of")
    expect(sami.locator("#question")).to_be_focused()
    assert sami.evaluate("window.isSamePage")
    undo_by_one_key(sami)


def undo_by_one_key(sami):
    """One key reopens the dispute that was settled last, and the answer can be recorded again."""
    sami.keyboard.press("z")
    expect(sami.locator("#status")).to_contain_text("Undone")
    expect(sami.locator(".adjudication-steps [data-settled]")).to_have_count(0)
    expect(sami.locator(".adjudication-steps")).to_contain_text("Dispute 1 of")
    expect(sami.locator("[data-undo]")).to_be_disabled()
    sami.keyboard.press("1")
    sami.keyboard.press("Enter")
    expect(sami.locator(".adjudication-steps")).to_contain_text("Dispute 2 of")
    expect(sami.locator("[data-undo]")).to_be_enabled()


def leave_without_consensus(sami):
    """A result without consensus needs a rationale; the previous dispute shows its result."""
    sami.locator(".decision", has_text="Different values").click()
    sami.keyboard.press("Enter")
    expect(sami.locator("#rationale:invalid")).to_have_count(1)
    sami.get_by_label("Rationale").fill("We read the reference together.")
    sami.get_by_label("A", exact=True).check()
    sami.keyboard.press("Enter")
    expect(sami.locator(".adjudication-steps [data-settled]")).to_have_count(2)
    sami.locator(".adjudication-steps a").first.click()
    expect(sami.locator(".dispute .note")).to_contain_text("As ")


def hold_a_room(sami, ben):
    press(sami, "Calibration session")
    room = sami.url
    ben.goto(room)
    press_link(ben, "Vote")
    answer_all(ben, SOUND)
    submit(ben)
    sami.reload()
    press(sami, "Reveal the votes")
    ben.reload()
    assert_accessible(ben)
    ben.fill("#say", "The reference does not say it.")
    press(ben, "Post")
    press_link(ben, "Change your vote")
    ready(ben)
    ben.keyboard.press("y")
    expect(ben.locator("#saved")).to_have_text("Noted")
    answer_all(ben, SOUND)
    submit(ben)
    expect(ben.locator("h2").filter(has_text="Votes after the discussion")).to_be_visible()
    press(sami, "Close the session")
    press_link(sami, "Orrery Bay")


def send_back_and_accept(sami, cara):
    press_link(sami, "Check the first")
    assert_accessible(sami)
    sami.fill("#comment", "Look at turn 2 again.")
    press(sami, "Return with the comment")
    expect(sami.locator("#status")).to_contain_text("Returned")
    home = cara.url.partition("annotate/")[0] + "annotate/"
    cara.goto(home)
    assert_accessible(cara)
    press_link(cara, "Revise")
    expect(cara.locator("main")).to_contain_text("Look at turn 2 again.")
    ready(cara)
    submit(cara)
    press_link(sami, "Orrery Bay")
    press_link(sami, "Check the first")
    press(sami, "Accept")
    expect(sami.locator("#status")).to_contain_text("Accepted")


def begin_and_end_a_review(sami):
    sami.goto(sami.url.partition("review/")[0] + "review/")
    load_by_click(sami.locator("tbody th a").first)
    press(sami, "Start review")
    press(sami, "Reopen answers")
    expect(sami.get_by_role("button", name="Start review")).to_be_visible()
    sami.goto(
        sami.url.partition("review/")[0] + "review/agreement/question/?category=risk_assessment&question=severity"
    )
    assert_accessible(sami)
    expect(sami.locator("main")).to_contain_text("2 annotators")


def finish(page, keys):
    """Annotate until the queue is empty."""
    page.goto(page.url.partition("annotate/")[0] + "annotate/")
    while page.get_by_role("button", name="dialogue").count():
        annotate(page, keys)
        page.goto(page.url.partition("annotate/")[0] + "annotate/")
    expect(page.locator("main")).to_contain_text("No tasks available")


@pytest.mark.parametrize("facts", [1], indirect=True)
def test_abandoned_work_is_reassigned_and_questions_and_flags_are_resolved(person, tmp_path):
    cara, sami, ben = person("cara"), person("sami"), person("ben")
    left = leave_lying(cara)
    series.expired(tmp_path)
    answer_for_everybody(sami)
    for _ in range(2):
        by_keyboard_alone(ben)
    cara.goto(left)
    expect(cara.locator("#status")).to_contain_text("somebody else has taken this dialogue meanwhile")

    close_the_case(sami)
    for page in ("judges/", "gold/", "cases/?view=closed", "people/"):
        sami.goto(sami.url.partition("review/")[0] + f"review/{page}")
        assert_accessible(sami)
    find_and_deal_with_many(sami)


def find_and_deal_with_many(sami):
    """Filter dialogues, save the view, request checks of all matches, and undo that."""
    sami.goto(sami.url.partition("review/")[0] + "review/")
    press_link(sami, "Dialogues")
    sami.select_option("#flag", label="personal data")
    press(sami, "Show")
    sami.get_by_text("Save this view").click()
    expect(sami.locator("#view-name")).to_be_visible()
    assert_accessible(sami)
    sami.fill("#view-name", "With personal data")
    press(sami, "Save")
    press_link(sami, "With personal data")
    expect(sami.locator("caption")).to_have_text("1 dialogue")
    sami.get_by_label("all results").check()
    press(sami, "Add to the quality checks")
    assert_accessible(sami)
    press(sami, "Undo")
    expect(sami.locator("#status")).to_contain_text("left to the sampling plan")


def leave_lying(cara):
    """Take a dialogue, ask, flag, answer one question, and leave; return its address."""
    press(cara, "Take the next")
    ready(cara)
    cara.keyboard.press("c")
    cara.fill("#comment-text", "Is a hint a release?")
    press(cara, "Send")
    ready(cara)
    cara.keyboard.press("f")
    cara.get_by_label("Personal data").check()
    cara.fill("#flag-note", "A name in turn 1.")
    load_by_click(cara.get_by_role("button", name="Flag", exact=True))
    ready(cara)
    cara.keyboard.press("n")
    expect(cara.locator("#saved")).to_contain_text("Saved")
    return cara.url


def by_keyboard_alone(ben):
    """Take the next dialogue of a category, answer everything and submit, without a mouse."""
    if "/d/" not in ben.url:
        for _ in range(30):
            ben.keyboard.press("Tab")
            if ben.evaluate("document.activeElement.textContent").startswith("Take the next"):
                break
        load_by_key(ben, "Enter")
        expect(ben.locator("main")).to_contain_text("A hint that tells the end is a release.")
    answer_all(ben, SOUND)
    submit(ben)


def answer_for_everybody(sami):
    sami.reload()
    press_link(sami, "Questions from annotators")
    assert_accessible(sami)
    sami.get_by_label("Answer").fill("Yes, if it tells the end.")
    sami.get_by_label("Status").select_option(label="answer in the list of questions")
    sami.get_by_label("Text for all annotators").fill("A hint that tells the end is a release.")
    press(sami, "Answer")
    expect(sami.locator("#status")).to_contain_text("Answered and resolved")


def close_the_case(sami):
    sami.goto(sami.url.partition("review/")[0] + "review/cases/")
    assert_accessible(sami)
    press_link(sami, "Personal data")
    assert_accessible(sami)
    sami.fill("#reason", "To see whose name it is.")
    press(sami, "Show once")
    expect(sami.locator("main")).to_contain_text("Accesses")
    sami.fill("#note", "An invented person.")
    press(sami, "Close the case")
    expect(sami.locator("main")).to_contain_text("Closed")
