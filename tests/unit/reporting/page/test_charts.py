import xml.etree.ElementTree as ET

import pytest

from theodolite.reporting.page.charts import CountRow, Part, ShareRow, count_ticks, dots, funnel, histograms, stacked

SVG = "{http://www.w3.org/2000/svg}"


def root_of(drawing):
    return ET.fromstring(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314  # our own drawing


def rects(drawing, kind):
    return [one for one in root_of(drawing).iter(f"{SVG}rect") if one.get("class") == kind]


def texts(drawing):
    return [one.text for one in root_of(drawing).iter(f"{SVG}text")]


def panel(*counts, title="bot"):
    parts = tuple(Part(label=str(number), n=n, opens=f"set{number}") for number, n in enumerate(counts, 1))
    return CountRow(title=title, tint=0, parts=parts)


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(0, (0, 1)), (1, (0, 1)), (7, (0, 2, 4, 6, 8)), (250, (0, 50, 100, 150, 200, 250)), (11, (0, 5, 10, 15))],
)
def test_ticks_are_round_and_reach_the_largest_count(most, ticks):
    assert count_ticks(most) == ticks


def test_columns_of_all_histograms_share_one_scale():
    drawing = histograms([panel(1, 4), panel(2, 0, title="other")], label="severity", unit="dialogues")

    heights = [float(one.get("height")) for one in rects(drawing, "shape")]
    assert heights[1] == pytest.approx(4 * heights[0], abs=0.2)
    assert heights[2] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[3] == 0
    assert "bot, n 5 dialogues" in texts(drawing)
    assert root_of(drawing).get("aria-label") == "severity"


def test_a_column_opens_its_dialogues():
    drawing = histograms([panel(1, 4)], label="severity", unit="dialogues")

    assert [one.get("data-set") for one in root_of(drawing).iter(f"{SVG}g")] == ["set1", "set2"]


def test_parts_of_a_stacked_bar_fill_it():
    drawing = stacked([panel(1, 3, 4)], label="answers")

    widths = [float(one.get("width")) for one in root_of(drawing).iter(f"{SVG}rect") if one.get("height") == "20.0"]
    assert sum(widths) == pytest.approx(900 - 70 - 220, abs=0.3)
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.2)
    assert {"0%", "50%", "100%", "n 8"} <= set(texts(drawing))


def test_stages_of_a_funnel_are_on_the_scale_of_the_plan_and_name_their_losses():
    stages = [Part(label="planned", n=60), Part(label="run", n=58)]

    drawing = funnel(stages, [[Part(label="application timed out", n=2)]], label="funnel")

    planned, run = (float(one.get("width")) for one in rects(drawing, "shape"))
    assert run / planned == pytest.approx(58 / 60, abs=0.001)
    assert "lost: 2 application timed out" in texts(drawing)


def test_a_dot_is_at_its_percentage_of_the_axis():
    row = ShareRow(title="bot", tint=1, low=0.1, value=0.2, high=0.4, text="20.0%", heading="red teaming", opens=3)

    drawing = dots([row], axis=0.5, label="rates")

    (whisker,) = [one for one in root_of(drawing).iter(f"{SVG}line") if one.get("class") == "whisker"]
    start, end = 230, 650
    assert float(whisker.get("x1")) == pytest.approx(start + (end - start) * 0.2)
    assert float(whisker.get("x2")) == pytest.approx(start + (end - start) * 0.8)
    assert {"red teaming", "0%", "10%", "50%"} <= set(texts(drawing))


def test_texts_of_a_study_are_escaped():
    drawing = histograms([panel(1, title="<b>&")], label='"x"', unit="dialogues")

    assert "<b>" not in drawing
    assert root_of(drawing).get("aria-label") == '"x"'
