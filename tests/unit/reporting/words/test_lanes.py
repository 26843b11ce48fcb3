from __future__ import annotations

from theodolite.reporting.words.lanes import Axis, Lane, chart, lane_parts


def test_a_line_with_one_point_is_a_dot():
    parts = "".join(lane_parts(Lane("PEN", 0.0, 1.0, [[(3, 0.5)]]), 0, Axis(6)))

    assert parts.count("<circle") == 1
    assert "<polyline" not in parts


def test_names_are_escaped():
    drawn = chart(
        list(lane_parts(Lane("<b>", 0.0, 1.0, [[(0, 0.0), (1, 1.0)]]), 0, Axis(1))), 1, title="<i>", label='"'
    )

    assert "<b>" not in drawn
    assert "<title>&lt;i&gt;</title>" in drawn
    assert 'aria-label="&quot;"' in drawn
