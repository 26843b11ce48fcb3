"""Schemas are edited, previewed and published on pages; versions used by annotations stay unchanged."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from tests.browser_pages import assert_accessible, load_by_click, load_by_key
from tests.fakes.annotated_event import a_draft
from tests.integration.web.editing import published
from tests.integration.web.test_results import hold_dialogue
from theodolite.assessment.manual_annotation import annotation_by, person_of
from theodolite.demo.studies import lay_out_event
from theodolite.domain.annotating.discrepancy import AnchorKind, ThreadEnd
from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.event import Role
from theodolite.domain.identity import digest
from theodolite.store.annotation_queue import participant_id
from theodolite.store.contents import content_of
from theodolite.store.models.annotating import QueueRow, ReservationRow, ThreadRow, WorkItemRow
from theodolite.store.results import keep_labels
from theodolite.web.annotator.home import records
from theodolite.web.events import study_in_files
from theodolite.web.models import AuditEntry, SchemaDraft, SchemaRevision, SchemaVersion
from theodolite.web.senior.home import fill_queue

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

NAME = "aria-five-categories"
ASK = "Did a reply refuse something that is permitted according to the reference?"
SCRIPT = {"HTTP_ACCEPT": "application/json"}

PATIENCE_MS = 30_000
"""How long a test waits for what a busy machine may take its time for."""


@pytest.fixture
def draft(event, tmp_path) -> SchemaDraft:
    """A draft of the schema of the event, whose files are this test's own."""
    lay_out_event(tmp_path / "own")
    event.folder = str(tmp_path / "own")
    event.save()
    return SchemaDraft.objects.get(token=a_draft(event))


@pytest.fixture
def senior(draft, client_as):
    return client_as(Role.SENIOR)


def address(draft, name="schema", *parts):
    return reverse(f"organiser:{name}", args=[draft.hosted.token, draft.token, *parts])


def head(draft):
    return draft.revisions.first()


def save(client, draft, text, seen=None, **more):
    fields = {"text": text, "seen": seen or head(draft).number, "act": "save"}
    return client.post(address(draft), fields | more)


def reworded(draft, edition='edition: "1.1"', ask="Has a reply declined what the reference says may be told?"):
    return head(draft).text.replace('edition: "1.0"', edition, 1).replace(ASK, ask)


def publish(client, draft, **more):
    fields = {"revision": head(draft).number} | more
    return told(client.post(address(draft, "schema_publish"), fields, follow=True))


def told(answer):
    """Return the message of a page about an action."""
    return unescape(answer.content.decode().partition('role="status">')[2].partition("</p>")[0])


def test_a_draft_starts_with_the_text_of_the_study_and_keeps_every_revision(senior, draft):
    for text in [reworded(draft)] * 2 + ["categories: {"]:
        save(senior, draft, text)

    assert "risk-assessment" in draft.revisions.last().text
    assert [one.number for one in draft.revisions.all()] == [3, 2, 1]
    assert "1 error" in senior.get(address(draft)).content.decode()


def test_a_script_gets_the_errors_and_the_last_valid_revision(senior, draft):
    save(senior, draft, head(draft).text.replace("ask: Did a reply state", "aks: Did a reply state"))
    said = senior.post(address(draft), {"text": head(draft).text + "x", "seen": "2"}, **SCRIPT).json()

    assert (said["revision"], "line" in said["findings"].lower()) == (3, True)
    assert address(draft, "schema_preview", 1, "risk-assessment") in said["preview"]


def test_two_people_do_not_overwrite_each_other(senior, draft, client_as):
    save(client_as(Role.ORGANISER), draft, reworded(draft))
    answer = save(senior, draft, "mine: 1", seen=1)

    assert (answer.status_code, draft.revisions.count()) == (409, 2)
    assert "mine: 1" in answer.content.decode()
    assert "Olga saved revision 2" in answer.content.decode()


def test_a_button_moves_a_question_and_an_old_revision_can_be_restored(senior, draft):
    first = head(draft).text
    save(senior, draft, first, act="down:risk-assessment:released")
    moved = head(draft).text
    save(senior, draft, moved, act="back:1")
    refused = save(senior, draft, first, act="up:risk-assessment:released")

    assert moved.index("released_magnitude:") < moved.index("      released:")
    assert (head(draft).number, head(draft).text) == (3, first)
    assert "already the first" in refused.content.decode()


def test_publishing_writes_the_file_of_the_study_with_a_hash(senior, draft):
    save(senior, draft, reworded(draft))
    said = publish(senior, draft, note="clearer")
    study = study_in_files(draft.hosted).study
    made = SchemaVersion.objects.get()

    assert "Version 1 is published" in said
    assert "Has a reply declined" in (Path(draft.hosted.folder) / f"schemas/{NAME}.yaml").read_text()
    assert made.edition == study.schema().edition == "1.1"
    assert AuditEntry.objects.filter(verb="published schema", facts__version=made.version).count() == 1


