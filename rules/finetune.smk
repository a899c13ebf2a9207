# Zero-shot transfer (section 3.2): trained encoders and floors (untrained encoders) are fine-tuned and scored.


rule fine_tune:
    """Fine-tune one encoder in all tasks at every grid point, several at a time on one GPU, and score it.

    For a single model: snakemake results/demo/transfer/en-fr.no-anchors.s1/ner.json
    """
    input:
        plan=RESULTS / "plans/fine_tune/{encoder}.json",
        encoder=lambda wildcards: read_of(
            TRANSFER.encoder_files(wildcards.encoder), wildcards.encoder in TRANSFER.floors
        ),
        vocabulary=lambda wildcards: TRANSFER.vocabulary(wildcards.encoder),
        data=lambda wildcards: TRANSFER.data_files(wildcards.encoder),
    output:
        scores=TRANSFER.files("{encoder}"),
        counts=TRANSFER.files("{encoder}", "jobs/"),
    log:
        LOGS / "fine_tune/{encoder}.log",
    benchmark:
        BENCHMARKS / "fine_tune/{encoder}.tsv"
    wildcard_constraints:
        encoder="|".join(TRANSFER.encoders) or "(?!)",
    priority: AFTER_TEXT
    conda:
        ENV
    resources:
        **resource_class("gpu-many"),
    params:
        untrained=lambda wildcards: "--untrained" if wildcards.encoder in TRANSFER.floors else "",
        seed=lambda wildcards: TRANSFER.encoders[wildcards.encoder].seed,
        expected=lambda wildcards, output: TRANSFER.expected(wildcards.encoder),
        folder=lambda wildcards, output: TRANSFER.folder / wildcards.encoder,
        work=RESULTS / "work",
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots xling.finetune.fine_tune \
            --encoder "$(dirname {input.encoder[0]:q})" {params.untrained} --vocab "$(dirname {input.vocabulary:q})" \
            --plan {input.plan:q} --seed {params.seed} --work-root {params.work:q} --wait-for-lock \
            --out-dir {params.folder:q} >>{log:q} 2>&1
        """
