"""Drives a real headless Chromium through its debugging pipe: no driver, no port, no further package."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",  # the tests may run as root in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
SECONDS = 60.0
# Networks fail, and others install something at the same time.
APT = ("apt-get", "-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=120")


class Chromium:
    """A browser with one page open; what the page logs and asks of the network is kept."""

    def __init__(self, executable: str, profile: Path) -> None:
        to_browser, self.write_end = _pipe()
        self.read_end, from_browser = _pipe()

        def hand_over() -> None:
            os.dup2(to_browser, 3)  # the browser reads commands from 3 and answers on 4
            os.dup2(from_browser, 4)

        command = [executable, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            command,
            preexec_fn=hand_over,  # noqa: PLW1509
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.session = b"", 0, None
        self.events: list[dict[str, Any]] = []

    def open(self, path: Path) -> None:
        """Open a file in a new page and wait until it has loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        self.wait_for("Page.loadEventFired")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session and not method.startswith("Target."):
            message["sessionId"] = self.session
        _write_all(self.write_end, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return dict(answer["result"])

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:500])
        return answer["result"].get("value")

    def wait_for(self, event: str) -> None:
        """Wait until the page has told of an event."""
        while not any(message["method"] == event for message in self.events):
            self.events.append(self._next())

    def size(self, width: int, height: int, phone: bool = False) -> None:
        """Give the page a screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def colour_scheme(self, name: str) -> None:
        """Let the page believe that its reader prefers light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path: Path, whole: bool = False) -> bytes:
        """Write what the page looks like, or all of it, as a PNG."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return data

    def click(self, selector: str) -> None:
        """Click on the middle of an element with the mouse."""
        box = f"document.querySelector({json.dumps(selector)})"
        self.evaluate(f"{box}.scrollIntoView({{block: 'center', inline: 'center', behavior: 'instant'}})")
        x, y = self.evaluate(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({box}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for, those that hold their own data aside."""
        sent = [m["params"]["request"]["url"] for m in self.events if m["method"] == "Network.requestWillBeSent"]
        return [url for url in sent if not url.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return everything that the browser or the page's script complained of."""
        logged = [m["params"]["entry"]["text"] for m in self.events if m["method"] == "Log.entryAdded"]
        thrown = [json.dumps(m["params"]) for m in self.events if m["method"] == "Runtime.exceptionThrown"]
        said = [json.dumps(m["params"]["args"]) for m in self.events if m["method"] == "Runtime.consoleAPICalled"]
        return logged + thrown + said

    def close(self) -> None:
        """End the browser with all its processes."""
        with contextlib.suppress(OSError, RuntimeError, TimeoutError):
            self.session = None
            self.call("Browser.close")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.buffer += more
        message, self.buffer = self.buffer.split(b"\0", 1)
        return dict(json.loads(message))


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Chromium]:
    """Start Chromium, and end it afterwards."""
    found = Chromium(str(executable()), profile)
    try:
        yield found
    finally:
        found.close()


def executable() -> str | None:
    """Return where Chromium is, if it is installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def install() -> str:
    """Install Debian's package and return what went wrong, nothing if nothing did."""
    if not shutil.which("apt-get"):
        return "no chromium, and no apt-get to install it"
    if os.geteuid() != 0:
        return "no chromium, and only root may install it (apt-get install chromium)"
    quiet = {"env": os.environ | {"DEBIAN_FRONTEND": "noninteractive"}, "capture_output": True, "text": True}
    wanted = [*APT, "install", "--yes", "--no-install-recommends", "chromium"]
    done = subprocess.run(wanted, **quiet, check=False)
    if done.returncode:
        subprocess.run([*APT, "update"], **quiet, check=False)
        done = subprocess.run(wanted, **quiet, check=False)
    return "" if done.returncode == 0 else f"chromium could not be installed: {done.stderr.strip()[-300:]}"


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends are out of the way of 3 and 4."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high[0], high[1]


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