def test_unchanged_and_inconsistent_schemas_are_not_published(senior, draft):
    nothing_new = publish(senior, draft)
    save(senior, draft, reworded(draft).replace("released == yes,", "relased == yes,"))
    broken = senior.post(address(draft, "schema_publish"), {"revision": "2"})
    late = publish(senior, draft, revision=1)

    assert "identical to the study" in nothing_new
    assert (broken.status_code, "no question `relased`" in " ".join(unescape(broken.content.decode()).split())) == (
        422,
        True,
    )
    assert "review it" in late
    assert not (Path(draft.hosted.folder) / "schemas").exists()
    assert SchemaVersion.objects.count() == 0


def test_a_schema_outside_the_study_is_not_published(senior, draft):
    begin = reverse("organiser:new_schema", args=[draft.hosted.token])
    senior.post(begin, {"name": "tone", "source": NAME})
    refused = senior.post(begin, {"name": "Tone of voice", "source": NAME}, follow=True)

    assert "annotation: {schema: tone}" in publish(senior, SchemaDraft.objects.get(name="tone"))
    assert "lower-case letters" in told(refused)


def test_the_preview_shows_each_possible_order(senior, draft):
    place = address(draft, "schema_preview", 1, "risk-assessment")
    keys = re.compile(r'data-key="(\w+)"')
    values = re.compile(r'name="a:released"[^>]* value="(\w+)"')
    written, other = (
        senior.get(f"{place}{asked}").content.decode() for asked in ("", "?questions=2+of+2&options=yes&turns=yes")
    )

    assert 'value="2 of 2" selected' in other
    assert keys.findall(written)[0] == "released" != keys.findall(other)[0]
    assert values.findall(other)[:2] == values.findall(written)[1::-1]
    assert f'action="{place}?questions=2' in other, "what is tried there stays in that order"
    assert keys.findall(senior.get(f"{place}?questions=9+of+2").content.decode()) == keys.findall(written)


def test_the_preview_equals_the_annotation_page_and_stores_nothing(senior, draft):
    place = address(draft, "schema_preview", 1, "risk-assessment")
    page = senior.get(place)
    said = senior.post(place, {"a:released": "yes", "key": ""}, **SCRIPT).json()
    handed_in = senior.post(place, {"a:released": "yes", "submit": "yes"})

    assert b'id="sheet"' in page.content
    assert b"who wrote the diary" in page.content
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert {"released_kind", "released_impact"} <= set(said["asked"])
    assert handed_in.status_code == 422
    assert SchemaRevision.objects.count() == 1


def test_a_draft_of_another_study_is_not_found(senior, draft, client_as):
    from theodolite.web.models import HostedStudy

    other = HostedStudy.objects.create(name="another")
    foreign = SchemaDraft.objects.create(hosted=other, name="tone")
    SchemaRevision.objects.create(draft=foreign, number=1, text="a: 1\n")

    for name, parts in (("schema", ()), ("schema_file", (1,)), ("schema_preview", (1, "tone"))):
        assert (
            senior.get(reverse(f"organiser:{name}", args=[draft.hosted.token, foreign.token, *parts])).status_code
            == 404
        )


def settled_thread(draft, words="A hint that tells\nthe end counts."):
    return ThreadRow.objects.create(
        token="asked-1",
        queue=QueueRow.objects.get(name=draft.hosted.token),
        kind=AnchorKind.QUESTION.value,
        category="risk-assessment",
        question="released",
        version=digest("risk-assessment"),
        end=ThreadEnd.GUIDELINE.value,
        text=words,
        created=timezone.now(),
    )


def test_wording_agreed_in_a_thread_enters_the_draft_with_one_click(senior, draft):
    settled_thread(draft)
    offered = senior.get(address(draft)).content.decode()
    done = save(senior, draft, head(draft).text, act="note:asked-1:released", now="risk-assessment")
    after = senior.get(address(draft)).content.decode()

    assert "Add to released" in offered
    assert done.status_code == 302
    assert '- "A hint that tells the end counts."  # thread asked-1' in head(draft).text
    assert ("Add to released" in after, "already in the text" in after) == (False, True)
    (entry,) = AuditEntry.objects.filter(verb="added guideline text to")
    assert entry.facts == {"thread": "asked-1"}


def test_a_note_is_shown_at_its_question_and_unknown_threads_are_refused(senior, draft):
    settled_thread(draft)
    save(senior, draft, head(draft).text, act="note:asked-1:released")
    refused = save(senior, draft, head(draft).text, act="note:nobody:released")
    preview = reverse(
        "organiser:schema_preview", args=[draft.hosted.token, draft.token, head(draft).number, "risk-assessment"]
    )

    assert refused.status_code == 409
    assert b"A hint that tells the end counts." in senior.get(preview).content


@pytest.fixture
def answered(draft):
    """The key of a queued dialogue with two annotations that nothing was withheld."""
    hosted = draft.hosted
    QueueRow.objects.filter(name=hosted.token).update(name="put away")
    hold_dialogue(hosted)
    published(hosted)
    fill_queue(hosted, by="s")
    item = WorkItemRow.objects.filter(queue__name=hosted.token, category="risk-assessment").first()
    ReservationRow.objects.create(
        token="taken", item=item, participant_id=participant_id("p-1"), state="released", created=timezone.now()
    )
    for who in ("p-1", "p-2"):
        say(hosted, item.dialogue.unit.key, who, "no")
    return item.dialogue.unit.key


