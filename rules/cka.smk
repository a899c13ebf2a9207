# Similarity of encoders (section 5.2), and the records of Figures 4a, 4b, 6 and 7.

from workflow_scripts.alignment import RECORDS_OF


rule compare_encoders:
    """Compute the CKA of every pair of layers for the bilingual, monolingual and random encoders of one seed."""
    input:
        plan=RESULTS / "plans/{job}.json",
        states=lambda wildcards: ALIGNMENT.compared(wildcards.job).values(),
    output:
        result=ANALYSES / "{job}.json",
    log:
        LOGS / "compare_encoders/{job}.log",
    benchmark:
        BENCHMARKS / "compare_encoders/{job}.tsv"
    wildcard_constraints:
        job=r"cka\.s\d+",
    conda:
        ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["cka"],
        expected=lambda wildcards, output: ALIGNMENT.expected_states(wildcards.job),
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m xling.cka.compare_encoders --plan {input.plan:q} --out {output.result:q} >>{log:q} 2>&1
        """


for analysis, jobs in ALIGNMENT.jobs_of.items():

    rule:
        """Write the results of an analysis for all seeds as records, from which figures and claims are made."""
        name:
            f"record_{analysis}"
        input:
            analyses=expand(ANALYSES / "{name}.json", name=jobs),
            plans=expand(RESULTS / "plans/{name}.json", name=jobs),
        output:
            records=expand(RECORDS / "{name}.csv", name=RECORDS_OF[analysis]),
        log:
            LOGS / f"record_{analysis}.log",
        localrule: True
        conda:
            ENV
        params:
            rev=REV["report"],
            analyses=flags.named_flags("--analysis", {name: ANALYSES / f"{name}.json" for name in jobs}),
            plans=flags.named_flags("--plan", {name: RESULTS / f"plans/{name}.json" for name in jobs}),
            own=["--own-vectors", *ALIGNMENT.with_own_vectors(jobs)] if analysis == "words" else [],
            folder=RECORDS,
        shell:
            """
            python -m xling.report.record_alignment \
                {params.analyses} {params.plans} {params.own} --out-dir {params.folder:q} >>{log:q} 2>&1
            """
