# Subwords (section 3.1, Table 1): BPE, the vocabulary of each setting, token streams, and the audit of anchors.


rule train_bpe:
    """Learn the BPE merges of one language, or of both languages of a pair jointly."""
    input:
        text=lambda wildcards: [corpus_of(wildcards, code) for code in wildcards.languages.split("-")],
    output:
        model=RESULTS / "bpe/{languages}.{domain}.model",
    log:
        LOGS / "train_bpe/{languages}.{domain}.log",
    benchmark:
        BENCHMARKS / "train_bpe/{languages}.{domain}.tsv"
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["bpe"],
        merges=lambda wildcards: config["bpe"]["joint_merges" if "-" in wildcards.languages else "language_merges"],
        lines=config["bpe"]["train_lines"],
        balance=config["bpe"]["balance"],
    shell:
        """
        python -m xling.bpe.train_bpe \
            --input {input.text:q} --merges {params.merges} --max-lines {params.lines} \
            --balance {params.balance} --seed 1 --out {output.model:q} >>{log:q} 2>&1
        """


rule build_vocabulary:
    """Build a vocabulary: joint, the union of two, with a prefix per language, or with separate ids per language."""
    input:
        models=lambda wildcards: sorted(set(vocabulary_models(wildcards).values())),
    output:
        vocabulary=RESULTS / "vocab/{languages}.{kind}.{domain}/vocab.json",
    log:
        LOGS / "build_vocabulary/{languages}.{kind}.{domain}.log",
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["bpe"],
        models=lambda wildcards: flags.named_flags("--model", vocabulary_models(wildcards)),
    shell:
        """
        python -m xling.bpe.build_vocabulary \
            --kind {wildcards.kind:q} {params.models} --out "$(dirname {output.vocabulary:q})" >>{log:q} 2>&1
        """


rule encode_text:
    """Encode a language's corpus as subword ids of a BPE model; training maps them to the ids of its vocabulary."""
    input:
        vocabulary=RESULTS / "vocab/{languages}.{kind}.{domain}/vocab.json",
        train=training_text,
        valid=lambda wildcards: corpus_of(wildcards, wildcards.language, "valid"),
        test=lambda wildcards: corpus_of(wildcards, wildcards.language, "test"),
    output:
        meta=RESULTS / "streams/{languages}.{kind}.{domain}/{language}.{variant}/meta.json",
    log:
        LOGS / "encode_text/{languages}.{kind}.{domain}.{language}.{variant}.log",
    benchmark:
        BENCHMARKS / "encode_text/{languages}.{kind}.{domain}.{language}.{variant}.tsv"
    conda:
        TEXT_ENV
    threads: lambda wildcards: cores_of(wildcards)
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["bpe"],
        ends="--sentence-ends" if config["bpe"]["sentence_ends"] else "",
    shell:
        """
        python -m xling.bpe.encode_text \
            --vocab "$(dirname {input.vocabulary:q})" --language {wildcards.language:q} \
            --split train={input.train:q} --split valid={input.valid:q} --split test={input.test:q} \
            {params.ends} --processes {threads} --out "$(dirname {output.meta:q})" >>{log:q} 2>&1
        """


rule audit_anchors:
    """Count the subwords that the two languages of a model share, and their share of the running text."""
    input:
        vocabulary=vocabulary_of,
        streams=streams_of,
    output:
        audit=MODELS / "{model}/anchors.json",
    log:
        LOGS / "audit_anchors/{model}.log",
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["bpe"],
        streams=lambda wildcards: flags.named_flags("--streams", STUDY.stream_folders(wildcards.model)),
        proof=lambda wildcards: "--require-none" if STUDY.anchors(wildcards.model) == "none" else "",
    shell:
        """
        python -m xling.bpe.audit_anchors \
            --vocab "$(dirname {input.vocabulary:q})" {params.streams} {params.proof} --out {output.audit:q} \
            >>{log:q} 2>&1
        """
