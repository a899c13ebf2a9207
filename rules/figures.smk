# Figures of the study: each from its own records, so that one can be had without the others.


rule draw_schematics:
    """Figures 1 and 2: what is shared in each setting, and what is compared."""
    input:
        study=RECORDS / "study.json",
    output:
        figures=captioned("figure1", "schematics") + captioned("figure2", "schematics"),
    log:
        LOGS / "draw_schematics.log",
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
        python -m xling.report.schematic \
            --study {input.study:q} \
            --out-dir {params.folder:q} \
            >>{log:q} 2>&1
        """


rule draw_figure:
    """One figure from its records; the level of LASER that the paper gives belongs to real sentences only."""
    input:
        records=RECORDS / "{figure}.csv",
    output:
        figure=captioned("{figure}", "figure"),
    log:
        LOGS / "draw_figure/{figure}.log",
    wildcard_constraints:
        figure="figure(4a|4b|5|6|7|8)|cka_matrix",
    localrule: True
    conda:
        ENV
    resources:
        **resource_class("login"),
    params:
        rev=REV["report"],
        reference=lambda wildcards: "--laser" if wildcards.figure == "figure6" and not STUDY.generated else "",
        folder=FIGURES,
    shell:
        """
        python -m xling.report.{wildcards.figure} \
            --records {input.records:q} \
            {params.reference} \
            --out-dir {params.folder:q} \
            >>{log:q} 2>&1
        """


rule figures:
    """Every figure that the study has records for."""
    input:
        study_figures(),
    localrule: True
