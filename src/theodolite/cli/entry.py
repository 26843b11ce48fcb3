"""Entry point of the process: handles Ctrl-C before anything else is loaded."""

from __future__ import annotations

import os


def program() -> None:
    """Load the command line and run it."""
    try:
        from theodolite.cli.main import program as command_line

        command_line()
    except KeyboardInterrupt:
        os.write(2, b"\nStopped. Run the same command to resume.\n")
        os._exit(3)
