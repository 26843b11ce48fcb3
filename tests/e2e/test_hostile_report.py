"""Hostile texts in a study and in replies never run in the report, opened in a real browser."""

from __future__ import annotations

import json

import pytest

from tests.fakes.terminal import theodolite

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

EVIL = (
    "</textarea></script></style></template><script>window.ran=1</script><svg/onload=window.ran=2>"
    "<img src=x onerror=window.ran=3><iframe srcdoc='<script>parent.ran=4</script>'></iframe>"
    " [press](javascript:window.ran=5) ![see](https://evil.example/x.png) <a href='jAvAsCrIpT:window.ran=6'>x</a>"
    "<base href=//evil.example/><style>*{display:none}</style><form action=//evil.example><button>go</button></form>"
    " {{ 7|add:7 }} <!-- ]]> \u2028 &lt;b&gt;"
)
NAME = "<img src=x onerror=window.ran=7>"

STUDY = {
    "study": "hostile",
    "title": f"Title {EVIL}",
    "applications": {f"app {NAME}": {"kind": "python", "call": "bot.py:answer", "description": EVIL}},
    "scenarios": {f"scenario {NAME}": {"scripts": {f"script {NAME}": [EVIL, "Thanks"]}}},
    "guidelines": {
        f"polite {NAME}": {
            "ask": f"Is it rude? {EVIL}",
            "scale": {f"yes {NAME}": EVIL, "no": "It is not."},
            "defect": f"== yes {NAME}",
        }
    },
    "judges": {
        f"judge {NAME}": {
            "guideline": f"polite {NAME}",
            "rule": {"any": ["script"], "then": f"yes {NAME}", "else": "no"},
        }
    },
}

WATCH = """
window.violations = [];
const note = e => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`);
document.addEventListener("securitypolicyviolation", note);
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a run, created before the browser's event loop starts."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "study.yaml").write_text(json.dumps(STUDY))
    (folder / "bot.py").write_text(f"def answer(prompt):\n    return {EVIL!r} + prompt\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DATABASE_URL", raising=False)
        ended = theodolite("run", folder)
    assert ended.code == 0, ended.said
    return folder / "report.html"


@pytest.fixture
def page(report, browser):
    """The report and its errors."""
    page = browser.new_context().new_page()
    page.wrong = []
    page.on("console", lambda message: page.wrong.append(message.text))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("dialog", lambda dialog: (page.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.wrong.append(request.url) if request.url != report.as_uri() else None)
    page.add_init_script(WATCH)
    page.goto(report.as_uri())
    yield page
    page.context.close()


def test_hostile_texts_never_run_and_never_break_the_policy_of_the_page(page):
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true; }")
    page.locator(".tabs a", has_text="Dialogues").click()
    page.locator("#list li").first.click()
    for button in page.locator("button:visible").all()[:40]:
        button.click(force=True)
    page.wait_for_load_state("load")

    state = page.evaluate("({ran: window.ran ?? null, violations: window.violations})")
    assert (state, page.wrong) == ({"ran": None, "violations": []}, [])
    assert page.locator("a[href^='javascript' i], [onerror], [onload], iframe, base, img[src^='http']").count() == 0


def test_hostile_texts_are_readable(page):
    page.locator(".tabs a", has_text="Dialogues").click()
    page.locator("#list li").first.click()

    assert "<script>window.ran=1</script>" in page.locator("body").inner_text()
    assert page.locator("body").is_visible()
