"""A web server on this machine with chosen faults: cuts, wrong ranges, changed files, busy answers."""

import os
import re
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"  # a proxy of the machine must not see the tests


@dataclass
class Served:
    """One file and how it is to be served; the lists are used up one request at a time."""

    body: bytes
    etag: str | None = '"v1"'
    modified: str | None = None
    kind: str = "application/octet-stream"
    cuts: list[int] = field(default_factory=list)  # bytes sent before the connection is dropped
    statuses: list[int] = field(default_factory=list)  # answers given instead of the file
    headers: dict[str, str] = field(default_factory=dict)
    ranges: bool = True
    if_range: bool = True
    say_length: bool = True
    lie: int = 0  # bytes by which an answer to a range begins too early


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it."""

    path: str
    range: str | None
    if_range: str | None


class _Server(ThreadingHTTPServer):
    """A server that prints no traceback when a client hangs up: on a busy machine it lands in the client's test."""

    daemon_threads = False  # closing waits for them, so that none is at work in the next test

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class FaultyServer:
    """Serves `files` by path and remembers what was asked."""

    def __init__(self) -> None:
        self.files: dict[str, Served] = {}
        self.asked: list[Asked] = []
        self.sent = 0
        self.http = _Server(("127.0.0.1", 0), self._handler())

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}{path}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 60.0  # of a read or a write: no client that stalls keeps the server from closing

            def do_GET(self) -> None:
                headers = self.headers
                server.asked.append(Asked(self.path, headers.get("Range"), headers.get("If-Range")))
                served = server.files.get(self.path)
                if served is None:
                    return self.send_error(404)
                if served.statuses and (status := served.statuses.pop(0)) != 200:
                    return self._answer(status, b"", served)
                return self._file(served)

            def _file(self, served: Served) -> None:
                wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
                condition = self.headers.get("If-Range")
                unchanged = condition in (None, served.etag, served.modified) or not served.if_range
                if not wanted or not served.ranges or not unchanged:
                    return self._answer(200, served.body, served)
                start, size = int(wanted[1]), len(served.body)
                if start >= size:
                    return self._answer(416, b"", served, **{"Content-Range": f"bytes */{size}"})
                place = f"bytes {start}-{size - 1}/{size}"
                body = served.body[start - served.lie : size - served.lie]
                return self._answer(206, body, served, **{"Content-Range": place})

            def _answer(self, status: int, body: bytes, served: Served, **extra: str) -> None:
                cut = served.cuts.pop(0) if served.cuts and status in (200, 206) else len(body)
                self.send_response(status)
                self.send_header("Content-Type", served.kind)
                known = {"ETag": served.etag, "Last-Modified": served.modified}
                length = {"Content-Length": str(len(body))} if served.say_length else {}
                for name, value in {**known, **length, **served.headers, **extra}.items():
                    if value is not None:
                        self.send_header(name, value)
                self.end_headers()
                server.sent += len(body[:cut])  # first: the client may be done before the write returns
                self.wfile.write(body[:cut])

            def log_message(self, *_: object) -> None:
                pass

        return Handler
