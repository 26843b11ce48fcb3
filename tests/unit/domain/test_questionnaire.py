from __future__ import annotations

from theodolite.domain.annotation import Answer, Outcome
from theodolite.domain.questionnaire import QuestionnaireResponse


def test_a_response_gives_every_label_that_was_chosen():
    chosen = [Answer(question="kinds", outcome=Outcome.ANSWERED, value=value) for value in ("rude", "wrong")]
    response = QuestionnaireResponse(
        session="s", participant="p", questionnaire="q", instrument_version="v", answers=tuple(chosen)
    )

    assert [answer.value for answer in response.to("kinds")] == ["rude", "wrong"]
    assert response.to("other") == ()
