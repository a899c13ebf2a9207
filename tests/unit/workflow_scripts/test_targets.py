"""A target that the study does not have is told in a line that says why."""

import shlex

import pytest
from embedded import DEMO

from workflow_scripts.targets import mistyped, problem, refuse_wrong_targets


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("en-fr.default.s1", "en-fr.default.s1: a model, not a target (did you mean results/demo/models/en-fr.default.s1/model.safetensors?)"),
        ("results/demo/models/en-es.default.s1/model.safetensors", "en-es.default.s1: no such model in study 'demo' (did you mean 'en-de.default.s1'?)"),
        ("results/demo/transfer/en-ru.wiki-cc.s1/ner.json", "en-ru.wiki-cc.s1: no such model in study 'demo' (study.skip leaves it out)"),
        ("results/demo/states/es.mono.s1/states.json", "es.mono.s1: no such model in study 'demo' (did you mean 'en.mono.s1'?)"),
        ("results/demo/contextual/en-fr.default.s7.json", "en-fr.default.s7: no such model in study 'demo' (did you mean 'en-fr.default.s1'?)"),
        ("results/demo/transfer/en-fr.default.s1/pos.json", "en-fr.default.s1: pos is no task of study 'demo' (xnli, ner, parsing)"),
        ("results/mini/transfer/en-fr.default.s1/ner.json", "results/mini/transfer/en-fr.default.s1/ner.json: a file of study 'mini', but this is 'demo' (name its preset: --configfile …)"),
        ("tabel1", "tabel1: no such target (did you mean table1?)"),
        ("results/demo/figures/figure5.svg", "results/demo/figures/figure5.svg: figure5: study 'demo' has nothing to show in it (needed: monolingual models of the source and of another language of study.pairs, and ner or parsing)"),
        ("presets/mini.yaml", "presets/mini.yaml: a configuration, not a target (write --configfile before it)"),
        ("figure5", "figure5: study 'demo' has nothing to show in it (needed: monolingual models of the source and of another language of study.pairs, and ner or parsing)"),
    ],
)  # fmt: skip
def test_a_wrong_target_says_what_is_wrong(target, line, capsys):
    words = ["-n", "--configfile", "presets/mini.yaml", "--", target]
    with pytest.raises(SystemExit) as left:
        refuse_wrong_targets(DEMO, ["figure4a"], words, ["table1", "report", "figure4a"])
    assert left.value.code == 2
    assert capsys.readouterr().err == f"target: {line}\n"


def test_only_words_that_no_flag_owns_are_taken_for_mistyped_targets():
    """A job on a cluster is named by a flag: --target-jobs generate_fr: (the SLURM tests run such jobs)."""
    words = shlex.split("--target-jobs generate_fr: --report reports --until tabel1 --cores 2 -- table1")
    assert list(mistyped(words, ["generate_fr", "report", "table1"])) == []
    for words in (["tabel1", "--cores", "2"], ["-n", "-k", "tabel1", "--cores", "2"]):
        assert list(mistyped(words, ["table1"])) == ["tabel1: no such target (did you mean table1?)"]


def test_a_cluster_is_not_asked_for_where_jobs_cannot_be_submitted(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    refuse_wrong_targets(DEMO, [], ["-n", "--profile", "slurm"])
    with pytest.raises(SystemExit, match="2"):
        refuse_wrong_targets(DEMO, [], ["--profile", "slurm", "all"])
    assert capsys.readouterr().err.startswith("profile slurm: no sbatch on this machine (start it on a login node")


def test_everything_that_a_study_has_can_be_asked_for():
    targets = ["figure4a", "figures", "all", "results/demo/transfer/plan.json", "results/data/embedded", "--cores", "2"]
    targets += [f"results/demo/models/{name}/model.safetensors" for name in DEMO.models]
    for name in DEMO.transfer.encoders:
        targets += [str(path) for below in ("", "jobs/") for path in DEMO.transfer.files(name, below)]
    targets += [f"results/demo/transfer/{name}/run.json" for name in DEMO.transfer.floors]
    targets += [str(path) for path in DEMO.contextual.results().values()]
    assert [wrong for target in targets if (wrong := problem(DEMO, ["figure4a"], target))] == []
