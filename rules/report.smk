# Tables and figures (sections 4 and 5).


rule paper_figures:
    """Make Table 1 and Figures 3 and 7 from the published numbers, without any training."""
    output:
        tables=expand(PAPER / "table1.{suffix}", suffix=["csv", "md", "tex"]),
        figures=expand(PAPER / "figure{number}.{suffix}", number=[3, 7], suffix=["csv", "png", "pdf", "svg"]),
    log:
        LOGS / "paper_figures.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        folder=PAPER,
    shell:
        """
        python -m xling.report.paper_figures --out-dir {params.folder:q} >>{log:q} 2>&1
        """


rule table1:
    """Write the table of zero-shot transfer of the bilingual models, alone and beside the paper's numbers."""
    input:
        cells=RECORDS / "figure3.csv",
        settings=RECORDS / "settings.csv",
        examples=TABLES / "examples.csv",
    output:
        tables=expand(TABLES / "{name}.{suffix}", name=["table1", "table1-compared"], suffix=["csv", "md", "tex"]),
    log:
        LOGS / "table1.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        folder=TABLES,
    shell:
        """
        python -m xling.report.table1 \
            --cells {input.cells:q} --settings {input.settings:q} --examples {input.examples:q} \
            --out-dir {params.folder:q} >>{log:q} 2>&1
        """
