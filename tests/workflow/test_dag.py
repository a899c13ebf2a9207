"""The real Snakemake on the real Snakefile: what a study and a target expand to, the commands, what a mistake costs."""

import re
from collections import Counter
from pathlib import Path

import pytest
from dag import lay_out, preset, snakemake
from embedded import PAPER, many_languages, study

from workflow_scripts.config import merge
from workflow_scripts.plan.__main__ import main as plan


def without_json(jobs):
    """Tell whether no command holds JSON but those that write plans, which are files."""
    written = {name for name, command in jobs if "<<'END'" in command}
    assert {"write_run", "write_tokeniser"} <= written
    return {name for name, command in jobs if re.search(r"""[\[{]\s*["{\[]""", command)} <= written


def command(job):
    return job.rule.name, job.shellcmd or ""


def test_a_sixth_language_and_an_eleventh_setting_take_config_alone(tmp_path):
    config = many_languages(1, settings=["default", "top-shared"], seeds=[1], results=str(tmp_path))
    top = {"label": "Top {shared}", "bpe": "per-language", "separate": {"layers": 7}}
    jobs = lay_out(merge(config, {"settings": {"top-shared": top}}), read=command)
    assert [rule for rule, _ in jobs].count("generate_la") == 1
    assert [shell for rule, shell in jobs if rule == "pretrain" and "models/en-la.top-shared.s1/run.json" in shell]
    assert [shell for rule, shell in jobs if rule == "describe_study" and '"Top {shared}"' in shell]  # no wildcard
    assert without_json(jobs)


def test_a_mistake_is_told_before_any_job_starts(tmp_path):
    done = snakemake("--configfile", preset(tmp_path, pretrain={"warm_up": 3}))
    assert done.returncode == 2
    assert "config: pretrain.warm_up: unknown key (did you mean 'warmup'?)" in done.stdout.splitlines()
    assert "Traceback" not in done.stdout
    assert not (tmp_path / "results").exists()


def test_no_command_line_of_the_papers_jobs_holds_json(tmp_path):
    """On one pair; docs/test_readme.py counts the jobs of the whole study."""
    small = {"pairs": ["en-fr"], "languages": ["en", "fr"], "settings": ["default", "extra-anchors"], "extra": []}
    places = {"study": small | {"results": str(tmp_path / "results")}, "data": {"root": str(tmp_path / "data")}}
    jobs = lay_out(merge(PAPER.config, places), read=command)
    assert {"fetch_dataset", "fine_tune", "switch_codes"} <= {rule for rule, _ in jobs}
    assert without_json(jobs)


def test_whatever_reads_weights_or_states_refuses_those_of_another_configuration(tmp_path):
    """Snakemake that was told to compare times alone would score weights that learnt at another rate."""
    small = {"pairs": ["en-fr"], "languages": ["en", "fr"], "settings": ["default", "sep-emb"], "extra": [], "skip": []}
    places = {"study": small | {"results": str(tmp_path)}, "data": {"root": str(tmp_path / "data")}}
    found: list[dict[tuple[str, str], str]] = []
    for rate in (0.001, 0.002):
        jobs = lay_out(study(**places, pretrain={"lr": rate}), ["all"], read=lambda job: job)
        found.append({})
        for job in (job for job in jobs if job.shellcmd and job.rule.name != "pretrain"):
            weights = [Path(path).parent for path in job.input if path.endswith(("/model.safetensors", "/run.json"))]
            read = {f"{folder}/run.json" for folder in weights} | {p for p in job.input if p.endswith("/states.json")}
            first = job.shellcmd.split(" >>")[0].split()
            if read:
                expected = dict(word.rsplit("=", 1) for word in first[3:])
                assert (first[:3], {*expected}) == (["python", "-m", "workflow_scripts.expect"], read), job.rule
                found[-1] |= {(str(job.output[0]), path): expected[path] for path in read}
    kept = {key for key, hashed in found[0].items() if found[1][key] == hashed}
    assert kept == {key for key in found[0] if ".untrained" in key[0]}  # these learn at no rate
    assert len(found[0]) > len(kept) > 3


def test_a_plan_of_a_wrong_target_is_told_in_a_line(tmp_path, call):
    told = call(plan, "table99", "--configfile", preset(tmp_path))
    assert told.code == 2
    assert told.said == "target: table99: no such target (did you mean table1?)\n"


def test_a_file_of_another_name_is_not_drawn(tmp_path, call):
    told = call(plan, f"{tmp_path}/results/demo/figures/settings.svg", "--configfile", preset(tmp_path))
    assert told.code != 0
    assert "No rule to produce" in told.said


TUNING = {"fine_tune", "write_untrained", "record_transfer"}
ALIGNING = {"represent_encoder", "translate_words", "retrieve_sentences", "compare_encoders", "transfer_contextual"}
TEXT = {"generate_en", "tokenise_text"}
MONO, TABLE = 6, 15  # monolingual models, and those of the embedded study's Table 1


@pytest.mark.parametrize(
    ("target", "changes", "brings", "not_brought"),
    [
        ("table1", {}, {"fine_tune": TABLE + 8, "pretrain": TABLE, "record_transfer": 1}, ALIGNING),
        ("figure3", {"study": {"skip": [], "seeds": [1, 2]}},
         {"pretrain": 60, "write_untrained": 2 * 12, "fine_tune": 60 + 2 * 12, "record_transfer": 1}, ALIGNING),
        ("figure4a", {}, {"represent_encoder": MONO - 1, "pretrain": MONO - 1, "record_words": 1},
         TUNING | ALIGNING - {"represent_encoder", "translate_words"}),  # a copy of English has no words of its own
        ("figure6", {}, {"represent_encoder": MONO - 1, "pretrain": MONO - 1, "record_sentences": 1},
         TUNING | ALIGNING - {"represent_encoder", "retrieve_sentences"}),
        ("figure7", {}, {"represent_encoder": MONO + 5, "pretrain": MONO + 5, "record_cka": 1},
         TUNING | ALIGNING - {"represent_encoder", "compare_encoders"}),
        ("figure5", {}, {"align_words": 3, "transfer_contextual": 8, "record_contextual": 1, "pretrain": 4 + 3}, TUNING),
        ("figure8", {}, {"align_words": 3, "transfer_contextual": 8, "pretrain": 4 + 3}, TUNING),
        ("figure1", {}, {"describe_study": 1, "draw_figure": 1}, TEXT | {"pretrain"}),
        ("paper_figures", {}, {"paper_figures": 1}, TEXT | {"pretrain"}),
        ("results/demo/transfer/en-fr.no-anchors.s1/ner.json", {},
         {"fine_tune": 1, "pretrain": 1, "write_run": 1}, {"write_untrained"}),
        ("results/demo/transfer/en-ru.untrained-separate.s1/parsing.json", {},
         {"fine_tune": 1, "write_untrained": 1}, {"pretrain"}),
        ("all", {"study": {"skip": []}}, {"pretrain": 38, "write_run": 38, "train_vectors": 5}, set()),
    ],
)  # fmt: skip
def test_a_target_brings_what_it_takes(tmp_path, target, changes, brings, not_brought):
    config = study(**changes)
    config["study"]["results"], config["data"]["root"] = str(tmp_path / "results"), str(tmp_path / "data")
    jobs = lay_out(config, [str(tmp_path / target) if "/" in target else target])
    found = Counter(job.rule for job in jobs)
    assert {rule: found[rule] for rule in brings} == brings
    assert not not_brought & set(found)
