# Tokenisation (section 3.1): Moses, a segmenter for scripts without spaces, and lower case.


rule tokenise_text:
    """Split paragraphs into words with single spaces between them; of a thinned crawl, only a sample is used."""
    input:
        text=RESULTS / "text/{language}.{domain}{shard}.txt.zst",
        tokeniser=STUDY.tokeniser_file("{language}"),
        dictionary=segmenter_files,
        sizes=thinning_sizes,
    output:
        words=passing(RESULTS / "tokenised/{language}.{domain}{shard}.txt.zst"),
        stats=RESULTS / "tokenised/{language}.{domain}{shard}.json",
    log:
        LOGS / "tokenise_text/{language}.{domain}{shard}.log",
    benchmark:
        BENCHMARKS / "tokenise_text/{language}.{domain}{shard}.tsv"
    wildcard_constraints:
        shard=SHARD,
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["tokenization"],
        tokenisers=tokenised_as,
        part=part_flag,
        thin=lambda wildcards, output: flags.thin_flags(STUDY, wildcards.language, wildcards.domain),
    shell:
        """
        python -m xling.tokenization.tokenise_text \
            --input {input.text:q} --options {input.tokeniser:q} {params.part} {params.thin} \
            --stats {output.stats:q} --out {output.words:q} >>{log:q} 2>&1
        """


rule split_corpus:
    """Separate the held-out lines, and trim web text to the size of the smallest domain of its language."""
    input:
        words=lambda wildcards: STUDY.shards("tokenised", wildcards.language, wildcards.domain),
        sizes=corpus_sizes,
    output:
        train=RESULTS / "corpus/{language}.{domain}/train.txt.zst",
        valid=RESULTS / "corpus/{language}.{domain}/valid.txt.zst",
        test=RESULTS / "corpus/{language}.{domain}/test.txt.zst",
        stats=RESULTS / "corpus/{language}.{domain}/stats.json",
    log:
        LOGS / "split_corpus/{language}.{domain}.log",
    benchmark:
        BENCHMARKS / "split_corpus/{language}.{domain}.tsv"
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["tokenization"],
        valid_lines=config["text"]["valid_lines"],
        test_lines=config["text"]["test_lines"],
        size=lambda wildcards: flags.size_flag(STUDY, wildcards.language, wildcards.domain),
        order=lambda wildcards: flags.order_flag(STUDY, wildcards.language),
    shell:
        """
        python -m xling.data.split_corpus \
            --input {input.words:q} --valid-lines {params.valid_lines} --test-lines {params.test_lines} --seed 1 \
            {params.size} {params.order} --out-dir "$(dirname {output.stats:q})" >>{log:q} 2>&1
        """


rule prepare_task:
    """Prepare one split of a task's data in one language, tokenised like the pretraining text."""
    input:
        raw=lambda wildcards: raw_files(task_source(wildcards)[1]),
        read=read_list("task/{task}/{language}.{dataset}.{split}"),
        tokeniser=STUDY.tokeniser_file("{language}"),
        dictionary=segmenter_files,
    output:
        data=RESULTS / "tasks/{task}/{language}.{dataset}.{split}.jsonl",
    log:
        LOGS / "prepare_task/{task}.{language}.{dataset}.{split}.log",
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["tokenization"],
        tokenisers=tokenisers,
        raw=lambda wildcards: task_source(wildcards)[1],
        language=lambda wildcards: STUDY.original(wildcards.language),
        format=lambda wildcards: task_source(wildcards)[0],
        checks=lambda wildcards, output: flags.text_checks(STUDY, wildcards.language),
    shell:
        """
        python -m xling.tokenization.prepare_task {wildcards.task:q} \
            --format {params.format:q} --input {params.raw:q} --language {params.language:q} {params.checks} \
            --tokeniser {input.tokeniser:q} --out {output.data:q} >>{log:q} 2>&1
        """


rule prepare_parallel:
    """Tokenise the parallel sentences of a language; the same line has the same sentence in all languages.

    There is one job per language, so adding a language to a study does not rerun jobs of other languages.
    """
    input:
        raw=lambda wildcards: raw_files(parallel_files(wildcards)),
        read=read_list("parallel/{language}"),
        tokeniser=STUDY.tokeniser_file("{language}"),
        dictionaries=segmenter_files,
    output:
        side=RESULTS / "parallel/{language}.txt",
    log:
        LOGS / "prepare_parallel/{language}.log",
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["tokenization"],
        tokenisers=tokenisers,
        table=STUDY.raw(config["data"]["parallel"] or ""),
        side=lambda wildcards: flags.parallel_flags(STUDY, wildcards.language),
    shell:
        """
        python -m xling.tokenization.prepare_parallel \
            --multiway {params.table:q} {params.side} --tokeniser {wildcards.language}={input.tokeniser:q} \
            --out-dir "$(dirname {output.side:q})" >>{log:q} 2>&1
        """
