# Raw data becomes plain text and task files (section 2 of the study's description, sections 3.1 and 3.2 of the paper).


rule extract_text:
    """Paragraphs of a dump or a crawl, one a line."""
    input:
        raw=lambda wildcards: raw_files(STUDY.raw_text(wildcards.language, wildcards.domain)),
    output:
        text=RESULTS / "text/{language}.{domain}.txt.zst",
        stats=RESULTS / "text/{language}.{domain}.json",
    log:
        LOGS / "extract_text/{language}.{domain}.log",
    benchmark:
        BENCHMARKS / "extract_text/{language}.{domain}.tsv"
    conda:
        ENV
    threads: 2
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["data"],
        format=lambda wildcards: STUDY.language(wildcards.language)["text"][wildcards.domain]["format"],
        characters=config["text"]["min_characters"],
    shell:
        """
        python -m xling.data.extract \
            --format {params.format:q} \
            --input {input.raw:q} \
            --min-characters {params.characters} \
            --processes {threads} \
            --stats {output.stats:q} \
            --out {output.text:q} \
            >>{log:q} 2>&1
        """
