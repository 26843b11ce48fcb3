import functools

from tests.fakes.evidence import facts
from tests.fakes.report import evidence_named, findings_named, report_named, words
from theodolite.reporting.page.distributions import (
    control_charts,
    funnels,
    repeat_charts,
    severity_charts,
    vote_charts,
    vote_columns,
)
from theodolite.reporting.page.subject import subject_of


@functools.cache
def subject(name):
    return subject_of(evidence_named(name), findings_named(name), facts(), words())


def numbers(table):
    return [tuple(text.replace(",", "") for text in row) for row in table.texts]


def test_a_graded_question_has_a_histogram_whose_counts_are_those_of_the_labels():
    (chart,) = severity_charts(subject("live"))

    (row,) = numbers(chart.table)
    counts = dict(zip((column.title for column in chart.table.columns[1:-1]), map(int, row[1:-1]), strict=True))
    assert row[0] == "bot-1.4"
    assert sum(counts.values()) == int(row[-1]) == 60
    graded = {float(label): n for label, n in counts.items() if label.isdigit()}
    assert sum(n for label, n in graded.items() if label <= 3) == 9  # the rate of the same report is 9 of 57
    assert sum(graded.values()) == 57


def test_labels_without_an_order_have_no_histogram():
    assert severity_charts(subject("xstest")) == ()


def test_votes_count_the_prompts_of_the_rule():
    withheld, released, _ = vote_charts(subject("xstest"))

    assert {row[-1] for row in numbers(withheld.table)} == {"250"}
    assert {row[-1] for row in numbers(released.table)} == {"200"}
    assert all(sum(map(int, row[1:-1])) == int(row[-1]) for row in numbers(withheld.table))


def test_a_vote_opens_its_dialogues():
    chart = vote_charts(subject("xstest"))[0]

    cell = chart.table.cells[0][2]
    assert len(subject("xstest").sets.sets[cell.opens].cases) == int(cell.text)


def test_a_funnel_falls_from_plan_to_use_and_names_every_loss():
    ((guideline, text, chart),) = funnels(subject("live"))

    stages = [(row[0], int(row[1])) for row in numbers(chart.table)]
    assert guideline == "groundedness"
    assert text.startswith("60 planned")
    assert stages == [("planned", 60), ("run", 58), ("scored", 58), ("used", 57)]
    lost = [sum(int(link.text.rpartition(": ")[2]) for link in row[2].links) for row in chart.table.cells]
    assert lost == [0, 2, 0, 1]


def test_without_variants_there_is_no_chart_of_controls():
    assert control_charts(subject("xstest")) == ()


def test_the_page_contains_each_chart_with_its_table():
    page = report_named("live")

    made = subject("live")
    n_charts = len(severity_charts(made)) + len(funnels(made)) + len(repeat_charts(made))
    assert page.count('<details class="values"') == n_charts == 3


def test_repeats_of_a_persona_are_counted_by_the_number_of_defects():
    (chart,) = repeat_charts(subject("live"))

    (row,) = numbers(chart.table)
    assert chart.title.startswith("Repeats: groundedness")
    assert [column.title for column in chart.table.columns[1:-1]] == [str(n) for n in range(11)]
    assert int(row[-1]) == sum(map(int, row[1:-1])) == 3  # three of six personas have a label of all ten dialogues
    assert "are not in it" not in chart.legend


def test_prompts_without_a_repeat_have_no_chart_of_repeats():
    assert repeat_charts(subject("xstest")) == ()


def test_many_repeats_share_columns_from_none_to_all():
    assert vote_columns(3) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert vote_columns(300) == [(0, 0), (1, 75), (76, 150), (151, 224), (225, 299), (300, 300)]
    for n in range(1, 400):
        columns = vote_columns(n)
        assert [votes for first, last in columns for votes in range(first, last + 1)] == list(range(n + 1))
