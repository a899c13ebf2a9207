# Contextual transfer (section 5.1.2): word links, a map for every layer, task layers on frozen encoders.


rule align_words:
    """Link the words of parallel sentences one to one.

    The seed works only with the aligner that `make aligner` builds. With another build, links differ slightly per run.
    """
    input:
        source=lambda wildcards: STUDY.parallel(wildcards.pair.split("-")[0]),
        target=lambda wildcards: STUDY.parallel(wildcards.pair.split("-")[1]),
    output:
        links=RESULTS / "links/{pair}.txt.zst",
    log:
        LOGS / "align_words/{pair}.log",
    benchmark:
        BENCHMARKS / "align_words/{pair}.tsv"
    conda:
        "../envs/eflomal.yaml"
    resources:
        **resource_class("cpu"),
    params:
        rev=CONTEXTUAL.revision,
    shell:
        """
        python -m xling.align.align_words --left {input.source:q} --right {input.target:q} --seed 1 \
            --out {output.links:q} >>{log:q} 2>&1
        """


rule transfer_contextual:
    """Train and test all layers, tasks and target languages of one source encoder."""
    input:
        plan=RESULTS / "plans/contextual/{job}.json",
        models=lambda wildcards: read_of(
            CONTEXTUAL.model_files(wildcards.job), CONTEXTUAL.jobs[wildcards.job].untrained
        ),
        texts=lambda wildcards: CONTEXTUAL.texts(wildcards.job),
    output:
        result=RESULTS / "contextual/{job}.json",
    log:
        LOGS / "transfer_contextual/{job}.log",
    benchmark:
        BENCHMARKS / "transfer_contextual/{job}.tsv"
    wildcard_constraints:
        job=r"[^/]+",
    priority: AFTER_TEXT
    conda:
        ENV
    resources:
        **resource_class("gpu-many"),
    params:
        rev=CONTEXTUAL.revision,
        expected=lambda wildcards, output: CONTEXTUAL.expected(wildcards.job),
        work=RESULTS / "work",
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots xling.align.transfer_contextual \
            --plan {input.plan:q} --work-root {params.work:q} --wait-for-lock --out {output.result:q} >>{log:q} 2>&1
        """


rule record_contextual:
    """Write the records of Figures 5 and 8, each with the score of the untrained encoders."""
    input:
        results=list(CONTEXTUAL.results().values()),
    output:
        figure5=RECORDS / "figure5.csv",
        figure8=RECORDS / "figure8.csv",
    log:
        LOGS / "record_contextual.log",
    localrule: True
    conda:
        ENV
    params:
        rev=[*CONTEXTUAL.revision, REV["report"]],
        results=flags.named_flags("--result", CONTEXTUAL.results()),
        hashes=flags.named_flags("--hash", {job: STUDY.identity("contextual", job) for job in CONTEXTUAL.jobs}),
    shell:
        """
        python -m xling.report.record_contextual {params.results} {params.hashes} \
            --figure5 {output.figure5:q} --figure8 {output.figure8:q} >>{log:q} 2>&1
        """