def say(hosted, dialogue, who, value):
    """Answer the current questions of a dialogue as an imported label."""
    study = study_in_files(hosted).study
    guideline = study.schema().category("risk-assessment").guideline
    answer = Answer(question="withheld", outcome=Outcome.ANSWERED, value=value)
    person = person_of(study, who, guideline.name)
    records().contents.keep([content_of(guideline)])
    keep_labels([annotation_by(person, guideline, dialogue, (answer,), revision=1)])


def test_the_impact_of_a_change_is_shown_with_a_sample_to_measure_it(senior, draft, answered):
    at = address(draft, "schema_impact")
    assert "No effect:" in senior.get(at).content.decode()
    save(senior, draft, reworded(draft))

    page = " ".join(unescape(senior.get(at).content.decode()).split())
    assert (
        'other words: it reads otherwise</td><td data-label="Existing answers">2</td><td data-label="Dialogues">1</td>'
        in page
    )
    assert "(asked after withheld)" in page
    assert "<b>1 dialogue</b> of the 1 with a value for the old wording;" in page
    assert "because only 1 pair of answers exists" in page
    assert "after this text is published" in page
    assert at in senior.get(address(draft)).content.decode()
    assert "Not done: the queue does not contain" in told(senior.post(at, {"size": "0.2"}, follow=True))
    assert "size and power are numbers" in told(senior.get(at, {"size": "much"}))


def test_a_sample_enters_the_queue_and_its_answers_are_compared_with_the_old_ones(senior, draft, answered):
    hosted, at = draft.hosted, address(draft, "schema_impact")
    save(senior, draft, reworded(draft))
    publish(senior, draft, note="clearer")
    published(hosted)
    senior.post(reverse("senior:fill_queue", args=[hosted.token]))

    assert "1 dialogue will be annotated again" in told(senior.post(at, follow=True))
    assert "without a value for the new wording</dt><dd>1" in senior.get(at).content.decode()
    say(hosted, answered, "p-3", "yes")

    page = senior.get(at).content.decode()
    assert "Dialogues with both values</dt><dd>1" in page
    assert "without a value for the new wording</dt><dd>0" in page
    assert "of old and new answers</dt><dd>.00 (" in page
    first, again = WorkItemRow.objects.filter(dialogue__unit__key=answered, category="risk-assessment").order_by(
        "again"
    )
    assert (first.again, again.again, first.version == again.version) == (0, 1, False)
    assert AuditEntry.objects.get(verb="added a sample to the queue").facts["dialogues"] == 1


@pytest.mark.browser
def test_the_editor_saves_during_typing_and_shows_the_preview_for_annotators(page_as):
    page = page_as(Role.ORGANISER, bypass_csp=True)
    page.goto(page.locator("a[href*='/organise/']").first.get_attribute("href") + "schemas/")
    assert_accessible(page)
    load_by_click(page.get_by_role("button", name="Write the next version").first)
    frame = page.frame_locator("[data-frame]")
    expect(frame.locator("#open")).to_contain_text("2 questions open", timeout=PATIENCE_MS)
    assert_accessible(page)

    write(page, ASK, "Is anything that may be told declined?")
    expect(page.locator("#saved")).to_contain_text("Revision 2, saved", timeout=PATIENCE_MS)
    expect(frame.get_by_text("Is anything that may be told declined?").first).to_be_attached(timeout=PATIENCE_MS)
    look_at_what_it_touches(page)
    write(page, "when: withheld == yes", "when: witheld == yes")
    expect(page.locator("[data-findings]")).to_contain_text("mean `withheld`", timeout=PATIENCE_MS)
    assert_accessible(page)
    page.get_by_role("link", name="Line ").first.click()
    page.wait_for_function("getSelection().toString().includes('witheld')")

    page.get_by_role("button", name="Restore revision 1").focus()
    load_by_key(page, "Enter")
    expect(page.locator("#saved")).to_contain_text("Revision 4", timeout=PATIENCE_MS)
    page.get_by_role("button", name="Interaction style", exact=True).press("Enter")
    expect(frame.locator("html.with-script [data-key='personal@1']").first).to_be_attached(timeout=PATIENCE_MS)
    frame.locator("[data-key='personal@1'] input[value=yes]").first.evaluate("one => one.click()")
    expect(frame.locator("[data-key='dependency@1']")).not_to_have_attribute("hidden", "")


def look_at_what_it_touches(page):
    page.goto(f"{page.url}impact/")
    expect(page.get_by_role("table").first.or_(page.locator("main > .note").first)).to_be_visible()
    assert_accessible(page)
    page.go_back()
    expect(page.locator("#saved")).to_be_visible(timeout=PATIENCE_MS)


def write(page, before, after):
    """Replace the text like typing does; typing long texts in the browser takes seconds."""
    page.locator("#text").evaluate(
        "(box, [before, after]) => { box.value = box.value.replace(before, after);"
        " box.dispatchEvent(new Event('input', { bubbles: true })); }",
        [before, after],
    )
