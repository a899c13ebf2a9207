# The embedded (generated) languages: every data source in its official raw format, at the path of the real data.

if STUDY.generated:

    for code in STUDY.originals:

        rule:
            """Generate the encyclopaedia, web text, trees and named entities of one language."""
            name:
                f"generate_{code}"
            input:
                traits=STUDY.root / f"traits/{code}.json",
            output:
                STUDY.generated_of(code),
            log:
                LOGS / f"generate/{code}.log",
            benchmark:
                BENCHMARKS / f"generate/{code}.tsv"
            conda:
                TEXT_ENV
            resources:
                **resource_class("cpu"),
            params:
                rev=REV["synthetic"],
                traits=flags.compared(lambda wildcards, code=code: config["synthetic"]["languages"][code]),
                flags=flags.language_flags(STUDY, code),
                root=STUDY.root,
            shell:
                """
                python -m xling.synthetic.generate_language \
                    --traits {input.traits:q} {params.flags} --root {params.root:q} >>{log:q} 2>&1
                """

    rule generate_parallel:
        """Generate the files that languages share: inference pairs, parallel sentences and dictionaries."""
        input:
            languages=STUDY.root / "traits.json",
        output:
            files=STUDY.generated_together(),
            dictionaries=directory(STUDY.dictionary_folders()),
        log:
            LOGS / "generate/parallel.log",
        benchmark:
            BENCHMARKS / "generate/parallel.tsv"
        conda:
            TEXT_ENV
        resources:
            **resource_class("cpu"),
        params:
            rev=REV["synthetic"],
            languages=flags.compared(PLANS["list_languages"][2]),
            flags=flags.together_flags(STUDY),
            root=STUDY.root,
        shell:
            """
            python -m xling.synthetic.generate_parallel \
                --languages {input.languages:q} {params.flags} --root {params.root:q} >>{log:q} 2>&1
            """
