# Masked language models (section 3.1).


rule pretrain:
    """One encoder.

    The directory that it resumes from is no output, because Snakemake empties outputs after a failure; it is named by
    everything that decides the weights. Parallel sentences are used only for monitoring, so touching them reruns nothing.
    How often a training is saved decides nothing either: Snakemake does not compare a param that is a function of
    `output`. The launcher and the trainer replace the shell, so that a signal of the cluster reaches the trainer.
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
            --work-below {params.work:q} --revision {params.rev} --wait-for-lock \
            --out "$(dirname {output.model:q})" >>{log:q} 2>&1
        """
