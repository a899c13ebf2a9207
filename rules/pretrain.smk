# Masked language models (section 3.1).


rule pretrain:
    """Train one encoder.

    The directory of checkpoints is not an output, because Snakemake deletes outputs after a failure; its name has a
    hash of all that affects the weights. Parallel sentences are for monitoring only, so touching them reruns nothing.
    Changing how often training is saved reruns nothing either, because Snakemake does not compare params that are
    functions of `output`. The launcher and the trainer replace the shell, so signals of the cluster reach the trainer.
    """
    input:
        run=MODELS / "{model}/run.json",
        vocabulary=vocabulary_of,
        streams=streams_of,
        parallel=lambda wildcards: ancient([*parallel_of(wildcards.model).values()]),
    output:
        model=MODELS / "{model}/model.safetensors",
        config=MODELS / "{model}/model.json",
        metrics=MODELS / "{model}/metrics.jsonl",
        provenance=MODELS / "{model}/provenance.json",
        train_log=MODELS / "{model}/train.log",
    log:
        LOGS / "pretrain/{model}.log",
    benchmark:
        BENCHMARKS / "pretrain/{model}.tsv"
    priority: AFTER_TEXT
    conda:
        ENV
    resources:
        **resource_class("gpu-long"),
    params:
        rev=REV["pretrain"],
        streams=lambda wildcards: flags.named_flags("--streams", STUDY.stream_folders(wildcards.model)),
        parallel=lambda wildcards: flags.named_flags("--parallel", parallel_of(wildcards.model)),
        saving=lambda wildcards, output: flags.saving_flags(STUDY, wildcards.model),
        work=RESULTS / "work",
    shell:
        """
        exec python -m workflow_scripts.launch \
            --gpus {resources.gpu} --nodes {resources.nodes} xling.pretrain.run --run-json {input.run:q} \
            {params.streams} {params.parallel} --vocab "$(dirname {input.vocabulary:q})" {params.saving} \
            --work-root {params.work:q} --revision {params.rev} --wait-for-lock \
            --out "$(dirname {output.model:q})" >>{log:q} 2>&1
        """
