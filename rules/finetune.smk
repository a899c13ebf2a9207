# Zero-shot transfer (section 3.2): encoders tuned on the source language, scored in the other, beside their floors.

from workflow_scripts.transfer import Transfer

TRANSFER = Transfer(STUDY)
ENCODER = "|".join(TRANSFER.encoders) or "(?!)"


rule write_untrained:
    """What an untrained encoder is: the floor of a pair and a kind of vocabulary, once for all its settings."""
    output:
        run=TRANSFER.folder / "{encoder}/run.json",
    log:
        LOGS / "write_untrained/{encoder}.log",
    wildcard_constraints:
        encoder="|".join(TRANSFER.floors) or "(?!)",
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        **resource_class("login"),
    params:
        rev=REV["finetune"],
        run=lambda wildcards: TRANSFER.run_json(wildcards.encoder),
    shell:
        """
        python -m workflow_scripts.write_run \
            --run {params.run:q} \
            --out {output.run:q} \
            >>{log:q} 2>&1
        """


if TRANSFER.together:

    rule fine_tune_together:
        """All tasks that share a job (points_per_job: null), at every grid point, and their scores.

        One model alone: snakemake results/demo/transfer/en-fr.no-anchors.s1/ner.json
        """
        input:
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
        conda:
            ENV
        threads: 1
        resources:
            **resource_class("gpu"),
        params:
            plan=lambda wildcards: TRANSFER.fine_tuning(wildcards.encoder, TRANSFER.together),
            untrained=lambda wildcards: TRANSFER.untrained_flag(wildcards.encoder),
            expected=lambda wildcards, output: TRANSFER.expected(wildcards.encoder),
            seed=lambda wildcards: TRANSFER.seed(wildcards.encoder),
            work=RESULTS / "work",
        shell:
            """
            folder="$(dirname {output.scores[0]:q})"
            python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
            python -m workflow_scripts.write_run \
                --run {params.plan:q} \
                --out "$folder/jobs/plan.json" \
                >>{log:q} 2>&1
            python -m workflow_scripts.gpu_slots xling.finetune.run \
                --encoder "$(dirname {input.encoder[0]:q})" \
                {params.untrained} \
                --vocab "$(dirname {input.vocabulary:q})" \
                --plan "$folder/jobs/plan.json" \
                --seed {params.seed} \
                --work-below {params.work:q} \
                --wait-for-lock \
                --out-dir "$folder" \
                >>{log:q} 2>&1
            """


rule fine_tune:
    """One batch of grid points of one task (points_per_job: a number)."""
    input:
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
    threads: 1
    resources:
        **resource_class("gpu"),
    params:
        plan=lambda wildcards: TRANSFER.fine_tuning(wildcards.encoder, [wildcards.task], int(wildcards.batch)),
        untrained=lambda wildcards: TRANSFER.untrained_flag(wildcards.encoder),
        seed=lambda wildcards: TRANSFER.seed(wildcards.encoder),
        expected=lambda wildcards, output: TRANSFER.expected(wildcards.encoder),
        work=RESULTS / "work",
    shell:
        """
        plan={output.job:q}
        plan="${{plan%.json}}.plan.json"
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.write_run \
            --run {params.plan:q} \
            --out "$plan" \
            >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots xling.finetune.run \
            --encoder "$(dirname {input.encoder[0]:q})" \
            {params.untrained} \
            --vocab "$(dirname {input.vocabulary:q})" \
            --plan "$plan" \
            --seed {params.seed} \
            --work-below {params.work:q} \
            --wait-for-lock \
            --out-dir "$(dirname "$(dirname "$plan")")" \
            >>{log:q} 2>&1
        """
