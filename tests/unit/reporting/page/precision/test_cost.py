from dataclasses import replace

from tests.fakes.evidence import changed, facts, live_evidence
from tests.fakes.report import findings_named, words
from theodolite.domain.run import Spending, SpendingPart, UnitKind
from theodolite.reporting.page.precision import cost_chart
from theodolite.reporting.page.subject import subject_of

DIALOGUES = Spending(calls=100, attempts=100, tokens_in=5000, tokens_out=900, cost_microusd=600_000)
JUDGING = Spending(calls=60, attempts=61, tokens_in=9000, tokens_out=300, cost_microusd=150_000)


def chart_of(parts, total):
    evidence = replace(changed(live_evidence(), spending=total), spending_parts=parts)
    return cost_chart(subject_of(evidence, findings_named("live"), facts(), words()))


def part(stage, spending, **names):
    return SpendingPart(
        application="bot-1.4", stage=stage, annotator=names.get("annotator", ""), model="m-1", spending=spending
    )


def test_parts_and_the_rest_add_up_to_the_run():
    total = DIALOGUES + JUDGING + Spending(calls=7, attempts=7, tokens_in=70)

    chart = chart_of((part(UnitKind.ANNOTATION, JUDGING), part(UnitKind.SESSION, DIALOGUES)), total)

    assert [row[0] for row in chart.table.texts] == ["Dialogues", "Annotation", "Replies to participants"]
    assert [row[3:6] for row in chart.table.texts] == [
        ("100", "5,000", "900"),
        ("60", "9,000", "300"),
        ("7", "70", "0"),
    ]
    assert sum(int(row[3].replace(",", "")) for row in chart.table.texts) == total.calls
    assert [row[6] for row in chart.table.texts] == ["$0.60", "$0.15", "no cost"]


def test_the_bars_share_one_scale_of_dollars():
    chart = chart_of((part(UnitKind.SESSION, DIALOGUES), part(UnitKind.ANNOTATION, JUDGING)), DIALOGUES + JUDGING)
    widths = [float(piece.split('width="')[1].split('"')[0]) for piece in chart.drawing.split('class="shape"')[1:]]

    assert chart.title == "Cost by stage, application and model"
    assert abs(widths[0] / widths[1] - 4) < 0.01
    assert ">$0.6<" in chart.drawing


def test_without_a_price_the_bars_show_tokens_and_a_note_counts_the_calls():
    unpriced = replace(DIALOGUES, cost_microusd=0, unpriced_calls=100)

    chart = chart_of((part(UnitKind.SESSION, unpriced),), unpriced)

    assert chart.title.startswith("Tokens by")
    assert chart.table.texts[0][6] == "cost unknown"
    assert chart.table.notes == ("100 calls without a known price: their cost is in no number.",)


def test_without_a_call_there_is_no_chart():
    assert chart_of((), Spending()) is None
