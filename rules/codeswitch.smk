# Extra anchors (section 4.2): in the training text of both languages, words are replaced by their translations.


rule build_dictionary:
    """Build a dictionary from the source language, with the quality of each translation."""
    input:
        dictionary=lambda wildcards: raw_files([dictionary_file(wildcards)]),
        read=read_list("dictionary/{pair}"),
        tokenisers=tokeniser_files,
        segmenters=segmenter_files,
    output:
        dictionary=RESULTS / "dictionary/{pair}.tsv",
    log:
        LOGS / "build_dictionary/{pair}.log",
    benchmark:
        BENCHMARKS / "build_dictionary/{pair}.tsv"
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["data"],
        tokenisers=tokenisers,
        flags=lambda wildcards: flags.dictionary_flags(STUDY, wildcards.pair),
    shell:
        """
        python -m xling.codeswitch.build_dictionary \
            {params.flags} --tokeniser source={input.tokenisers[0]:q} --tokeniser target={input.tokenisers[1]:q} \
            --out {output.dictionary:q} >>{log:q} 2>&1
        """


rule switch_codes:
    """Replace words of a training corpus by their translations into the other language."""
    input:
        text=lambda wildcards: corpus_of(wildcards, wildcards.language),
        dictionary=RESULTS / "dictionary/{pair}.tsv",
    output:
        text=passing(RESULTS / "codeswitch/{pair}.{domain}/{language}.txt.zst"),
        stats=RESULTS / "codeswitch/{pair}.{domain}/{language}.json",
    log:
        LOGS / "switch_codes/{pair}.{domain}.{language}.log",
    benchmark:
        BENCHMARKS / "switch_codes/{pair}.{domain}.{language}.tsv"
    conda:
        TEXT_ENV
    threads: lambda wildcards: cores_of(wildcards)
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["codeswitch"],
        direction=lambda wildcards: "forward" if wildcards.language == wildcards.pair.split("-")[0] else "backward",
        case="lower" if config["text"]["lowercase"] else "keep",
        keep=config["codeswitch"]["keep"],
        cap=config["codeswitch"]["cap"],
        block=config["codeswitch"]["block_words"],
    shell:
        """
        python -m xling.codeswitch.switch_codes \
            --input {input.text:q} --dictionary {input.dictionary:q} --direction {params.direction} \
            --dictionary-case {params.case} --keep {params.keep} --cap {params.cap} --block-words {params.block} \
            --seed 1 --processes {threads} --stats {output.stats:q} --out {output.text:q} >>{log:q} 2>&1
        """
