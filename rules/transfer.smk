# Table 1 and Figure 3 of the study: the scores of all encoders are collected as records.


rule record_transfer:
    """Collect all scores of models and floors, with their counts; refuse scores of another configuration."""
    input:
        plan=TRANSFER.folder / "plan.json",
        scores=expand(TRANSFER.files("{encoder}"), encoder=TRANSFER.encoders),
        jobs=expand(TRANSFER.files("{encoder}", "jobs/"), encoder=TRANSFER.encoders),
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
            --plan {input.plan:q} --scores {params.scores:q} \
            --cells {output.cells:q} --items {output.counts:q} --settings {output.settings:q} \
            --examples {output.examples:q} --long {output.long:q} >>{log:q} 2>&1
        """
