# Masked language models (section 3.1): what each is trained from, resolved to the last number.


rule write_run:
    """Everything that decides a model's weights, in one readable file."""
    output:
        run=MODELS / "{model}/run.json",
    log:
        LOGS / "write_run/{model}.log",
    localrule: True
    conda:
        ENV
    threads: 1
    resources:
        **resource_class("login"),
    params:
        rev=REV["pretrain"],
        run=lambda wildcards: STUDY.run_json(wildcards.model),
    shell:
        """
        python -m workflow_scripts.write_run \
            --run {params.run:q} \
            --out {output.run:q} \
            >>{log:q} 2>&1
        """
