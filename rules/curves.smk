# What training left behind, drawn: training curves, the emergence of cross-lingual structure, anchors.


rule draw_training:
    """The training of every model: one picture each, all in one, and what its languages have in common by then.

    One process draws them all, because a process of its own for each would take longer.
    """
    input:
        study=RECORDS / "study.json",
        metrics=expand(MODELS / "{model}/metrics.jsonl", model=STUDY.trained),
    output:
        overview=captioned("training", "training"),
        emergence=captioned("emergence", "training") if bilingual_models() else [],
        models=expand(FIGURES / "training/{model}.{suffix}", model=STUDY.trained, suffix=["png", "svg"]),
    log:
        LOGS / "draw_training.log",
    benchmark:
        BENCHMARKS / "draw_training.tsv"
    localrule: True
    conda:
        ENV
    resources:
        **resource_class("login"),
    params:
        rev=REV["report"],
        folder=FIGURES,
    shell:
        """
        python -m xling.report.training \
            --study {input.study:q} \
            --metrics {input.metrics:q} \
            --out-dir {params.folder:q} \
            >>{log:q} 2>&1
        """


rule draw_anchors:
    """The audit of all bilingual models: how much of the text their two languages share."""
    input:
        study=RECORDS / "study.json",
        audits=expand(MODELS / "{model}/anchors.json", model=bilingual_models()),
    output:
        figure=captioned("anchors", "anchors"),
    log:
        LOGS / "draw_anchors.log",
    localrule: True
    conda:
        ENV
    resources:
        **resource_class("login"),
    params:
        rev=REV["report"],
        folder=FIGURES,
    shell:
        """
        python -m xling.report.anchor_plot \
            --study {input.study:q} \
            --audits {input.audits:q} \
            --out-dir {params.folder:q} \
            >>{log:q} 2>&1
        """
