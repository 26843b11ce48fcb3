from __future__ import annotations

from theodolite.measurement.answer_arrays import AnnotationFacts, AnswerGroup, QueueAnswers

ANNOTATIONS = {
    7: AnnotationFacts("ann", 1, 10.0),
    8: AnnotationFacts("ben", 1, 20.0),
    9: AnnotationFacts("ann", 2, 30.0),
}
FIRST = (AnswerGroup("safe", 0, "yes", 1, "7,8"), AnswerGroup("tone", 2, None, 1, "8"))
NEXT = (AnswerGroup("safe", 0, "no", 1, "9"), AnswerGroup("safe", 0, "yes", 2, "9"))


def told(columns):
    return [
        (columns.names[who], dialogue, turn, columns.labels[value] if value >= 0 else None, at)
        for who, dialogue, turn, value, at in zip(
            columns.annotator, columns.dialogue, columns.turn, columns.value, columns.at, strict=True
        )
    ]


def test_answers_are_returned_by_question_with_annotator_unit_and_time():
    found = QueueAnswers().grown(FIRST).arrays(ANNOTATIONS)

    assert told(found["safe"]) == [("ann", 1, 0, "yes", 10.0), ("ben", 1, 0, "yes", 20.0)]
    assert told(found["tone"]) == [("ben", 1, 2, None, 20.0)]


def test_an_extended_table_equals_one_built_at_once():
    grown = QueueAnswers().grown(FIRST).grown(NEXT)
    whole = QueueAnswers().grown((*FIRST, *NEXT))

    assert grown == whole
    assert len(grown) == 5
    assert QueueAnswers().grown(()).arrays(ANNOTATIONS) == {}


def test_superseded_annotations_and_repetitions_are_excluded():
    table = QueueAnswers().grown((*FIRST, *NEXT))

    first = table.arrays({8: ANNOTATIONS[8], 9: ANNOTATIONS[9]})
    again = table.arrays(ANNOTATIONS, replicates=2)

    assert told(first["safe"]) == [("ben", 1, 0, "yes", 20.0), ("ann", 2, 0, "no", 30.0)]
    assert (len(again["safe"]), table.replicates) == (4, 2)
    assert table.arrays({}) == {}
    assert table.arrays({5: ANNOTATIONS[7]}) == {}


def test_the_same_turn_of_two_dialogues_is_two_units():
    rows = (AnswerGroup("tone", 1, "x", 1, "7,8,9"), AnswerGroup("tone", 2, "x", 1, "7"))

    units = QueueAnswers().grown(rows).arrays(ANNOTATIONS)["tone"].unit

    assert units[0] == units[1]
    assert len(set(units.tolist())) == 3
