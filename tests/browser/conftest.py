"""The app in a real Chromium: a server of our own, a page that reaches no other host and logs no error."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_SECONDS = 60
OURS = {"127.0.0.1", "localhost"}
INLINE = {"data", "blob", "about"}
PROBES = ("/_stcore/health", "/_stcore/host-config")
SERVER_FAULTS = ("Traceback (most recent call last)", "Please replace", "Uncaught app execution")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything under tests/browser is marked `browser`."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


# --- the server -------------------------------------------------------------------------------------------------


class Server:
    """`streamlit run app.py` on a free port of this machine, until `stop`."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.port = _free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        options = {
            "server.port": str(self.port),
            "server.address": "127.0.0.1",
            "server.headless": "true",
            "server.fileWatcherType": "none",
            "browser.gatherUsageStats": "false",
        }
        command += [f"--{name}={value}" for name, value in options.items()]
        with log.open("wb") as sink:
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=sink, stderr=subprocess.STDOUT)

    def wait_until_healthy(self) -> None:
        """Returns once the server answers; fails with its log when it ends or takes too long."""
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            if _answers(f"{self.url}/_stcore/health"):
                return
            time.sleep(0.1)
        self.stop()
        pytest.fail(f"the app did not start on {self.url}; its log:\n{self.text()}", pytrace=False)

    def text(self) -> str:
        """What the server printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        """Ends the server."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def stop_and_check(self) -> None:
        """Ends the server and fails if its log holds a traceback or a deprecation of Streamlit's."""
        self.stop()
        if found := [fault for fault in SERVER_FAULTS if fault in self.text()]:
            pytest.fail(f"the server's log has {found}:\n{self.text()}", pytrace=False)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[str]:
    """The address of one running app, shared by the tests of this process; every page is a session of its own."""
    server = Server(tmp_path_factory.mktemp("server") / "streamlit.log")
    server.wait_until_healthy()
    yield server.url
    server.stop_and_check()


@pytest.fixture
def fresh_app_url(tmp_path: Path, browser: Browser) -> Iterator[Callable[[], str]]:
    """`fresh_app_url()` starts a server that nobody has visited and gives its address (for deep links)."""
    servers: list[Server] = []

    def start() -> str:
        server = Server(tmp_path / f"streamlit-{len(servers)}.log")
        servers.append(server)
        server.wait_until_healthy()
        return server.url

    yield start
    for server in servers:
        server.stop()
    for server in servers:
        server.stop_and_check()


# --- the browser ------------------------------------------------------------------------------------------------


@dataclass
class Observed:
    """What the pages of one test did that they must not; a test that means to provoke something clears its list."""

    console_errors: list[str] = field(default_factory=list)
    foreign_requests: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        """Listens to every page that `context` opens."""
        context.on("request", lambda request: self._request(request.url))
        context.on("weberror", lambda error: self.console_errors.append(str(error.error)))
        context.on("page", lambda page: page.on("websocket", lambda socket: self._request(socket.url)))
        context.on("console", lambda message: self._console(message.type, message.text, message.location["url"]))

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in INLINE and parts.hostname not in OURS:
            self.foreign_requests.append(url)

    def _console(self, kind: str, text: str, url: str) -> None:
        # On a deep link Streamlit's client first asks for its own addresses below the page's; the 404 sends it to /.
        probing = "404" in text and urlsplit(url).path.endswith(PROBES)
        if kind == "error" and not probing:
            self.console_errors.append(f"{text} ({url})")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium: the one that CHROMIUM names, else the one that the machine has."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        _no_browser(f"no browser: install chromium or set CHROMIUM to its path (looked for {', '.join(BROWSERS)})")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield chromium
        chromium.close()


def _no_browser(reason: str) -> NoReturn:
    """A reason to skip on somebody's machine, a failure in CI."""
    if os.environ.get("CI"):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.fixture
def observed() -> Observed:
    """The errors and the foreign requests of this test's pages, checked when it ends."""
    return Observed()


@pytest.fixture
def page(browser: Browser, observed: Observed, fresh_app_url: Callable[[], str]) -> Iterator[Page]:
    """A page with storage of its own (`page.context.new_page()` opens more, watched alike).

    It asks for `fresh_app_url` only so as to be closed before those servers stop.
    """
    context = browser.new_context(viewport={"width": 1360, "height": 900}, accept_downloads=True)
    context.set_default_timeout(20_000)
    observed.watch(context)
    yield context.new_page()
    context.close()
    assert observed.foreign_requests == [], "a page asked a foreign host"
    assert observed.console_errors == [], "a page logged an error"
