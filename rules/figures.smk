# Figures of the study. Each is drawn from its own records, without the others.


rule draw_figure:
    """Draw one figure; the LASER score of the paper is shown only for real sentences, not for generated ones."""
    input:
        unpack(figure_inputs),
    output:
        figure=drawn("{figure}"),
    log:
        LOGS / "draw_figure/{figure}.log",
    wildcard_constraints:
        figure="|".join(name for name in FIGURE_NAMES if name not in ("training", "emergence")),
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        inputs=lambda wildcards, input: figure_flags(input),
        laser=lambda wildcards: "--laser" if wildcards.figure == "figure6" and not STUDY.generated else "",
        folder=FIGURES,
    shell:
        """
        python -m xling.report.figures {wildcards.figure} \
            {params.inputs} {params.laser} --out-dir {params.folder:q} >>{log:q} 2>&1
        """


rule draw_training:
    """Draw the training curves of each model, an overview, and the similarity of languages during training.

    One process draws all of them, because one process per model would take longer.
    """
    input:
        study=RECORDS / "study.json",
        metrics=expand(MODELS / "{model}/metrics.jsonl", model=STUDY.models),
    output:
        overview=drawn("training"),
        emergence=drawn("emergence") if EMERGENCE else [],
        models=expand(FIGURES / "training/{model}.svg", model=STUDY.models),
    log:
        LOGS / "draw_training.log",
    benchmark:
        BENCHMARKS / "draw_training.tsv"
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        folder=FIGURES,
    shell:
        """
        python -m xling.report.figures training \
            --study {input.study:q} --metrics {input.metrics:q} --out-dir {params.folder:q} >>{log:q} 2>&1
        """


rule figures:
    """Draw every figure that the study has records for."""
    input:
        [drawn(name) for name in FIGURE_NAMES],
    localrule: True
