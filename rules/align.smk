# Words and sentences in independently trained models (section 5.1): hidden states, and Figures 4a, 4b and 6.

ANALYSES = RESULTS / "analyses"


rule prepare_tatoeba:
    """Tokenise both sides of a Tatoeba test set."""
    input:
        raw=lambda wildcards: raw_files(ALIGNMENT.raw_tatoeba(wildcards.pair.split("-")[1]).values()),
        read=read_list("tatoeba/{pair}"),
        tokenisers=tokeniser_files,
        dictionaries=segmenter_files,
    output:
        source=RESULTS / "tatoeba/{pair}/source.txt",
        target=RESULTS / "tatoeba/{pair}/target.txt",
    log:
        LOGS / "prepare_tatoeba/{pair}.log",
    conda:
        TEXT_ENV
    resources:
        **resource_class("cpu"),
    params:
        rev=REV["tokenization"],
        tokenisers=tokenisers,
        sides=lambda wildcards: flags.named_flags("--file", ALIGNMENT.raw_tatoeba(wildcards.pair.split("-")[1])),
    shell:
        """
        python -m xling.tokenization.prepare_parallel \
            {params.sides} --tokeniser source={input.tokenisers[0]:q} --tokeniser target={input.tokenisers[1]:q} \
            --out-dir "$(dirname {output.source:q})" >>{log:q} 2>&1
        """


rule represent_encoder:
    """Compute an encoder's hidden states of words and sentences; states.json is written after all other files."""
    input:
        model=MODELS / "{model}/model.safetensors",
        run=MODELS / "{model}/run.json",
        vocabulary=vocabulary_of,
        text=lambda wildcards: ALIGNMENT.files(wildcards.model),
    output:
        states=RESULTS / "states/{model}/states.json",
    log:
        LOGS / "represent_encoder/{model}.log",
    benchmark:
        BENCHMARKS / "represent_encoder/{model}.tsv"
    conda:
        ENV
    resources:
        **resource_class("gpu"),
    params:
        rev=REV["align"],
        text=lambda wildcards: ALIGNMENT.flags(wildcards.model),
        expected=lambda wildcards, output: STUDY.expected([wildcards.model]),
        config_hash=lambda wildcards, output: STUDY.identity("states", wildcards.model),
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots xling.align.represent_encoder \
            --encoder "$(dirname {input.model:q})" --vocab "$(dirname {input.vocabulary:q})" {params.text} \
            --config-hash {params.config_hash} --out "$(dirname {output.states:q})" >>{log:q} 2>&1
        """


rule train_vectors:
    """Train fastText on a language's corpus, the baseline of Figure 4 if the config has `vectors: own`."""
    input:
        text=RESULTS / "corpus/{language}.wiki/train.txt.zst",
    output:
        vectors=ALIGNMENT.trained_vectors("{language}"),
    log:
        LOGS / "train_vectors/{language}.log",
    benchmark:
        BENCHMARKS / "train_vectors/{language}.tsv"
    conda:
        ENV
    resources:
        **resource_class("cpu-many"),
    params:
        rev=REV["align"],
        options=flags.option_flags(config["align"]["own_vectors"]),
    shell:
        """
        python -m xling.align.train_vectors --text {input.text:q} {params.options} --out {output.vectors:q} >>{log:q} 2>&1
        """


rule translate_words:
    """Evaluate word translation with the embedding matrix, every layer, fastText and untrained encoders of one seed."""
    input:
        plan=RESULTS / "plans/{job}.json",
        states=lambda wildcards: ALIGNMENT.compared(wildcards.job).values(),
        raw=lambda wildcards: raw_files(ALIGNMENT.raw_words(wildcards.job)),
        vectors=lambda wildcards: ALIGNMENT.own_vectors(wildcards.job),
    output:
        result=ANALYSES / "{job}.json",
    log:
        LOGS / "translate_words/{job}.log",
    benchmark:
        BENCHMARKS / "translate_words/{job}.tsv"
    wildcard_constraints:
        job=r"words\.s\d+",
    conda:
        ENV
    resources:
        **resource_class("gpu"),
    params:
        rev=REV["align"],
        expected=lambda wildcards, output: ALIGNMENT.expected_states(wildcards.job),
        module=lambda wildcards, output: "xling.align.translate_words",
    shell:
        """
        python -m workflow_scripts.expect {params.expected} >>{log:q} 2>&1
        python -m workflow_scripts.gpu_slots {params.module} \
            --plan {input.plan:q} --out {output.result:q} >>{log:q} 2>&1
        """


use rule translate_words as retrieve_sentences with:
    # Evaluate sentence retrieval at every layer, in both directions, with and without a map, trained and untrained.
    input:
        plan=RESULTS / "plans/{job}.json",
        states=lambda wildcards: ALIGNMENT.compared(wildcards.job).values(),
    log:
        LOGS / "retrieve_sentences/{job}.log",
    benchmark:
        BENCHMARKS / "retrieve_sentences/{job}.tsv"
    wildcard_constraints:
        job=r"sentences\.s\d+",
    params:
        rev=REV["align"],
        expected=lambda wildcards, output: ALIGNMENT.expected_states(wildcards.job),
        module=lambda wildcards, output: "xling.align.retrieve_sentences",
