# Encoders that others published, named in the config, beside the study's own: snakemake encoders (docs/share.md).

COMPARED = RESULTS / "encoders"


rule compare_published:
    """CKA of every layer with every layer, and sentence retrieval, between two encoders on the study's sentences."""
    input:
        encoders=lambda wildcards: ENCODERS.model_files(wildcards.comparison),
        text=lambda wildcards: raw_files(
            [*ENCODERS.raw_text(wildcards.comparison), *ENCODERS.segmenters(wildcards.comparison)]
        ),
        read=read_list("comparison/{comparison}"),
    output:
        result=COMPARED / "{comparison}/compare.json",
        tables=expand(COMPARED / "{{comparison}}/{name}.csv", name=["layers", "matrix"]),
        picture=COMPARED / "{comparison}/matrix.png",
    log:
        LOGS / "compare_published/{comparison}.log",
    benchmark:
        BENCHMARKS / "compare_published/{comparison}.tsv"
    wildcard_constraints:
        comparison=r"[a-z0-9_.+-]+",
    conda:
        "../envs/hf.yaml"
    resources:
        **resource_class("gpu"),
    params:
        rev=REV["cka"],
        encoders=lambda wildcards: ENCODERS.flags(wildcards.comparison),
        config_hash=lambda wildcards: STUDY.identity("comparison", wildcards.comparison),
    shell:
        """
        python -m workflow_scripts.gpu_slots xling.interop.compare_published \
            {params.encoders} --config-hash {params.config_hash} --out "$(dirname {output.result:q})" \
            >>{log:q} 2>&1
        """


rule draw_encoders:
    """All comparisons beside each other, layer by layer."""
    input:
        results=list(ENCODERS.results.values()),
    output:
        figure=expand(COMPARED / "encoders.{suffix}", suffix=["svg", "png", "pdf", "csv"]),
    log:
        LOGS / "draw_encoders.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        results=flags.named_flags("--comparison", ENCODERS.results),
        folder=COMPARED,
    shell:
        """
        python -m xling.report.figures encoders \
            {params.results} --out-dir {params.folder:q} >>{log:q} 2>&1
        """


rule encoders:
    """Every comparison that the config lists, and their figure."""
    input:
        lambda wildcards: ENCODERS.wanted(),
        rules.draw_encoders.output,
    localrule: True
