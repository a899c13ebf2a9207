# Plans: readable files that tell jobs what to do, such as descriptions of encoders and lists of results to collect.
# The shell writes them from `params`, so a file is rewritten when its content changes, and no command line contains it.
# Each has a checksum file (seal) in the format of xling.core.io.
# A plan must not be an `ancient` input: while an `ancient` plan is rewritten, Snakemake does not compare the params of
# the jobs that read it, and would keep their outdated results. The run.json of an untrained encoder may be one, because
# all jobs that read it also read a plan with that encoder's hash.

from workflow_scripts.describe import drawn_study

# Path, or the name of a file below plans/; code revision; content. The outputs of `write_traits` and `list_languages` are
# below the data root, like the files generated from them, because studies share both.
PLANS = {
    "write_run": (MODELS / "{model}/run.json", REV["pretrain"], lambda w: STUDY.run(w.model)),
    "write_untrained": (TRANSFER.folder / "{encoder}/run.json", REV["finetune"], lambda w: TRANSFER.run(w.encoder)),
    "plan_transfer": (TRANSFER.folder / "plan.json", 0, lambda w: TRANSFER.plan()),
    "describe_study": (RECORDS / "study.json", 0, lambda w: drawn_study(STUDY)),
    "plan_tuning": ("fine_tune/{encoder}", 0, lambda w: TRANSFER.fine_tuning(w.encoder)),
    "plan_analysis": ("{analysis}", 0, lambda w: ALIGNMENT.plan(w.analysis)),
    "plan_contextual": ("contextual/{job}", 0, lambda w: CONTEXTUAL.plan(w.job)),
    "write_tokeniser": (STUDY.tokeniser_file("{language}"), 0, lambda w: STUDY.tokeniser(w.language)),
    "plan_fetch": ("fetch/{dataset}", 0, lambda w: STUDY.requests(w.dataset)),
    "plan_provenance": ("provenance", 0, lambda w: STUDY.provenance()),
    "write_traits": (STUDY.root / "traits/{language}.json", 0, lambda w: config["synthetic"]["languages"][w.language]),
    "list_languages": (STUDY.root / "traits.json", 0, lambda w: STUDY.embedded()),
    "read_text": ("read/text/{language}.{domain}", 0, lambda w: STUDY.raw_text(w.language, w.domain)),
    "read_task": ("read/task/{task}/{language}.{dataset}.{split}", 0, lambda w: task_source(w)[1]),
    "read_parallel": ("read/parallel/{language}", 0, parallel_files),
    "read_tatoeba": ("read/tatoeba/{pair}", 0, lambda w: [*ALIGNMENT.raw_tatoeba(w.pair.split("-")[1]).values()]),
    "read_dictionary": ("read/dictionary/{pair}", 0, lambda w: [dictionary_file(w)]),
}

for plan, (path, revision, content) in PLANS.items():
    path = RESULTS / f"plans/{path}.json" if isinstance(path, str) else path

    rule:
        name:
            plan
        output:
            plan=path,
        log:
            LOGS / f"{plan}/{'.'.join(re.findall('{.+?}', str(path))) or 'all'}.log",
        wildcard_constraints:
            encoder="|".join(TRANSFER.floors if plan == "write_untrained" else TRANSFER.encoders) or "(?!)",
            analysis=r"(words|sentences|cka)\.s\d+",
        localrule: True
        conda:
            ENV
        params:
            rev=revision,
            plan=flags.compared(content),
            text=flags.readable(content),
        shell:
            "name=$(basename {output.plan:q}) seal=$(dirname {output.plan:q})/.$(basename {output.plan:q}).sha256\n"
            'rm -f "$seal"\n'
            "cat >{output.plan:q} 2>>{log:q} <<'END'\n{params.text}\nEND\n"
            "hash=$(sha256sum <{output.plan:q} || shasum -a 256 <{output.plan:q}) 2>>{log:q}\n"
            'echo "${{hash%% *}}  $name" >"$seal" 2>>{log:q}\n'
