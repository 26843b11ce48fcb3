"""Questionnaire: answers on ordered scales, described, compared and modelled."""
