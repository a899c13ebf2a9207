"""A real SLURM cluster of pretended nodes on this one machine, for tests.

Needs root and Debian's packages, which it installs if they are missing. Everything lives below one folder, except links
in /etc/slurm (a job's environment does not carry SLURM_CONF) and a line in /etc/hosts (nodes must have names).
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ETC = Path("/etc/slurm")
HOSTS = Path("/etc/hosts")
MARK = "# xling test cluster"
# Networks fail, and others install something at the same time.
APT = ("apt-get", "-qq", "-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=120")
PROGRAMS = {"slurm-wlm": ("slurmctld", "slurmd", "sbatch", "squeue"), "munge": ("munged", "munge")}
HERE = Path(__file__).parent  # slurm.conf, with gaps for names and places, and the prolog of tasks


class ClusterError(Exception):
    """The cluster cannot be started here, and why."""


def attempt(look):
    """Return what a look finds: nothing where a command failed or took too long, as it may on a busy machine."""
    try:
        return look()
    except subprocess.SubprocessError:
        return None


def wait_for(what, is_so, seconds=60.0):
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not attempt(is_so):
        if time.monotonic() > end:
            raise ClusterError(f"waited {seconds:.0f} s in vain for {what}")
        time.sleep(0.1)


def works(*command):
    """Say whether a command succeeds."""
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


def output(*command):
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()


def queue():
    """Return the jobs in the queue for people to read, or why they cannot be told."""
    try:
        return output("squeue", "-h", "-o", "%i %T %N")
    except subprocess.SubprocessError as error:
        return str(error)


@dataclass
class Cluster:
    """Two nodes with GPUs that are only names, partitions `cpu` and `gpu`; two more, `shaky`, that a test may break."""

    root: Path = field(default_factory=lambda: Path(tempfile.gettempdir()) / "xling-slurm")
    nodes: int = 4
    cpus: int = 32
    gpus: int = 4
    memory: int = 256000
    port: int = 17817
    guard: subprocess.Popen[bytes] | None = None  # stops the cluster should this process be killed

    @property
    def names(self):
        """The nodes' names."""
        return [f"n{number}" for number in range(1, self.nodes + 1)]

    # ------------------------------------------------------------------ up

    def start(self):
        """Bring the cluster up from nothing; whatever goes wrong, nothing of it stays."""
        if os.geteuid() != 0:
            raise ClusterError("a test cluster needs root")
        install_packages()
        if any((ETC / name).exists() and not self._is_ours(name) for name in ("slurm.conf", "gres.conf")):
            raise ClusterError(f"this machine has a cluster already: {ETC}")
        self.stop()
        try:
            self._prepare()
            self._start_daemons()
            self.guard = subprocess.Popen(
                [sys.executable, __file__, str(os.getpid())], stdin=subprocess.DEVNULL, start_new_session=True
            )
        except BaseException:
            self.stop()
            raise

    def _prepare(self):
        shutil.rmtree(self.root, ignore_errors=True)
        for name in ("etc", "run", "log", "state", "spool", "munge", "dev"):
            (self.root / name).mkdir(parents=True, mode=0o755)
        for name, text in {"slurm": self._config(), "gres": self._gpus(), "cgroup": "ConstrainDevices=no\n"}.items():
            (self.root / "etc" / f"{name}.conf").write_text(text)
            (ETC / f"{name}.conf").unlink(missing_ok=True)
            (ETC / f"{name}.conf").symlink_to(self.root / "etc" / f"{name}.conf")
        shutil.copy(HERE / "prolog", self.root / "etc" / "prolog")
        with HOSTS.open("a") as hosts:
            hosts.write(f"127.0.0.1 {' '.join(self.names)} {MARK}\n")

    def _config(self):
        host = socket.gethostname().split(".")[0]
        lines = [(HERE / "slurm.conf").read_text().format(host=host, port=self.port, root=self.root)]
        for number, name in enumerate(self.names, start=1):
            shape = f"CPUs={self.cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={self.cpus} ThreadsPerCore=1"
            address = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={self.port + 10 + number}"
            lines.append(f"NodeName={name} {address} {shape} RealMemory={self.memory} Gres=gpu:fake:{self.gpus}\n")
        for name, nodes in {"cpu": self.names[:2], "gpu": self.names[:2], "shaky": self.names[2:]}.items():
            default = "YES" if name == "cpu" else "NO"
            lines.append(f"PartitionName={name} Nodes={','.join(nodes)} Default={default} MaxTime=1-00:00:00\n")
        return "".join(lines)

    def _gpus(self):
        """Return gres.conf; a GPU is a link to a device that every machine has."""
        lines = []
        for name in self.names:
            (self.root / "dev" / name).mkdir()
            for number in range(self.gpus):
                link = self.root / "dev" / name / f"nvidia{number}"
                link.symlink_to("/dev/null")
                lines.append(f"NodeName={name} Name=gpu Type=fake File={link}\n")
        return "".join(lines)

    def _start_daemons(self):
        run, key = self.root / "run", self.root / "munge" / "munge.key"
        key.touch(mode=0o400)
        key.write_bytes(secrets.token_bytes(1024))
        flags = {"socket": run / "munge.socket", "key-file": key, "pid-file": run / "munged.pid"}
        flags |= {"log-file": self.root / "log" / "munged.log", "seed-file": self.root / "munge" / "seed"}
        self._daemon("munged", "--force", *(f"--{name}={value}" for name, value in flags.items()))
        wait_for("munged", lambda: works("munge", f"--socket={run / 'munge.socket'}", "--no-input"))
        self.start_controller("-c")
        for name in self.names:
            (self.root / "spool" / name).mkdir()
            self._daemon("slurmd", "-N", name, "-c")
        wait_for("idle nodes", lambda: len(output("sinfo", "-hN", "-t", "idle", "-o", "%N").split()) >= self.nodes)

    def _daemon(self, *command):
        program = shutil.which(command[0], path=f"{os.environ.get('PATH', '')}:/usr/sbin") or command[0]
        with (self.root / "log" / f"{command[0]}.start").open("ab") as log:
            subprocess.run([program, *command[1:]], stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True)

    def start_controller(self, *flags):
        """Start the controller, which knows what it knew when it stopped."""
        self._daemon("slurmctld", *flags)
        wait_for("slurmctld", lambda: works("scontrol", "ping"))

    def stop_controller(self):
        """Stop the controller; jobs and nodes go on."""
        self._end(self._pids("slurmctld"))

    @contextmanager
    def remembering(self, seconds):
        """Let the controller forget finished jobs sooner than it does otherwise."""
        config = self.root / "etc" / "slurm.conf"
        usual = config.read_text()
        try:
            config.write_text(usual.replace("MinJobAge=300", f"MinJobAge={seconds}"))
            subprocess.run(["scontrol", "reconfigure"], check=True, timeout=30)
            yield
        finally:
            config.write_text(usual)
            subprocess.run(["scontrol", "reconfigure"], check=True, timeout=30)

    # ------------------------------------------------------------------ down

    def stop(self):
        """End all jobs and daemons of this cluster, known by their pid files, and take its links away."""
        if self.guard:
            self.guard.kill()
            self.guard.wait()
            self.guard = None
        if self._pids("slurmctld"):
            self._cancel_jobs()
        for pattern in ("slurmd.*", "slurmctld", "munged"):
            self._end(self._pids(pattern))
        for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
            if self._is_ours(name):
                (ETC / name).unlink()
        kept = [line for line in HOSTS.read_text().splitlines(keepends=True) if MARK not in line]
        if "".join(kept) != HOSTS.read_text():
            HOSTS.write_text("".join(kept))

    def _cancel_jobs(self):
        try:
            works("scancel", "--user=root")
            works("scancel", "--user=root", "--signal=KILL", "--full")
            wait_for("the jobs' end", lambda: not output("squeue", "-h"), 20)
        except (ClusterError, subprocess.SubprocessError):
            print("jobs of the test cluster would not end", file=sys.stderr)

    def _is_ours(self, name):
        link = ETC / name
        return link.is_symlink() and link.readlink() == self.root / "etc" / name

    def _pids(self, pattern):
        """Return the processes of pid files that still are what the files say."""
        found = []
        for path in (self.root / "run").glob(f"{pattern}.pid"):
            pid = path.read_text().strip()
            comm = Path(f"/proc/{pid}/comm")
            if pid.isdigit() and comm.exists() and comm.read_text().strip() == path.name.split(".")[0]:
                found.append(int(pid))
        return found

    def _end(self, pids):
        for number in (signal.SIGTERM, signal.SIGKILL):
            for pid in pids:
                if Path(f"/proc/{pid}").exists():
                    os.kill(pid, number)
            end = time.monotonic() + 15
            while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < end:
                time.sleep(0.1)


def end_processes_in(folder):
    """Kill what still works below a folder; SLURM forgets the processes of a node that is set down."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if (entry / "cwd").readlink().is_relative_to(folder.resolve()):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:  # it ended meanwhile
            continue


def install_packages():
    """Install what is missing of SLURM and munge, from Debian."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin"
    missing = [name for name, programs in PROGRAMS.items() if not all(shutil.which(p, path=path) for p in programs)]
    if not missing:
        return
    if not shutil.which("apt-get"):
        raise ClusterError(f"missing {', '.join(missing)}, and no apt-get to install them with")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *missing]):
        done = subprocess.run(
            [*APT, *command], env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        if done.returncode:
            raise ClusterError(f"apt-get {' '.join(command)}: {done.stderr.strip()[-500:]}")


if __name__ == "__main__":  # the guard: stop the cluster once a process is gone
    while Path(f"/proc/{sys.argv[1]}").exists():
        time.sleep(1)
    Cluster().stop()
