"""Terms of NIST's ARIA programme with this package's terms."""

from __future__ import annotations

from typing import Final

ARIA_TERMS: Final[tuple[tuple[str, str, str], ...]] = (
    ("evaluation", "study", "Everything to be measured and how."),
    ("evaluation series", "series", "Several studies with a published evaluation plan."),
    ("application", "application", "The system under test."),
    ("scenario, proxy", "scenario", "The situation that testers create: tasks, instructions and risks."),
    ("context-of-use", "context of use", "Users, goals, tasks, resources and environment of an application."),
    ("risk", "risk", "A harm that a study looks for."),
    ("guardrail", "guardrail", "A rule about permitted or prohibited content, and its enforcement."),
    ("test packet", "test packet", "Permitted content, prohibited content and reference of a scenario."),
    ("level of testing", "level", "Model testing, red teaming or field testing."),
    ("dialogue", "dialogue", "A complete conversation between a tester and an application."),
    ("adjacency pair", "turn", "One message of the tester and the application's reply."),
    ("session", "session", "One conversation from its start to its end."),
    ("red teamer, field tester", "tester type", "Who writes the tester's messages."),
    ("user type", "persona", "The description of the person that a simulated user plays."),
    ("model testing script", "script", "Messages that are sent as they are written."),
    ("assessment layer", "assessment", "All steps from a dialogue to its labels."),
    ("annotation schema", "annotation schema", "Categories of guidelines, each with its own annotators."),
    ("assessor", "annotator", "A person, a model or a rule that labels dialogues."),
    (
        "annotator calibration",
        "calibration session",
        "A meeting of annotators about a dialogue, with a second vote.",
    ),
    ("questionnaire", "questionnaire", "Questions that testers answer after a session."),
    ("metric", "measure", "A statistic: a rate, a mean, an agreement."),
    ("inter-annotator agreement", "agreement", "How often annotators give the same answer, corrected for chance."),
    ("measurement tree, CoRIx output", "measurement tree", "Answers at the leaves, one summary at each node above."),
    ("CoRIx", "CoRIx", "The Contextual Robustness Index: a measurement tree with one dimension for each kind of risk."),
    ("contextual robustness", "contextual robustness", "The ability to keep a level of functionality across contexts."),
    ("interpret and contextualize", "contextualization", "The description of the context in which a result holds."),
    ("benchmarking", "benchmark", "Prompts and labels that are fixed and compared across systems."),
)
"""ARIA's term, ours, and its meaning."""
