"""From a tester's session and annotators' answers to the CoRIx tree, and from each leaf back to its sources."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from tests.fakes.annotated_event import answer_everything, queue_token
from tests.integration.web.test_results import hold_dialogue
from theodolite.annotation import assignment, submission
from theodolite.bootstrap.events import event_study_context
from theodolite.bootstrap.files import tree_file_pieces
from theodolite.demo.people import let_begin
from theodolite.domain.findings.number import Estimate
from theodolite.domain.identity import version_of
from theodolite.store.models import AnswerRow, DialogueRow, TurnRow
from theodolite.store.models.annotating import QueueRow
from theodolite.web.annotator.home import records
from theodolite.web.events import event_of, forget_event, publish, server_store, study_in_files
from theodolite.web.senior.home import fill_queue

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]


@pytest.fixture
def series(event, tmp_path):
    """The event with a tree and no qualification test, published; a red teamer has held a dialogue in it."""
    folder = tmp_path / "event"
    shutil.copytree(event.folder, folder, ignore=shutil.ignore_patterns(".theodolite"))
    text = (folder / "study.yaml").read_text().replace("quality_check: 0.1", "quality_check: 0.1, pass_mark: 0")
    (folder / "study.yaml").write_text(f"{text}tree: aria-six-levels\n")
    event.folder = str(folder)
    event.save()
    publish(event, event.made_by, version_of(study_in_files(event).study))
    forget_event(event)
    hold_dialogue(event, "My gran loved it. How does it end?")
    QueueRow.objects.filter(name=event.token).update(name="put away")
    fill_queue(event, by="sami")
    return event


def annotate_all(event, who, choose):
    queue = queue_token(event)
    let_begin(queue, who)
    while work := assignment.next_work(records(), queue, who):
        answer_everything(work.token, who, choose)
        assert not submission.submit(records(), work.token, who).open


def measured(event):
    """Return the findings and the tree file of the series."""
    context = event_study_context(event.folder, Path(settings.WORKSPACE), server_store(), event_of(event).study)
    evidence = context.evidence()
    findings = context.findings(evidence)
    design = evidence.study.trees[0]
    return findings, json.loads("".join(tree_file_pieces(evidence, findings, design)))


def is_traced(leaf, version):
    """Return whether the database has answer, turn, session and application version of a person's leaf."""
    dialogue = DialogueRow.objects.get(label=leaf["session"])
    guideline, _, question = leaf["question"].partition(".")
    by = {"annotation__annotator": leaf["by"], "annotation__guideline": guideline}
    answer = AnswerRow.objects.get(annotation__dialogue=dialogue, question=question, turn=leaf.get("turn"), **by)
    assert (answer.value, answer.outcome) == (leaf.get("value"), leaf.get("outcome", "answered"))
    assert leaf.get("turn") is None or TurnRow.objects.filter(dialogue=dialogue, number=leaf["turn"]).exists()
    return dialogue.application_version == version


def test_every_leaf_links_to_answer_turn_session_and_application_version(series):
    annotate_all(series, "p-1", "yes")
    annotate_all(series, "p-2", "no")

    findings, file = measured(series)

    held = set(DialogueRow.objects.values_list("label", flat=True))
    people = [
        (leaf, one["application_version"])
        for one in file["applications"]
        for leaf in one["leaves"]
        if leaf["kind"] == "person" and leaf["session"] in held
    ]
    assert {leaf["by"][:3] for leaf, _ in people} == {"p-1", "p-2"}
    assert len({leaf["question"] for leaf, _ in people}) > 5
    assert all(is_traced(leaf, version) for leaf, version in people)
    dimensions = {node.node for tree in findings.trees for node in tree.nodes if isinstance(node.result, Estimate)}
    assert "safe" in dimensions
