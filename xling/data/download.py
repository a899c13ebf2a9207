"""Download one file over HTTP: resumed after a cut, retried, checked against its hash, named only when whole.

What the server says is not trusted: an empty body, one of another length than announced, a web page and a redirect that
leaves https are refused. Only a hash can tell other bytes of the same length, so a file without one is not "verified".

The well-known dataset downloader (pooch) starts a cut download from the beginning and knows no mirrors, which a
20 GB dump cannot afford; so this builds on `requests` and adds Range, If-Range and mirrors, nothing else.
While it runs, `<name>.part` holds the bytes and `<name>.part.json` says which version of which address they are.
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
TRIES = 5  # at one address; attempts that bring the file forward do not count
FIRST_WAIT, LONGEST_WAIT = 1.0, 120.0  # seconds
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
HEADERS = {"Accept-Encoding": "identity", "User-Agent": "xling/0.1 (dataset fetch; python-requests)"}
# What no second attempt mends, and what one may; a full disk is neither.
HOPELESS = (requests.exceptions.SSLError, requests.exceptions.InvalidURL, requests.TooManyRedirects)
CUT = (requests.RequestException, urllib3.exceptions.HTTPError, ConnectionError, TimeoutError)
log = logging.getLogger("xling.data.download")


class DownloadError(XlingError):
    """A file that no address gave; running again later may help."""

    exit_code = 1


class RefusedError(Exception):
    """This address will not give the file, or the bytes are not the expected ones."""


class _CutError(Exception):
    """Worth another attempt at the same address, perhaps after the wait that the server asked for."""

    def __init__(self, reason: object, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


@dataclass(frozen=True)
class Expected:
    """What is known about a file beforehand, and who says so."""

    size: int | None = None
    digest: str | None = None
    algorithm: str = "sha256"
    origin: str = "the manifest"


class _Session(requests.Session):
    """A session that never follows a redirect from https to http, where anybody on the way could change the bytes."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        target = super().get_redirect_target(resp)
        if target and resp.url.startswith("https:") and not urljoin(resp.url, target).startswith("https:"):
            raise RefusedError(f"redirects from https to {urljoin(resp.url, target)}: refused")
        return target


def download(urls: Sequence[str], target: Path, expected: Expected) -> str:
    """Download `target` from the first address that gives the expected bytes, and return its sha256."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part, problems = _beside(target, ".part"), []
    with _Session() as session:
        session.headers.update(HEADERS)
        for url in urls:
            try:
                _fetch_whole(session, url, part, expected)
                return _accept(part, target, expected)
            except RefusedError as problem:
                log.warning("%s: %s", url, problem)
                problems.append(f"{url} {problem}")
    raise DownloadError(f"{target}: not fetched: {'; '.join(problems)} (run the same command again to go on)")


def waiting_time(failures: int, asked: float) -> float:
    """Return the seconds to wait after so many failures: doubling, with jitter, and no less than the server asked."""
    return min(LONGEST_WAIT, max(FIRST_WAIT * 2.0 ** (failures - 1) * random.uniform(0.5, 1.0), asked))


def set_aside(path: Path, target: Path) -> Path:
    """Keep a wrong file as `<target>.bad`, for a look at what came instead."""
    return path.replace(_beside(target, ".bad"))


def verify(path: Path, expected: Expected) -> str:
    """Return the sha256 of a file, or raise RefusedError naming what was found and what was expected."""
    size = path.stat().st_size
    if expected.size not in (None, size):
        raise RefusedError(f"has {size:,} bytes, expected {expected.size:,} ({expected.origin})")
    with path.open("rb") as handle:
        found = hashlib.file_digest(handle, expected.algorithm).hexdigest()
    if expected.digest not in (None, found):
        raise RefusedError(f"has {expected.algorithm} {found}, expected {expected.digest} ({expected.origin})")
    return found if expected.algorithm == "sha256" else sha256_of(path)


def listed_hash(url: str, name: str) -> str | None:
    """Return the hash of `name` in a publisher's list of `hash  name` lines, or None where there is none."""
    try:
        with _Session() as session:
            answer = session.get(url, headers=HEADERS, timeout=TIMEOUT)
        answer.raise_for_status()
    except (requests.RequestException, RefusedError) as problem:
        log.warning("%s: no list of hashes (%s)", url, _reason(problem))
        return None
    pairs = (line.split() for line in answer.text.splitlines())
    return next((pair[0].lower() for pair in pairs if len(pair) == 2 and pair[1].lstrip("*") == name), None)


def _accept(part: Path, target: Path, expected: Expected) -> str:
    """Give a whole file its final name if it is the expected one."""
    try:
        sha256 = verify(part, expected)
    except RefusedError as problem:
        raise RefusedError(f"{problem}; the bad file is kept as {set_aside(part, target)}") from None
    finally:
        _beside(part, ".json").unlink(missing_ok=True)
    with part.open("rb") as handle:
        os.fsync(handle.fileno())
    part.replace(target)
    return sha256


