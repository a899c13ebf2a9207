# Similarity of encoders (section 5.2), and the records of Figures 4a, 4b, 6 and 7.


rule compare_encoders:
    """Compute the CKA of every pair of layers for bilingual, monolingual and random encoders, in one job."""
    input:
        plan=RESULTS / "plans/cka.json",
        states=ALIGNMENT.compared("cka").values(),
    output:
        result=ANALYSES / "cka.json",
    log:
        LOGS / "compare_encoders.log",
    benchmark:
        BENCHMARKS / "compare_encoders.tsv"
    conda:
        ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["cka"],
        expected=lambda wildcards, output: ALIGNMENT.expected_states("cka"),
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m xling.cka.compare_encoders --plan {input.plan:q} --out {output.result:q} >>{log:q} 2>&1
        """


rule record_alignment:
    """Write the results of the three analyses as records, from which figures and claims are made."""
    input:
        analyses=expand(ANALYSES / "{name}.json", name=ALIGNMENT.analyses),
        plans=expand(RESULTS / "plans/{name}.json", name=ALIGNMENT.analyses),
    output:
        records=expand(RECORDS / "{name}.csv", name=ALIGNMENT.records),
    log:
        LOGS / "record_alignment.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        analyses=flags.named_flags("--analysis", {name: ANALYSES / f"{name}.json" for name in ALIGNMENT.analyses}),
        plans=flags.named_flags("--plan", {name: RESULTS / f"plans/{name}.json" for name in ALIGNMENT.analyses}),
        folder=RECORDS,
    shell:
        """
        python -m xling.report.record_alignment {params.analyses} {params.plans} --out-dir {params.folder:q} >>{log:q} 2>&1
        """
