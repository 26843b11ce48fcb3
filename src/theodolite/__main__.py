"""Lets `python -m theodolite` be the same as `theodolite`."""

from theodolite.cli.entry import program

program()
