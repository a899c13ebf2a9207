# Raw data is downloaded and converted to plain text (section 3.1).


rule fetch_dataset:
    """Download and verify one published dataset, or ask the user for it if its licence allows no download.

    Only the receipt is an output: Snakemake deletes the outputs of a failed job, and downloads must not be lost.
    """
    input:
        sources=RESULTS / "plans/fetch/{dataset}.json",
    output:
        receipt=STUDY.root / "receipts/{dataset}.json",
    log:
        LOGS / "fetch_dataset/{dataset}.log",
    localrule: True
    conda:
        TEXT_ENV
    params:
        sources=flags.compared(PLANS["plan_fetch"][2]),
        root=STUDY.root,
    shell:
        """
        python -m xling.data.fetch_dataset \
            --sources {input.sources:q} --root {params.root:q} --receipt {output.receipt:q} \
            2>&1 | tee -a {log:q}
        """


rule fetch:
    """Fetch all raw data of the study, on a machine with network access; compute nodes then need none."""
    input:
        raw_files(map(str, STUDY.needed_files.values())),
    localrule: True


rule extract_text:
    """Extract the paragraphs of a dump or a crawl, or of one shard of it, one per line."""
    input:
        raw=lambda wildcards: raw_files(STUDY.raw_text(wildcards.language, wildcards.domain)),
        read=read_list("text/{language}.{domain}"),
    output:
        text=passing(RESULTS / "text/{language}.{domain}{shard}.txt.zst"),
        stats=RESULTS / "text/{language}.{domain}{shard}.json",
    log:
        LOGS / "extract_text/{language}.{domain}{shard}.log",
    benchmark:
        BENCHMARKS / "extract_text/{language}.{domain}{shard}.tsv"
    wildcard_constraints:
        shard=SHARD,
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["data"],
        raw=lambda wildcards: STUDY.raw_text(wildcards.language, wildcards.domain),
        format=lambda wildcards: STUDY.language(wildcards.language)["text"][wildcards.domain]["format"],
        characters=config["text"]["min_characters"],
        part=part_flag,
        checks=lambda wildcards, output: flags.text_checks(STUDY, wildcards.language, wildcards.domain),
    shell:
        """
        python -m xling.data.extract_text \
            --format {params.format:q} --input {params.raw:q} --min-characters {params.characters} \
            {params.part} {params.checks} --stats {output.stats:q} --out {output.text:q} >>{log:q} 2>&1
        """
