"""Download one file over HTTP: resume after an interruption, retry, check the hash, and rename only a complete file.

The server is not trusted: an empty body, a body of another length than announced, a web page and a redirect away from
https are refused. Only a hash detects wrong bytes of the right length, so a file without a hash is never "verified".

The common downloader for datasets, pooch, restarts an interrupted download from the beginning and has no mirrors, which
is too slow for a 20 GB dump. This module uses `requests` and adds only Range, If-Range and mirrors.
During a download, `<name>.part` holds the bytes, and `<name>.part.json` the address and version of the file.
"""

import errno
import hashlib
import logging
import os
import random
import re
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests
import urllib3

from xling.core.errors import XlingError
from xling.core.io import read_json, sha256_of, write_json
from xling.core.log import Progress

CHUNK = 1 << 20
TIMEOUT = (20, 60)  # seconds to connect, seconds without a byte
TRIES = 5  # failed attempts in a row at one address; an attempt that makes progress resets the count
FIRST_WAIT, LONGEST_WAIT = 1.0, 120.0  # seconds
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "xling/0.1 (dataset fetch; python-requests)"}
# Errors that are permanent, and errors that a second attempt may fix; a full disk is in neither group.
HOPELESS = (requests.exceptions.SSLError, requests.exceptions.InvalidURL, requests.TooManyRedirects)
CUT = (requests.RequestException, urllib3.exceptions.HTTPError, ConnectionError, TimeoutError)
log = logging.getLogger("xling.data.download")


class DownloadError(XlingError):
    """No address provided the file; a later run may succeed."""

    exit_code = 1


class RefusedError(Exception):
    """This address does not provide the file, or its bytes are not as expected."""


class _CutError(Exception):
    """A failure that justifies another attempt at the same address; `wait` is the delay that the server asked for."""

    def __init__(self, reason: object, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class Expected:
    """The expected size and hash of a file, and the origin of these values."""

    size: int | None = None
    digest: str | None = None
    algorithm: str = "sha256"
    origin: str = "the manifest"


class _Session(requests.Session):
    """A session that never follows a redirect from https to http, because http data can be changed in transit."""

    def __init__(self) -> None:
        super().__init__()
        self.headers.update(HEADERS)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target and resp.url.startswith("https:") and not urljoin(resp.url, target).startswith("https:"):
            raise RefusedError(f"redirects from https to {urljoin(resp.url, target)}: refused")
        return target


def download(urls: Sequence[str], target: Path, expected: Expected) -> str:
    """Download `target` from the first address that provides the expected bytes, and return its sha256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part, problems = Path(f"{target}.part"), []
    with _Session() as session:
        for url in urls:
            try:
                _fetch_whole(session, url, part, expected)
                return _accept(part, target, expected)
            except RefusedError as problem:
                log.warning("%s: %s", url, problem)
                problems.append(f"{url} {problem}")
    raise DownloadError(f"{target}: not fetched: {'; '.join(problems)} (run the same command again to go on)")


def set_aside(path: Path, target: Path) -> Path:
    """Rename a wrong file to `<target>.bad`, so the user can inspect it."""
    return path.replace(f"{target}.bad")


def verify(path: Path, expected: Expected) -> str:
    """Return the sha256 of a file, or raise RefusedError if its size or hash is not as expected."""
    size = path.stat().st_size
    if expected.size not in (None, size):
        raise RefusedError(f"has {size:,} bytes, expected {expected.size:,} ({expected.origin})")
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, expected.algorithm).hexdigest()
    if expected.digest not in (None, found):
        raise RefusedError(f"has {expected.algorithm} {found}, expected {expected.digest} ({expected.origin})")
    return found if expected.algorithm == "sha256" else sha256_of(path)


def listed_hash(url: str, name: str) -> str | None:
    """Return the hash of `name` in a publisher's list of `hash  name` lines, or None if it is not available."""
    try:
        with _Session() as session:
            answer = session.get(url, timeout=TIMEOUT)
        answer.raise_for_status()
    except (requests.RequestException, RefusedError) as problem:
        log.warning("%s: no list of hashes (%s)", url, _reason(problem))
        return None
    pairs = (line.split() for line in answer.text.splitlines())
    return next((pair[0].lower() for pair in pairs if len(pair) == 2 and pair[1].lstrip("*") == name), None)


def _accept(part: Path, target: Path, expected: Expected) -> str:
    """Rename a complete file to its final name if it is as expected, and return its sha256."""
    try:
        sha256 = verify(part, expected)
    except RefusedError as problem:
        raise RefusedError(f"{problem}; the bad file is kept as {set_aside(part, target)}") from None
    finally:
        Path(f"{part}.json").unlink(missing_ok=True)
    with part.open("rb") as handle:
        os.fsync(handle.fileno())
    part.replace(target)
    return sha256


def _fetch_whole(session: requests.Session, url: str, part: Path, expected: Expected) -> None:
    """Continue until the file is complete; give up after TRIES attempts in a row without progress."""
    furthest, failures = (_size(part) if _resumable(part, url, expected) else 0), 0
    while True:
        try:
            return _continue(session, url, part, expected)
        except _CutError as cut:
            failures = 1 if _size(part) >= furthest + CHUNK else failures + 1
            furthest = max(furthest, _size(part))
            if failures >= TRIES:
                raise RefusedError(f"{cut} (gave up after {failures} attempts)") from None
            doubled = FIRST_WAIT * 2.0 ** (failures - 1) * random.uniform(0.5, 1.0)
            wait = min(LONGEST_WAIT, max(doubled, cut.wait))
            log.info("%s: %s; trying again in %.1f s", url, cut, wait)
            time.sleep(wait)


def _continue(session: requests.Session, url: str, part: Path, expected: Expected) -> None:
    """Request the missing bytes and append them, without decoding them."""
    known = _resumable(part, url, expected)
    have = _size(part) if known else 0
    if known and have == known["total"]:
        return  # complete already: an earlier run ended between the last byte and the renaming
    headers = {"Range": f"bytes={have}-", "If-Range": known["validator"]} if known else {}  # None: not sent
    try:
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if answer.status_code == 416 and answer.headers.get("Content-Range") == f"bytes */{have}":
                return
            start, total = _start_and_total(answer, part, known)
            total = total if total is not None else expected.size
            if total is None and not expected.digest and not answer.headers.get("Transfer-Encoding"):
                raise RefusedError("answered without a length: nobody can tell whether the file is whole")
            if total is not None and total > shutil.disk_usage(part.parent).free + _size(part):  # fail early
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(part))
            about = {"url": url, "validator": _validator(answer), "total": total}
            write_json(Path(f"{part}.json"), about, sealed=False)
            progress = Progress(part.stem, total and total - start, unit="bytes")
            with part.open("ab" if start else "wb") as handle:
                for chunk in answer.raw.stream(CHUNK, decode_content=False):
                    handle.write(chunk)
                    progress.add(len(chunk))
            progress.finish()
    except HOPELESS as problem:
        raise RefusedError(_reason(problem)) from None
    except CUT as problem:
        if not have and "NameResolutionError" in str(problem):  # retry only if the host was reachable before
            raise RefusedError("has a host name that is not known here (no network?)") from None
        raise _CutError(f"cut off: {_reason(problem)}") from None
    found = _size(part)
    if total is not None and found < total:
        raise _CutError(f"cut off after {found:,} of {total:,} bytes")
    if not found or (total is not None and found > total):
        part.unlink()
        raise RefusedError(f"sent {found:,} bytes, {total:,} expected" if found else "answered with an empty file")


