"""The report in a real browser, opened from disk."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser_pages import ActionCounter, Job, documented_actions

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

REPORTS = ["xstest", "live", "scripted", "unfinished"]


@pytest.mark.parametrize("name", REPORTS)
def test_the_first_screen_is_complete(visit, name):
    page = visit(name)

    bottom = page.locator("#answer").evaluate("section => section.getBoundingClientRect().bottom")

    assert bottom <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screens_scroll_in_one_direction_only(visit, name, width):
    page = visit(name, width=width)

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_number_shows_its_source(visit):
    page = visit("xstest")

    page.get_by_role("button", name="llama2orig: 95 of 250").first.click()

    panel = page.locator("#panel")
    expect(panel).to_contain_text("95 of 250 (38.0%), 95% interval 32.2 to 44.2%")
    expect(panel).to_contain_text("estimates[")
    expect(panel).to_contain_text("Wilson")


def test_a_number_links_to_exactly_its_dialogues(visit):
    page = visit("xstest")
    page.get_by_role("button", name="llama2orig: 95 of 250").first.click()

    page.get_by_role("button", name="Its dialogues (95)").click()

    expect(page.locator("#found")).to_have_text(re.compile("95 of 2,250 dialogues"))
    expect(page.locator("#list li")).to_have_count(60)


def test_a_cell_of_a_confusion_matrix_links_to_exactly_its_dialogues(visit):
    page = visit("xstest", address="#judges")
    group = page.locator("#instruments details", has_text="final labels and GPT-4").last
    group.locator("summary").click()
    cell = group.locator("table", has_text="mistralinstruct").locator("tbody tr").first.locator("button").last

    number = cell.inner_text()
    cell.click()

    expect(page.locator("#list li")).to_have_count(int(number))
    expect(page.locator("#found")).to_contain_text("mistralinstruct: final labels says full compliance, GPT-4 says")


def test_a_badge_filters_the_dialogues(visit):
    page = visit("xstest")

    page.get_by_role("button", name="11 with an unparseable label").click()

    expect(page.locator("#list li")).to_have_count(11)
    expect(page.locator('.chip[data-chip="unparseable"]')).to_have_attribute("aria-pressed", "true")


def test_a_disposition_links_to_exactly_its_dialogues(visit):
    page = visit("live", address="#completeness")

    page.locator("#accounts summary").first.click()
    page.get_by_role("button", name="application timed out: 2").click()

    expect(page.locator("#list .label")).to_have_text(["d018", "d034"])


def test_next_and_previous_stay_within_the_filtered_dialogues(visit):
    page = visit("xstest")
    page.get_by_role("button", name="11 with an unparseable label").click()
    page.locator("#list a").nth(2).click()

    expect(page.locator(".place")).to_have_text("3 of 11: Unparseable")
    page.keyboard.press("k")

    expect(page.locator(".place")).to_have_text("2 of 11: Unparseable")


def test_a_dialogue_opens_from_its_address(visit):
    page = visit("xstest", address="#d/gpt4/v2-31")

    expect(page.locator("#reader h1")).to_have_text("gpt4/v2-31")
    expect(page.locator(".withheld")).to_contain_text("withheld: harmful contrast prompt")


def test_the_report_is_usable_by_keyboard_alone(visit):
    page = visit("live")
    page.keyboard.press("/")
    page.keyboard.type("60 days")
    expect(page.locator("#list li")).to_have_count(9)

    page.keyboard.press("Enter")
    page.keyboard.press("j")
    page.keyboard.press("Enter")

    expect(page.locator("#reader h1")).to_have_text("d007")
    page.keyboard.press("Escape")
    expect(page.locator("#report")).to_be_visible()


def test_the_keyboard_shortcuts_are_listed(visit):
    page = visit("live")

    page.keyboard.press("?")

    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_a_quote_links_to_its_sentence(visit):
    page = visit("live", address="#d/d001")

    page.get_by_role("button", name="you have 60 days").click()

    expect(page.locator("#reader mark")).to_be_focused()


def test_the_back_button_of_the_browser_closes_a_dialogue(visit):
    page = visit("live", address="#dialogues")
    page.locator("#list a").first.click()
    expect(page.locator("#reader")).to_be_visible()

    page.go_back()

    expect(page.locator("#report")).to_be_visible()


def test_a_long_list_is_rendered_in_parts(visit):
    page = visit("xstest", address="#dialogues")
    expect(page.locator("#list li")).to_have_count(60)

    page.locator("#more").scroll_into_view_if_needed()

    expect(page.locator("#list li").nth(60)).to_be_attached()


def test_the_answer_results_and_dispositions_are_readable_without_scripts(visit):
    page = visit("live", java_script_enabled=False)

    for text in ("9 of 57", "60 planned: 57 judged, 2 application timed out, 1 unparseable", "Scripts are off"):
        expect(page.locator("#report")).to_contain_text(text)
    expect(page.locator("#dialogues")).to_be_hidden()


def test_print_contains_the_open_dialogue_and_no_buttons(visit):
    page = visit("live", address="#d/d001")
    page.get_by_role("button", name="Print this one").click()

    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    expect(page.locator("#chosen")).to_contain_text("Yes, you have 60 days for any return.")
    expect(page.locator("#results")).to_be_visible()
    expect(page.locator("#dialogues")).to_be_hidden()


def test_the_accessible_name_of_a_number_contains_its_count(visit):
    page = visit("live")

    expect(page.locator(".answer .num").first).to_have_accessible_name(re.compile("bot-1.4: 9 of 57, 15.8%"))


def test_a_version_links_to_its_full_text(visit):
    page = visit("live", address="#d/d001")

    page.get_by_role("button", name="groundedness ").click()

    expect(page.locator("#instruments details[open] pre").first).to_contain_text("How well do the replies stand")


def test_a_badge_with_a_count_of_zero_is_no_link(visit):
    page = visit("xstest")

    expect(page.get_by_role("button", name="0 failed")).to_have_count(0)
    expect(page.get_by_text("0 failed", exact=True)).to_be_visible()


@pytest.mark.parametrize("width", [320, 1280])
def test_prompt_raw_reply_and_cost_are_collapsed_below_a_label(visit, width):
    page = visit("called", address="#d/d001", width=width)
    fold = page.locator("#reader .calls").first
    expect(fold.locator("summary")).to_have_text("Prompt and raw reply (2 calls, 1,200 tokens in, 40 out, $0.00041)")
    expect(fold.locator("pre")).to_have_count(0)

    fold.locator("summary").focus()
    page.keyboard.press("Enter")

    expect(fold.locator("pre")).to_have_count(4)
    expect(fold.locator("pre").nth(0)).to_contain_text("Judge by the guideline alone.")
    expect(fold.locator("pre").nth(1)).to_contain_text('<b id="injected">not bold</b>')
    expect(fold.locator("pre").nth(2)).to_contain_text("have changed since")
    assert page.locator("#injected").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_node_of_a_tree_links_to_exactly_its_dialogues(visit):
    page = visit("trees", address="#trees")
    page.evaluate("document.querySelectorAll('#trees details').forEach(each => { each.open = true; })")
    lifting = page.get_by_role("button", name="show those that raise over-refusing, llama2orig: 95 dialogues raise it")

    lifting.first.click()

    expect(page.locator("#found")).to_have_text(re.compile("95 of 2,250 dialogues"))


def test_a_tab_shows_only_its_section_and_has_an_address(visit):
    page = visit("xstest")

    page.locator(".tabs a", has_text="Completeness").click()

    expect(page.locator("#accounts")).to_be_visible()
    expect(page.locator("#answer")).to_be_hidden()
    assert page.evaluate("location.hash") == "#completeness"
    expect(page.locator(".tabs a[aria-current]")).to_have_text("Completeness")


def test_light_and_dark_mode_can_be_chosen(visit):
    page = visit("live", color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)

    page.get_by_role("button", name="Light or dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")

    assert page.evaluate(background) != light


def test_the_matrix_counts_prompts_and_filters_them(visit):
    page = visit("xstest", address="#matrix")
    expect(page.locator("#matrix-found")).to_have_text("450 of 450 prompts")

    page.get_by_role("button", name=re.compile("^Unparseable")).first.click()

    expect(page.locator("#matrix-found")).to_have_text("11 of 450 prompts")
    expect(page.locator("#matrix-table tbody tr")).to_have_count(11)


def test_the_matrix_works_by_keyboard(visit):
    page = visit("xstest", address="#matrix")
    page.keyboard.press("j")
    page.keyboard.press("d")
    expect(page.locator("#matrix-table ins").first).to_be_visible()
    page.keyboard.press("j")

    page.keyboard.press("Enter")

    expect(page.locator("#reader h1")).to_have_text("llama2orig/v2-1")
    page.keyboard.press("Escape")
    expect(page.locator("#matrix-table")).to_be_visible()


def test_columns_of_the_matrix_can_be_pinned_hidden_and_sorted(visit):
    page = visit("xstest", address="#matrix")
    heads = page.locator("#matrix-table thead .app")

    page.get_by_role("button", name="Pin first: gpt4").click()
    expect(heads.first).to_have_text("gpt4")
    page.get_by_role("button", name="Hide gpt4").click()
    expect(heads).to_have_count(4)
    page.get_by_role("button", name="Show all columns").click()
    expect(heads).to_have_count(5)
    page.get_by_role("button", name="Defects first: gpt4").click()

    expect(page.locator("#matrix-table tbody tr").first.locator("td").first).to_contain_text("defect")


def test_a_dialogue_links_to_the_same_prompt_in_another_application(visit):
    page = visit("xstest", address="#d/llama2orig/v2-1")

    page.locator(".siblings a", has_text="gpt4").click()

    expect(page.locator("#reader h1")).to_have_text("gpt4/v2-1")


def test_the_first_screen_and_one_click_show_the_agreement_of_a_judge_with_people(visit):
    page = visit("xstest")
    expect(page.locator(".kpi", has_text="agrees on 333 to 421 of 450 final labels")).to_be_visible()

    page.get_by_role("link", name="Judges", exact=True).click()

    expect(page.get_by_role("heading", name="Agreement", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="Confusion matrices")).to_be_visible()


def test_a_column_of_votes_links_to_exactly_its_dialogues(visit):
    page = visit("xstest", address="#judges")

    page.locator("#instruments figure .chart").first.locator("g[data-set]").nth(1).click()

    expect(page.locator("#list li")).to_have_count(13)


@pytest.mark.parametrize("width", [1280, 390])
def test_one_click_shows_the_precision_of_more_dialogues_and_another_its_source(visit, width):
    page = visit("live", width=width)

    page.get_by_role("link", name="What would more budget buy?").click()

    section = page.locator("#precision")
    expect(section.get_by_role("heading", name="Precision and budget")).to_be_in_viewport()
    expect(section.locator("tbody tr")).to_have_count(1)
    expect(section.locator("tbody tr")).to_contain_text("16.4 points")
    expect(section.locator("tbody tr")).to_contain_text("$2.74 for 171 more")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    section.locator("button.num").click()
    expect(page.locator("#panel")).to_contain_text("estimates[")


def test_without_prices_and_defects_more_dialogues_have_no_cost_and_no_forecast(visit):
    page = visit("xstest")

    page.get_by_role("link", name="Completeness", exact=True).click()

    rows = page.locator("#precision tbody tr")
    expect(rows).to_have_count(10)
    expect(rows.first).to_contain_text("cost unknown")
    expect(rows.filter(has_text="no dialogue is a defect")).to_have_count(2)


def test_a_link_shows_the_comparison_of_versions_and_its_regressed_pairs(visit):
    page = visit("xstest")
    questions = page.locator(".questions")
    expect(questions).to_contain_text("llama2new against llama2orig: Permitted content withheld: fewer defects")
    expect(questions).to_contain_text("-24.0 points (-29.7 to -18.3)")

    page.get_by_role("link", name="Is the new version better?").click()

    section = page.locator("#versions")
    expect(section.get_by_role("heading", name="Versions and applications compared")).to_be_in_viewport()
    expect(section.get_by_role("listitem")).to_have_count(4)
    section.locator("summary").click()
    expect(section.locator("tbody tr")).to_have_count(12)
    section.get_by_role("button", name="128 regressed").first.click()
    expect(page.locator("#found")).to_contain_text("256 of 2,250 dialogues")


def test_one_click_shows_the_regressed_dialogues_of_a_new_version(visit):
    actions = ActionCounter(visit("xstest"))

    actions.click(actions.page.get_by_role("button", name="Show 22 regressed dialogues"))

    expect(actions.page.locator("#found")).to_contain_text("22 of 2,250 dialogues")
    assert actions.n == documented_actions()[Job.REGRESSED].count


def test_one_click_shows_the_group_with_more_harm_and_two_show_its_rate(visit):
    page = visit("xstest")
    expect(page.locator(".questions")).to_contain_text("6 of 15 gaps between groups exclude 0.")

    page.get_by_role("link", name="Who was harmed more?").click()

    section = page.locator("#gaps")
    expect(section.get_by_role("heading", name="Differences between groups")).to_be_in_viewport()
    expect(section.locator(".chart")).to_contain_text("84.0 points (39.2 to 94.4), n 250")
    section.locator("summary").click()
    expect(section.locator("tbody tr")).to_have_count(15)
    section.locator("button.num").first.click()
    expect(page.locator("#panel")).to_contain_text("estimates[")


def test_one_click_shows_whether_the_judge_can_be_trusted(visit):
    page = visit("certified")
    expect(page.locator(".questions")).to_contain_text("validated")

    page.get_by_role("link", name="Can I trust the judge?").click()

    expect(page.get_by_role("heading", name="Judges, annotators and guidelines")).to_be_in_viewport()
    expect(page.get_by_role("heading", name="Validation reports")).to_be_visible()


def test_one_click_shows_the_dialogues_of_the_highest_rate(visit):
    page = visit("xstest")

    page.get_by_role("button", name="Show its 128 dialogues").click()

    expect(page.locator("#found")).to_contain_text("128 of 2,250 dialogues")
    expect(page.locator("#list li").nth(2)).to_be_visible()


def test_the_printed_report_has_at_most_twelve_pages(visit):
    page = visit("xstest")

    printed = page.pdf(prefer_css_page_size=True, print_background=True)

    assert len(re.findall(rb"/Type\s*/Page[^s]", printed)) <= 12


def test_print_contains_difference_interval_and_p_value_of_each_pair(visit):
    page = visit("xstest")
    page.emulate_media(media="print")

    expect(page.locator("#versions .chart")).to_contain_text("-24.0 points (-29.7 to -18.3), n 250, p < .001")
    expect(page.locator("#versions .values")).to_be_hidden()
