# Verdicts on the claims, provenance, and the page with all results of the study.

CHOICES = [Path(workflow.basedir) / "docs" / name for name in ("choices.md", "data.md")]


rule claims:
    """Judge the paper's claims by the results of the study; the rule succeeds whatever the verdicts are."""
    input:
        records=CLAIM_RECORDS,
        counts=RECORDS / "items.npz" if TRANSFER.models else [],
    output:
        json=RESULTS / "claims.json",
        markdown=RESULTS / "claims.md",
    log:
        LOGS / "claims.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        scale=STUDY.scale_flag(),
        paired=flags.join_flags({"--items": RECORDS / "items.npz"} if TRANSFER.models else {}),
        hash=STUDY.identity("verdicts"),
    shell:
        """
        python -m xling.report.claims \
            --results {input.records:q} {params.paired} {params.scale} --config-hash {params.hash} \
            --out-json {output.json:q} --out-md {output.markdown:q} >>{log:q} 2>&1
        """


rule collect_provenance:
    """Collect code, machine, times, models and data of the study, after every stage has recorded its time."""
    input:
        plan=RESULTS / "plans/provenance.json",
        models=expand(MODELS / "{model}/provenance.json", model=STUDY.models),
        claims=RESULTS / "claims.json",
        tables=expand(TABLES / "{name}.csv", name=PAGE_TABLES),
        figures=rules.figures.input,
    output:
        provenance=RESULTS / "provenance.json",
    log:
        LOGS / "collect_provenance.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        benchmarks=BENCHMARKS,
    shell:
        """
        python -m workflow_scripts.collect_provenance \
            --plan {input.plan:q} --models {input.models:q} --benchmarks {params.benchmarks:q} \
            --out {output.provenance:q} >>{log:q} 2>&1
        """


rule page:
    """Write one page with all results, which opens without a network."""
    input:
        claims=RESULTS / "claims.json",
        tables=expand(TABLES / "{name}.csv", name=PAGE_TABLES),
        figures=rules.figures.input,
        paper=rules.paper_figures.output.figures,
        provenance=RESULTS / "provenance.json",
        choices=ancient(CHOICES),
    output:
        page=RESULTS / "report.html",
    log:
        LOGS / "page.log",
    localrule: True
    conda:
        ENV
    params:
        rev=REV["report"],
        title=f"{config['study']['name']}: what the study found",
        figures=FIGURES,
        only=FIGURE_NAMES,
        paper=PAPER,
        beside=flags.join_flags({"--logs": LOGS, "--models": MODELS, "--scores": TRANSFER.folder}),
    shell:
        """
        python -m xling.report.page \
            --title {params.title:q} --claims {input.claims:q} --tables {input.tables:q} \
            --figures {params.figures:q} --only {params.only:q} --paper-figures {params.paper:q} \
            --provenance {input.provenance:q} --choices {input.choices:q} {params.beside} \
            --out {output.page:q} >>{log:q} 2>&1
        """


rule report:
    """Make the page and everything that it is made from."""
    input:
        rules.page.output.page,
    localrule: True
