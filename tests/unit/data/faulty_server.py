"""A web server on this machine with chosen faults: cuts, wrong ranges, changed files, busy answers."""

import os
import re
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"  # a proxy of the machine must not see the tests


@dataclass
class Served:
    """One file and how it is served; the lists are used up one request at a time."""

    body: bytes
    etag: str | None = '"v1"'
    kind: str = "application/octet-stream"
    cuts: list[int] = field(default_factory=list)  # bytes sent before the connection is dropped
    statuses: list[int] = field(default_factory=list)  # answers given instead of the file
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    if_range: bool = True
    say_length: bool = True
    lie: int = 0  # bytes by which an answer to a range begins too early


class Asked(NamedTuple):
    """One request as the server saw it."""

    path: str
    range: str | None
    if_range: str | None


class FaultyServer(ThreadingHTTPServer):
    """Serves `files` by path and remembers what was asked."""

    daemon_threads = False  # closing waits for them, so that none is at work in the next test

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, Served] = {}
        self.asked: list[Asked] = []
        self.sent = 0

    def url(self, path):
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), ConnectionError):  # a client that hangs up is no error of a test
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: FaultyServer
    timeout = 60.0  # of a read or a write: no client that stalls keeps the server from closing

    def do_GET(self):
        wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
        self.server.asked.append(Asked(self.path, wanted, condition))
        served = self.server.files.get(self.path)
        if served is None:
            return self.send_error(404)
        if served.statuses and (status := served.statuses.pop(0)) != 200:
            return self._answer(status, b"", served)
        known = condition in (None, served.etag, served.headers.get("Last-Modified")) or not served.if_range
        found = re.fullmatch(r"bytes=(\d+)-", wanted or "")
        if not (found and served.ranges and known):
            return self._answer(200, served.body, served)
        start, size = int(found[1]), len(served.body)
        if start >= size:
            return self._answer(416, b"", served, **{"Content-Range": f"bytes */{size}"})
        body = served.body[start - served.lie : size - served.lie]
        return self._answer(206, body, served, **{"Content-Range": f"bytes {start}-{size - 1}/{size}"})

    def _answer(self, status, body, served, **extra):
        cut = served.cuts.pop(0) if served.cuts and status in (200, 206) else len(body)
        length = str(len(body)) if served.say_length else None
        usual = {"Content-Type": served.kind, "ETag": served.etag, "Content-Length": length}
        self.send_response(status)
        for name, value in {**usual, **served.headers, **extra}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.server.sent += len(body[:cut])  # first: the client may be done before the write returns
        self.wfile.write(body[:cut])

    def log_message(self, *_):
        pass
