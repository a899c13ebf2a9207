"""Emerging cross-lingual structure in pretrained language models: the whole study, in the order of the paper.

snakemake                                      the study on embedded (generated) languages
snakemake --configfile presets/paper.yaml      the study of the paper
snakemake --profile slurm …                    on a cluster
"""

from snakemake.utils import min_version

min_version("9.0")


configfile: "config.yaml"


container: "envs/xling.sif"  # used only with --sdm apptainer; built from envs/xling.def


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/plans.smk"
include: "rules/synthetic.smk"
include: "rules/data.smk"
include: "rules/tokenization.smk"
include: "rules/bpe.smk"
include: "rules/codeswitch.smk"
include: "rules/pretrain.smk"
include: "rules/finetune.smk"
include: "rules/transfer.smk"
include: "rules/align.smk"
include: "rules/contextual.smk"
include: "rules/cka.smk"
include: "rules/report_inputs.smk"
include: "rules/report.smk"
include: "rules/figures.smk"
include: "rules/page.smk"


rule all:
    """Make every output of the study."""
    default_target: True
    input:
        expand(MODELS / "{model}/model.safetensors", model=STUDY.models),
        [STUDY.task_file(*file) for file in STUDY.task_files],
        expand(RESULTS / "parallel/{code}.txt", code=STUDY.parallel_sides),
        expand(RECORDS / "{name}.csv", name=ALIGNMENT.records),
        CONTEXTUAL.records(),
        rules.table1.output if TRANSFER.models else [],
        rules.figures.input,
        rules.paper_figures.output,
        rules.page.output,
    localrule: True


for figure in ["figure1", "figure2", "figure3", "figure4a", "figure4b", "figure5", "figure6", "figure7", "figure8"]:

    rule:
        """Make one figure, and only the files that it needs."""
        name:
            figure
        input:
            drawn(figure),
        localrule: True


shown = [*FIGURE_NAMES, *(["table1"] if TRANSFER.models else [])]
refuse_wrong_targets(STUDY, shown, sys.argv[1:], [rule.name for rule in workflow.rules])
