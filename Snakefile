"""Emerging cross-lingual structure in pretrained language models: the whole study, in the paper's order.

snakemake                                      the embedded study
snakemake --configfile presets/paper.yaml      the paper's
snakemake --profile slurm …                    on a cluster
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/synthetic.smk"
include: "rules/data.smk"
include: "rules/tokenization.smk"
include: "rules/bpe.smk"
include: "rules/codeswitch.smk"
include: "rules/pretrain.smk"
include: "rules/report.smk"


rule all:
    """Everything that the study makes."""
    default_target: True
    input:
        expand(MODELS / "{model}/model.safetensors", model=STUDY.models),
        expand(MODELS / "{model}/anchors.json", model=bilingual_models()),
        task_data(),
        parallel_text(),
        rules.paper_figures.output,
    localrule: True
