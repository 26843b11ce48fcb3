"""Charts over days: positions in a fluid width, values between the ends of the axis, and escaped words."""

from __future__ import annotations

import re

from theodolite.reporting.words.lanes import DAY_TOP, DAY_WIDTH, PLOT, DayChart, Mark, day_bars, day_chart


def chart(**more) -> str:
    facts = {
        "label": "Agreement <b>",
        "low": 0.0,
        "high": 1.0,
        "ticks": [(0.0, "0"), (1.0, "1")],
        "days": [(0.0, "Mon")],
    }
    return day_chart(DayChart(**(facts | more)))


def test_lines_fill_the_stretched_area_and_values_stay_within_the_axis():
    drawn = chart(lines=[("done", [(0.0, 0.0), (0.5, 0.5), (1.0, 2.0)])])

    assert f'points="0.0,{PLOT:.1f} {DAY_WIDTH / 2:.1f},{PLOT / 2:.1f} {DAY_WIDTH:.1f},0.0"' in drawn
    assert 'aria-label="Agreement &lt;b&gt;"' in drawn


def test_a_value_has_its_interval_and_its_text_beside_it():
    drawn = chart(marks=[Mark(x=0.25, value=0.5, text="0.50", low=0.25, high=0.75), Mark(x=0.75, value=1.0, text="1")])

    assert drawn.count('class="interval"') == 1
    assert f'cx="25.00%" cy="{DAY_TOP + PLOT / 2:.1f}"' in drawn
    assert re.findall(r'text-anchor="(start|end)">(?:0.50|1)</text>', drawn) == ["start", "end"]


def test_bars_have_their_counts_and_empty_days_none():
    drawn = day_bars("Sessions per day: 2, 0.", [2, 0], [(0.25, "Mon"), (0.75, "Tue")])

    assert re.findall(r'height="([\d.]+)"/>', drawn) == ["36.0", "0.0"]
    assert re.findall(r">(\w+)</text>", drawn) == ["2", "Mon", "Tue"]
