"""`ragdash app`: open the pages in a browser."""

from __future__ import annotations

import argparse
import subprocess
import sys

from ragdash.bundle import bundled


def add_arguments(parser: argparse.ArgumentParser, _: str) -> None:
    """The arguments of `ragdash app`."""
    parser.add_argument("--port", type=int, default=8501, help="where the server listens (default 8501)")
    parser.add_argument("--address", default="localhost", help="who may connect (default localhost: this machine)")
    parser.add_argument("--no-browser", action="store_true", help="start the server, open nothing")


def command(options: argparse.Namespace) -> list[str]:
    """What is run: Streamlit, in this Python, on the app of this installation."""
    given = {
        "server.port": str(options.port),
        "server.address": options.address,
        "server.headless": str(options.no_browser).lower(),
    }
    app = str(bundled("app.py"))
    return [sys.executable, "-m", "streamlit", "run", app, *(f"--{name}={value}" for name, value in given.items())]


def run(options: argparse.Namespace) -> int:
    """Start the server and wait until it ends; Ctrl-C ends it."""
    server = subprocess.Popen(command(options))
    try:
        return server.wait()
    except KeyboardInterrupt:
        server.terminate()
        server.wait()
        return 0
