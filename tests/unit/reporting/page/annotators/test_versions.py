import pytest

from tests.fakes.evidence import groundedness, refusal
from theodolite.domain.application import (
    Application,
    AriaClass,
    BodyFormat,
    Claim,
    ClaimKind,
    CodeVersion,
    HttpEndpoint,
    Mitigation,
    PromptedModel,
    PythonCallable,
    RecordedFile,
)
from theodolite.reporting.page.annotators import application_text, guideline_text


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (RecordedFile(file="a.csv", sha256="ab12", columns={}), "Recorded in the file a.csv\nSHA-256 ab12"),
        (PromptedModel(model="app"), "The model `app` with the system prompt\n(none)"),
        (HttpEndpoint(url="https://x.example/chat"), "POST https://x.example/chat"),
        (HttpEndpoint(url="https://x.example/", body='{"q": 1}', body_as=BodyFormat.FORM), '{"q": 1}, as a form\n'),
        (
            PythonCallable(
                target="bot.py:reply", code=CodeVersion(files={"bot.py": "ab12"}, interpreter="CPython 3.11.7")
            ),
            "bot.py:reply\nRuns on CPython 3.11.7\nFiles, with the beginning of each one's SHA-256\nab12  bot.py",
        ),
        (AriaClass(target="team:Class"), "The class team:Class"),
    ],
    ids=["recorded", "model", "http", "form", "python", "aria"],
)
def test_an_application_states_its_connection(connection, words):
    assert words in application_text(Application(name="x", connection=connection))


def test_claims_and_mitigations_are_listed_with_the_application():
    application = Application(
        name="x",
        connection=PromptedModel(model="app"),
        claims=(Claim(text="knows the plot", kind=ClaimKind.CAPABILITY),),
        mitigations=(Mitigation(name="filter", description="drops endings"),),
    )

    text = application_text(application)

    assert "Capability: knows the plot" in text
    assert "Mitigation filter: drops endings" in text


def test_a_guideline_shows_scale_and_defect_rule_with_its_operator():
    assert "  5: all of it stands there" in guideline_text(groundedness())
    assert "defect: score <= 3" in guideline_text(groundedness())


def test_a_rule_states_its_dialogues():
    assert "withheld: label == full refusal, among dialogues where prompt_kind is safe" in guideline_text(refusal())
