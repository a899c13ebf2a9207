# Zero-shot transfer (section 3.2): encoders tuned on the source language, scored in the other, beside their floors.

ENCODER = "|".join(TRANSFER.encoders) or "(?!)"


rule fine_tune:
    """One batch of grid points of one task (points_per_job: a number)."""
    input:
        plan=RESULTS / "plans/fine_tune/{encoder}.{task}.json",
        encoder=lambda wildcards: read_of(
            TRANSFER.encoder_files(wildcards.encoder), wildcards.encoder in TRANSFER.floors
        ),
        vocabulary=lambda wildcards: TRANSFER.vocabulary(wildcards.encoder),
        data=lambda wildcards: TRANSFER.data_files(wildcards.encoder, [wildcards.task]),
    output:
        job=TRANSFER.folder / "{encoder}/jobs/{task}.{batch}.json",
    log:
        LOGS / "fine_tune/{encoder}.{task}.{batch}.log",
    benchmark:
        BENCHMARKS / "fine_tune/{encoder}.{task}.{batch}.tsv"
    wildcard_constraints:
        encoder=ENCODER,
        task="|".join(TRANSFER.apart) or "(?!)",
        batch="[0-9]+",
    conda:
        ENV
    resources:
        **resource_class("gpu"),
    params:
        untrained=lambda wildcards: TRANSFER.untrained_flag(wildcards.encoder),
        seed=lambda wildcards: TRANSFER.seed(wildcards.encoder),
        expected=lambda wildcards, output: TRANSFER.expected(wildcards.encoder),
        only=lambda wildcards, output: f"--only {wildcards.task}.{wildcards.batch}",
        folder=lambda wildcards, output: TRANSFER.folder / wildcards.encoder,
        work=RESULTS / "work",
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots xling.finetune.run \
            --encoder "$(dirname {input.encoder[0]:q})" {params.untrained} --vocab "$(dirname {input.vocabulary:q})" \
            --plan {input.plan:q} {params.only} --seed {params.seed} --work-below {params.work:q} --wait-for-lock \
            --out-dir {params.folder:q} >>{log:q} 2>&1
        """


if TRANSFER.together:

    use rule fine_tune as fine_tune_together with:
        # All tasks that share a job (points_per_job: null), at every grid point, and their scores.
        # One model alone: snakemake results/demo/transfer/en-fr.no-anchors.s1/ner.json
        input:
            plan=RESULTS / "plans/fine_tune/{encoder}.json",
            encoder=lambda wildcards: read_of(
                TRANSFER.encoder_files(wildcards.encoder), wildcards.encoder in TRANSFER.floors
            ),
            vocabulary=lambda wildcards: TRANSFER.vocabulary(wildcards.encoder),
            data=lambda wildcards: TRANSFER.data_files(wildcards.encoder, TRANSFER.together),
        output:
            scores=[TRANSFER.folder / f"{{encoder}}/{task}.json" for task in TRANSFER.together],
            jobs=[TRANSFER.folder / f"{{encoder}}/jobs/{task}.json" for task in TRANSFER.together],
        log:
            LOGS / "fine_tune/{encoder}.log",
        benchmark:
            BENCHMARKS / "fine_tune/{encoder}.tsv"
        wildcard_constraints:
            encoder=ENCODER,
        params:
            untrained=lambda wildcards: TRANSFER.untrained_flag(wildcards.encoder),
            seed=lambda wildcards: TRANSFER.seed(wildcards.encoder),
            expected=lambda wildcards, output: TRANSFER.expected(wildcards.encoder),
            only=lambda wildcards, output: "",
            folder=lambda wildcards, output: TRANSFER.folder / wildcards.encoder,
            work=RESULTS / "work",
