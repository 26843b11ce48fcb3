"""Gateways: models, applications under test and other tools' files."""