def _resumable(part: Path, url: str, expected: Expected) -> dict[str, Any] | None:
    """Return the notes on the bytes in `part` if the download can safely continue, otherwise None.

    That requires the same address, and a validator or a hash. Otherwise parts of two file versions could be joined.
    """
    notes = Path(f"{part}.json")
    if not _size(part) or not notes.exists():
        return None
    known: dict[str, Any] = read_json(notes)
    return known if known["url"] == url and (known["validator"] or expected.digest) else None


def _start_and_total(answer: requests.Response, part: Path, known: dict[str, Any] | None) -> tuple[int, int | None]:
    """Return the first byte of a usable response and the size of the whole file; raise an error for other responses."""
    status, headers = answer.status_code, answer.headers
    if status in TRY_AGAIN:
        wait = 0.0
        with suppress(urllib3.exceptions.InvalidHeader):
            wait = urllib3.Retry().parse_retry_after(headers.get("Retry-After", ""))  # a number or a date
        raise _CutError(f"answered {status}", wait)
    if status == 200:
        if headers.get("Content-Type", "").lower().startswith("text/html"):
            raise RefusedError("answered with a web page instead of the file")
        if coding := headers.get("Content-Encoding"):  # not requested; some servers report gzip for every .tgz
            log.warning("%s: sent with Content-Encoding %s; its bytes are kept as they are", answer.url, coding)
        length = headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() else None
    if status not in (206, 416):
        raise RefusedError(f"answered {status} {answer.reason}")
    content = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", headers.get("Content-Range", ""))
    if status == 206 and content and known and int(content[1]) == _size(part):
        total, versions = int(content[2]), {known["validator"], _validator(answer)} - {None}
        if known["total"] in (None, total) and len(versions) < 2:  # some servers ignore If-Range
            return _size(part), total
    part.unlink(missing_ok=True)
    raise _CutError("the file has changed since the cut; starting again")


def _validator(answer: requests.Response) -> str | None:
    """Return the identifier of this version of the file: a strong ETag, otherwise the Last-Modified date."""
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _reason(problem: BaseException) -> str:
    """Return the innermost cause of an error on one short line; outer errors repeat it with object addresses."""
    while problem.args and isinstance(problem.args[-1], BaseException):
        problem = problem.args[-1]
    text = " ".join(str(getattr(problem, "reason", None) or problem).split())
    return re.sub(r"<[^>]* at 0x[0-9a-f]+>: |^.*object at 0x[0-9a-f]+>: ", "", text)[:200] or type(problem).__name__


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