def _fetch_whole(session: requests.Session, url: str, part: Path, expected: Expected) -> None:
    """Continue until the file is whole; give up after some attempts in a row that brought nothing new."""
    furthest, failures = (_size(part) if _resumable(part, url, expected) else 0), 0
    while True:
        try:
            return _continue(session, url, part, expected)
        except _CutError as cut:
            failures = 1 if _size(part) >= furthest + CHUNK else failures + 1
            furthest = max(furthest, _size(part))
            if failures >= TRIES:
                raise RefusedError(f"{cut} (gave up after {failures} attempts)") from None
            wait = waiting_time(failures, cut.wait)
            log.info("%s: %s; trying again in %.1f s", url, cut, wait)
            time.sleep(wait)


def _continue(session: requests.Session, url: str, part: Path, expected: Expected) -> None:
    """Ask for what is missing and append it."""
    known = _resumable(part, url, expected)
    have = _size(part) if known else 0
    if known and have == known["total"]:
        return  # whole already: an earlier run ended between the last byte and the renaming
    headers = {"Range": f"bytes={have}-"} if known else {}
    if known and known["validator"]:
        headers["If-Range"] = known["validator"]
    try:
        with session.get(url, headers=headers, stream=True, timeout=TIMEOUT) as answer:
            if answer.status_code == 416 and answer.headers.get("Content-Range") == f"bytes */{have}":
                return
            start, total = _start_and_total(answer, part, known)
            total = total if total is not None else expected.size
            if total is None and not expected.digest and not answer.headers.get("Transfer-Encoding"):
                raise RefusedError("answered without a length: nobody can tell whether the file is whole")
            if total is not None and total > shutil.disk_usage(part.parent).free + _size(part):  # now, not after hours
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(part))
            about = {"url": url, "validator": _validator(answer), "total": total}
            write_json(_beside(part, ".json"), about, sealed=False)
            _append(answer, part, start, total)
    except HOPELESS as problem:
        raise RefusedError(_reason(problem)) from None
    except CUT as problem:
        if not have and "NameResolutionError" in str(problem):  # waiting helps only if the host was there before
            raise RefusedError("has a host name that is not known here (no network?)") from None
        raise _CutError(f"cut off: {_reason(problem)}") from None
    found = _size(part)
    if total is not None and found < total:
        raise _CutError(f"cut off after {found:,} of {total:,} bytes")
    if not found or (total is not None and found > total):
        part.unlink()
        raise RefusedError(f"sent {found:,} bytes, {total:,} expected" if found else "answered with an empty file")


def _append(answer: requests.Response, part: Path, start: int, total: int | None) -> None:
    """Write the bytes as they lie on the server, from byte `start` on."""
    progress = Progress(part.stem, total and total - start, unit="bytes")
    with part.open("ab" if start else "wb") as handle:
        for chunk in answer.raw.stream(CHUNK, decode_content=False):
            handle.write(chunk)
            progress.add(len(chunk))
    progress.finish()


def _resumable(part: Path, url: str, expected: Expected) -> dict[str, Any] | None:
    """Return what is known about the bytes at hand, if more may safely be appended to them.

    That needs the same address, and a validator or a hash: else a file that changed in between would be spliced.
    """
    notes = _beside(part, ".json")
    if not _size(part) or not notes.exists():
        return None
    known: dict[str, Any] = read_json(notes)
    return known if known["url"] == url and (known["validator"] or expected.digest) else None


def _start_and_total(answer: requests.Response, part: Path, known: dict[str, Any] | None) -> tuple[int, int | None]:
    """Return the byte at which the answer begins and the size of the whole file, if the answer is of use."""
    status, headers = answer.status_code, answer.headers
    if status in TRY_AGAIN:
        raise _CutError(f"answered {status}", wait=_asked_to_wait(headers.get("Retry-After", "")))
    if status == 200:
        if headers.get("Content-Type", "").lower().startswith("text/html"):
            raise RefusedError("answered with a web page instead of the file")
        if coding := headers.get("Content-Encoding"):  # nobody asked for one; some servers say gzip of every .tgz
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


def _asked_to_wait(text: str) -> float:
    """Return the seconds that Retry-After asks for, as a number or as a date; 0 for what is neither."""
    try:
        return urllib3.Retry().parse_retry_after(text)
    except urllib3.exceptions.InvalidHeader:
        return 0.0


def _validator(answer: requests.Response) -> str | None:
    """Return what names this version of the file: a strong ETag, else the date of its last change."""
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _reason(problem: BaseException) -> str:
    """Return the innermost cause on one short line: the outer ones repeat it with object addresses."""
    while problem.args and isinstance(problem.args[-1], BaseException):
        problem = problem.args[-1]
    text = " ".join(str(getattr(problem, "reason", None) or problem).split())
    return re.sub(r"<[^>]* at 0x[0-9a-f]+>: |^.*object at 0x[0-9a-f]+>: ", "", text)[:200] or type(problem).__name__


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
