"""Lets `python -m theodolite` be the same as `theodolite`."""

from theodolite.cli.main import program

program()
