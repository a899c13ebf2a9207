"""What a class of jobs asks of a cluster, by its site file."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from embedded import ROOT

from workflow_scripts.config import ConfigError
from workflow_scripts.site import FILE, Site, load_site, read_site

USUAL = {"cpu": {"mem_mb": 4000, "runtime": 240}, "gpu-long": {"mem_mb": 16000, "runtime": 1440, "gpu": 1, "nodes": 1}}
PARTITIONS = {"cpu": "small", "gpu": "big"}


def written(folder: Path, **content: Any) -> Path:
    path = folder / "site.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def test_jobs_go_to_the_partition_of_their_kind() -> None:
    site = Site("lab", PARTITIONS)
    cpu, gpu = site.requests("cpu", USUAL["cpu"]), site.requests("gpu-long", USUAL["gpu-long"])
    assert cpu == {"mem_mb": 4000, "runtime": 240, "slurm_partition": "small", "slurm_account": "lab"}
    assert (gpu["slurm_partition"], gpu["gpu"]) == ("big", 1)
    assert not {"mpi", "tasks", "slurm_extra", "gres", "gpu_model"} & gpu.keys()


def test_one_line_puts_training_on_several_nodes() -> None:
    site = Site("lab", PARTITIONS, classes={"gpu-long": {"gpu": 8, "nodes": 2}})
    asked = site.requests("gpu-long", USUAL["gpu-long"])
    assert asked["slurm_extra"] == "--gpus-per-node=4"
    assert (asked["gpu"], asked["nodes"], asked["tasks"], asked["tasks_per_gpu"]) == (8, 2, 2, 0)
    assert asked["mpi"] == "srun"


def test_gpus_are_asked_for_in_the_clusters_own_way() -> None:
    named = Site("lab", PARTITIONS, gpu_type="a100").requests("gpu-long", USUAL["gpu-long"])
    assert (named["gpu"], named["gpu_model"]) == (1, "a100")
    listed = Site("lab", PARTITIONS, "a100", "gres", {"gpu-long": {"gpu": 4, "nodes": 2}})
    asked = listed.requests("gpu-long", USUAL["gpu-long"])
    assert (asked["gres"], asked["gpu"]) == ("gpu:a100:2", 0)


def test_a_class_may_have_a_partition_of_its_own_and_no_account() -> None:
    site = Site("", PARTITIONS, classes={"gpu-long": {"partition": "long", "runtime": 120, "qos": "night"}})
    asked = site.requests("gpu-long", USUAL["gpu-long"])
    assert (asked["slurm_partition"], asked["runtime"], asked["qos"]) == ("long", 120, "night")
    assert "slurm_account" not in asked


@pytest.mark.parametrize(
    ("limit", "resumes", "asked"),
    [
        (None, False, [240, 480, 720]),
        (None, True, [240, 240, 240]),
        (600, False, [240, 480, 600]),
        (600, True, [240, 240, 240]),
        (100, False, [240, 240, 240]),  # never cut: it could not finish, so SLURM had better refuse it
        (100, True, [100, 100, 100]),
    ],
)
def test_a_retry_asks_for_no_more_time_than_the_partition_allows(
    limit: int | None, resumes: bool, asked: list[int]
) -> None:
    site = Site("lab", PARTITIONS, time_limits={"small": limit} if limit else {"other": 1})
    requests = site.requests("cpu", USUAL["cpu"])
    assert [site.minutes(requests, attempt, resumes) for attempt in (1, 2, 3)] == asked


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            {"partitions": PARTITIONS, "time_limits": {"big": "1-00:00:00"}},
            "time_limits.big is '1-00:00:00', expected minutes",
        ),
        ({"time_limits": 1440}, "time_limits is 1440, expected a partition's name and minutes"),
        (
            {"partitions": {"gpu": "big"}, "time_limits": {"gpu": 60}},
            "time_limits.gpu: no job goes to such a partition (big)",
        ),
        (
            {"partitions": {"gpu-long": "a100"}},
            "partitions.gpu-long: unknown (known: cpu, gpu; for one class: classes.gpu-long.partition)",
        ),
        ({"partitions": {"gpus": "a100"}}, "partitions.gpus: unknown (known: cpu, gpu)"),
        ({"partitions": {"gpu": ["a", "b"]}}, "partitions.gpu is ['a', 'b'], expected a partition's name"),
        ({"partitions": ["cpu", "gpu"]}, "partitions is ['cpu', 'gpu'], expected cpu and gpu with a partition's name"),
        ({"partitions": "a100"}, "partitions is 'a100', expected cpu and gpu with a partition's name each"),
        ({"classes": ["gpu-long"]}, "classes is ['gpu-long'], expected a class and what it asks for"),
        ({"gpu_type": ["a100"]}, "gpu_type is ['a100'], expected text"),
        ({"account": 4711}, "account is 4711, expected text (a number in quotes)"),
        ({"classes": {"cpu": {"partition": ["a"]}}}, "classes.cpu: partition is ['a'], expected text"),
        ({"acount": "lab"}, "unknown key 'acount'"),
        ({"gpu_syntax": "gpu"}, "gpu_syntax is 'gpu', expected one of gpus, gres"),
        ({"classes": {"gpu-huge": {}}}, "classes.gpu-huge: no such class (known: cpu, gpu-long)"),
        ({"classes": {"cpu": {"memory": 1}}}, "classes.cpu: unknown key 'memory'"),
        ({"classes": {"cpu": {"runtime": "1h"}}}, "classes.cpu: runtime is '1h', expected a whole number above 0"),
        ({"classes": {"cpu": 4}}, "classes.cpu: expected keys and values, found 4"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, content: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_site(written(tmp_path, **content), USUAL)
    (told,) = caught.value.problems
    assert problem in told


def test_gpus_that_cannot_be_shared_out_are_told_before_any_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XLING_SITE", str(written(tmp_path, classes={"gpu-long": {"gpu": 3, "nodes": 2}})))
    with pytest.raises(SystemExit) as caught:
        load_site(tmp_path, USUAL)
    assert caught.value.code == 2
    assert "3 GPUs cannot be shared out evenly over 2 nodes" in capsys.readouterr().err


def test_the_profiles_own_site_is_taken_unless_another_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XLING_SITE", raising=False)
    assert load_site(ROOT, USUAL) == read_site(ROOT / FILE, USUAL)
    monkeypatch.setenv("XLING_SITE", str(written(tmp_path, account="other")))
    assert load_site(ROOT, USUAL).account == "other"
