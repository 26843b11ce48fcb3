"""Where a script answered in place of a model."""

from __future__ import annotations

from theodolite.domain.annotator import Annotator, ModelJudge
from theodolite.domain.application import PromptedModel
from theodolite.domain.evidence import Evidence
from theodolite.domain.persona import PersonaGroup
from theodolite.domain.study import Study


def scripted_names(evidence: Evidence) -> tuple[str, ...]:
    """Return the scripted endpoints of a run, in order of first appearance.

    What the study declares and what dialogues and annotations carry both count,
    so that nothing scripted passes as measured.
    """
    names = list(_declared(evidence.study))
    endpoints, annotators = evidence.answers.stubbed_endpoints, evidence.answers.stubbed_annotators
    judges = {judge.name: _model_of(judge) for judge in evidence.study.annotators}
    names += [*endpoints, *(judges.get(annotator) or annotator for annotator in annotators)]
    return tuple(dict.fromkeys(names))


def _declared(study: Study) -> tuple[str, ...]:
    scripted = {model.name for model in study.models if model.is_scripted}
    used = [app.connection.model for app in study.applications if isinstance(app.connection, PromptedModel)]
    used += [group.model for group in study.personas if _speaks(study, group)]
    used += [scenario.attacker for scenario in study.scenarios]
    used += [judge.labelling.model for judge in study.annotators if isinstance(judge.labelling, ModelJudge)]
    return tuple(name for name in used if name in scripted)


def _speaks(study: Study, group: PersonaGroup) -> bool:
    """Tell whether a group's model writes a prompt in any scenario; one fixed prompt and no more needs no model."""
    met = (scenario for scenario in study.scenarios if not scenario.personas or group.name in scenario.personas)
    return any(not scenario.starter or scenario.turns > 1 for scenario in met)


def _model_of(annotator: Annotator) -> str:
    return annotator.labelling.model if isinstance(annotator.labelling, ModelJudge) else ""
