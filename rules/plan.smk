# What everything will cost before anything runs, and what it has cost after. One target: TARGET=table1 snakemake plan


rule plan:
    """Jobs, GPU-hours, CPU-hours, disk, download and the longest chain of what is left, from measured rates."""
    log:
        LOGS / "plan.log",
    localrule: True
    conda:
        ENV
    resources:
        **resource_class("login"),
    params:
        config=lambda wildcards: flags.as_json(config),  # a function: braces in a plain text would be wildcards
    shell:
        """
        python -m workflow_scripts.plan \
            ${{TARGET:-}} \
            --rates "${{RATES:-}}" \
            --config <(printf %s {params.config:q}) \
            2>{log:q}
        """
