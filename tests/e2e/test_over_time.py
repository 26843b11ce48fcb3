"""The pages of `monitor` and `compare` in a browser: accessible, without requests."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.e2e.conftest import Visit
from tests.fakes.report import words
from tests.unit.measurement.series_of_scores import series
from tests.unit.measurement.test_sample_size import ruling, side
from theodolite.domain.monitoring import WatchRules
from theodolite.measurement.monitoring import watch_history
from theodolite.measurement.sample_size import compare_sides
from theodolite.reporting.comparing.text import comparison_html
from theodolite.reporting.monitoring.page import watch_html

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    watch = watch_history(series("judge"), WatchRules(reference=300))
    comparison = compare_sides(side("a", ruling(set(range(9)))), side("b", ruling({7, 8, 20})))
    for name, text in (("monitor", watch_html(watch, words())), ("compare", comparison_html([comparison], {}))):
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["monitor", "compare"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_page_is_accessible_makes_no_request_and_fits_the_screen(browser, pages, name, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    visit = Visit(page)
    page.goto((pages / f"{name}.html").as_uri())

    found = Axe().run(page)

    assert found.violations_count == 0, found.generate_report()
    assert visit.complaints == []
    assert len(visit.requests) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
