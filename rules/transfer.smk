# Table 1 and Figure 3 of the study: scores of all encoders become records.


rule plan_transfer:
    """Which encoders are scored, beside which floors, and the rows of Table 1."""
    output:
        plan=TRANSFER.folder / "plan.json",
    log:
        LOGS / "plan_transfer.log",
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        **resource_class("login"),
    params:
        plan=TRANSFER.plan_json(),
    shell:
        """
        python -m workflow_scripts.write_run \
            --run {params.plan:q} \
            --out {output.plan:q} \
            >>{log:q} 2>&1
        """


rule record_transfer:
    """Every score beside its floor, seeds averaged; a score of another configuration is refused."""
    input:
        plan=TRANSFER.folder / "plan.json",
        scores=TRANSFER.scores(),
    output:
        cells=RECORDS / "figure3.csv",
        settings=RECORDS / "settings.csv",
        long=RESULTS / "tables/transfer.csv",
    log:
        LOGS / "record_transfer.log",
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        **resource_class("login"),
    params:
        rev=REV["report"],
        scores=TRANSFER.folder,
    shell:
        """
        python -m xling.report.transfer \
            --plan {input.plan:q} \
            --scores {params.scores:q} \
            --cells {output.cells:q} \
            --settings {output.settings:q} \
            --long {output.long:q} \
            >>{log:q} 2>&1
        """
