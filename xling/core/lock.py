"""A lock file with a heartbeat, which admits one process per resume directory, also across the nodes of a cluster.

The holder renews the file regularly; a lock that has not been renewed for a while belongs to a dead process. The age of
a lock is measured with the clock of the file system, because the clocks of nodes differ.
"""

import json
import logging
import os
import shutil
import socket
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from xling.core.errors import InputError

log = logging.getLogger(__name__)
BEAT_SECONDS = 10.0
STALE_SECONDS = 60.0


class Lock:
    """Context manager that holds the lock; if another process holds it, raise an error or wait."""

    def __init__(self, folder: Path, wait: bool = False, beat: float = BEAT_SECONDS) -> None:
        self.path, self.wait, self.beat = folder / "lock.json", wait, beat
        self.token = uuid.uuid4().hex
        self.stop = threading.Event()
        self.lost = self.waited = False

    def __enter__(self) -> "Lock":
        while not self._take():
            holder = _read(self.path)
            if self._is_dead(holder):
                self._clear(holder)
                continue
            if not self.path.exists():
                continue
            job = f", SLURM job {holder['job']}" if holder.get("job") else ""
            problem = f"in use by process {holder.get('pid')} on {holder.get('host')}{job}"
            if not self.wait:
                raise InputError(self.path, problem, fix="wait for it, or stop it; --wait-for-lock waits")
            if not self.waited:
                log.info("%s: %s; waiting for it", self.path, problem)
            self.waited = True
            time.sleep(min(self.beat, 1.0))
        self.thread = threading.Thread(target=self._renew, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.set()
        self.thread.join()
        if _read(self.path).get("token") == self.token:
            self.path.unlink(missing_ok=True)

    def remove_folder(self) -> None:
        """Rename the locked folder, then delete it, so no process ever sees it half-deleted."""
        folder = self.path.parent
        aside = folder.with_name(f".{folder.name}.{self.token}")
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)

    def _take(self) -> bool:
        with suppress(FileExistsError, FileNotFoundError):
            self.path.parent.mkdir(parents=True, exist_ok=True)  # the last holder may have removed the folder
            with self.path.open("x") as file:
                try:
                    file.write(self._text())
                    file.flush()
                except OSError:  # a full disk; an empty lock file would look as if it were being written
                    self.path.unlink(missing_ok=True)
                    raise
            return _read(self.path).get("token") == self.token
        return False

    def _is_dead(self, holder: dict[str, Any]) -> bool:
        """Return whether the holder is a dead process of this host, or has not renewed the lock in time."""
        probe = self.path.with_name(f"lock.{uuid.uuid4().hex}.clock")
        try:
            if holder.get("host") == socket.gethostname():
                with suppress(PermissionError, KeyError, OverflowError, TypeError):  # other user; damaged lock
                    os.kill(holder["pid"], 0)
            probe.touch()
            return probe.stat().st_mtime - self.path.stat().st_mtime > STALE_SECONDS
        except ProcessLookupError:
            return True
        except FileNotFoundError:
            return False
        finally:
            probe.unlink(missing_ok=True)

    def _clear(self, holder: dict[str, Any]) -> None:
        """Move the lock of a dead process away; if a live process has replaced it meanwhile, put that lock back."""
        aside = self.path.with_name(f"lock.{self.token}.dead")
        with suppress(FileNotFoundError, FileExistsError):  # another process was faster
            self.path.rename(aside)
            if _read(aside).get("token") != holder.get("token"):
                os.link(aside, self.path)
        aside.unlink(missing_ok=True)

    def _renew(self) -> None:
        while not self.stop.wait(self.beat):
            if _read(self.path).get("token") != self.token:
                self.lost = True
                return
            temporary = self.path.with_name(f"lock.{self.token}.beat")
            with suppress(OSError):  # a full disk must not end the heartbeat
                temporary.write_text(self._text())
                temporary.replace(self.path)

    def _text(self) -> str:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        about = {"host": socket.gethostname(), "pid": os.getpid(), "job": os.environ.get("SLURM_JOB_ID")}
        return json.dumps({**about, "token": self.token, "time": now})


def _read(path: Path) -> dict[str, Any]:
    """Return the description of a lock's holder, or {} if the file is missing or still being written."""
    try:
        holder = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}
