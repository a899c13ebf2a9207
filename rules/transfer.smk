# Table 1 and Figure 3 of the study: scores of all encoders become records.


rule score_cell:
    """The best grid points by English dev: a cell of Table 1, with the interval of its test items.

    One cell alone: snakemake results/paper/transfer/en-fr.no-anchors.s1/ner.json --configfile presets/paper.yaml
    """
    input:
        jobs=lambda wildcards: TRANSFER.jobs(wildcards.encoder, wildcards.task),
    output:
        score=TRANSFER.folder / "{encoder}/{task}.json",
    log:
        LOGS / "score_cell/{encoder}.{task}.log",
    wildcard_constraints:
        encoder=ENCODER,
        task="|".join(TRANSFER.apart) or "(?!)",
    localrule: True
    conda:
        ENV
    params:
        config=lambda wildcards: TRANSFER.config_hash(wildcards.encoder, wildcards.task),
    shell:
        """
        python -m xling.finetune.collect \
            --results {input.jobs:q} \
            --config-hash {params.config} \
            --out {output.score:q} \
            >>{log:q} 2>&1
        """


rule record_transfer:
    """Every score of every seed and floor, and the counts behind it; a score of another configuration is refused."""
    input:
        plan=TRANSFER.folder / "plan.json",
        scores=TRANSFER.scores(),
        jobs=TRANSFER.all_jobs(),
    output:
        cells=RECORDS / "figure3.csv",
        counts=RECORDS / "items.npz",
        settings=RECORDS / "settings.csv",
        examples=RESULTS / "tables/examples.csv",
        long=RESULTS / "tables/transfer.csv",
    log:
        LOGS / "record_transfer.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        scores=TRANSFER.folder,
    shell:
        """
        python -m xling.report.record_transfer \
            --plan {input.plan:q} \
            --scores {params.scores:q} \
            --cells {output.cells:q} \
            --items {output.counts:q} \
            --settings {output.settings:q} \
            --examples {output.examples:q} \
            --long {output.long:q} \
            >>{log:q} 2>&1
        """
