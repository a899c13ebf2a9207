# What jobs are to do, as files that a person can read: descriptions of encoders and of the study, lists of what is collected.
# Written by the shell from `params`, so that a file is written again when its content changes, and no command line holds it.
# A rule takes its plan as an input that may not be older: while a plan is written again, Snakemake compares no params of
# jobs that have it as `ancient`, and would leave their results as they were.

from workflow_scripts.describe import drawn_study

PLANS = {
    "write_run": (MODELS / "{model}/run.json", REV["pretrain"], lambda wildcards: STUDY.run(wildcards.model)),
    "write_untrained": (
        TRANSFER.folder / "{encoder}/run.json",
        REV["finetune"],
        lambda wildcards: TRANSFER.run(wildcards.encoder),
    ),
    "plan_transfer": (TRANSFER.folder / "plan.json", 0, lambda wildcards: TRANSFER.plan()),
    "describe_study": (RECORDS / "study.json", 0, lambda wildcards: drawn_study(STUDY)),
    "plan_tuning": (
        RESULTS / "plans/fine_tune/{encoder}.json",
        0,
        lambda wildcards: TRANSFER.fine_tuning(wildcards.encoder),
    ),
    "plan_analysis": (RESULTS / "plans/{analysis}.json", 0, lambda wildcards: ALIGNMENT.plan(wildcards.analysis)),
    "plan_contextual": (RESULTS / "plans/contextual/{job}.json", 0, lambda wildcards: CONTEXTUAL.plan(wildcards.job)),
    "write_tokeniser": (
        STUDY.tokeniser_file("{language}"),
        0,
        lambda wildcards: STUDY.tokeniser(wildcards.language),
    ),
    "plan_fetch": (RESULTS / "plans/fetch/{dataset}.json", 0, lambda wildcards: STUDY.requests(wildcards.dataset)),
    "plan_provenance": (RESULTS / "plans/provenance.json", 0, lambda wildcards: STUDY.provenance()),
    # Below the data root, as what is generated from them: studies share both.
    "write_traits": (
        STUDY.root / "traits/{language}.json",
        0,
        lambda wildcards: config["synthetic"]["languages"][wildcards.language],
    ),
    "list_languages": (STUDY.root / "traits.json", 0, lambda wildcards: STUDY.embedded()),
}

READERS = {
    "text": ("{language}.{domain}", lambda wildcards: STUDY.raw_text(wildcards.language, wildcards.domain)),
    "task": ("{task}/{language}.{dataset}.{split}", lambda wildcards: [task_source(wildcards)["path"]]),
    "parallel": ("{language}", parallel_files),
    "tatoeba": ("{pair}", lambda wildcards: list(ALIGNMENT.raw_tatoeba(wildcards.pair.split("-")[1]).values())),
    "dictionary": ("{pair}", lambda wildcards: [dictionary_file(wildcards)]),
}
PLANS |= {
    f"read_{kind}": (RESULTS / f"plans/read/{kind}/{names}.json", 0, paths) for kind, (names, paths) in READERS.items()
}


for plan, (path, revision, content) in PLANS.items():

    rule:
        name:
            plan
        output:
            plan=path,
        log:
            LOGS / f"{plan}/{'.'.join(re.findall('{.+?}', str(path))) or 'all'}.log",
        wildcard_constraints:
            encoder="|".join(TRANSFER.floors if plan == "write_untrained" else TRANSFER.encoders) or "(?!)",
            analysis="words|sentences|cka",
        localrule: True
        conda:
            ENV
        params:
            rev=revision,
            plan=flags.compared(content),
            text=flags.readable(content),
        shell:
            "cat >{output.plan:q} 2>>{log:q} <<'END'\n{params.text}\nEND\n"
