# The tables and figures of the report, and the files that they are made from.

import shlex

PAPER = RESULTS / "paper"
TABLES = RESULTS / "tables"
FIGURES = RESULTS / "figures"
BILINGUAL = [name for name, model in STUDY.models.items() if model.bilingual]
EMERGENCE = bool(BILINGUAL and STUDY.parallel_sides)  # bilingual models are monitored on parallel sentences
FIGURE_NAMES = [
    *["forest", "figure1", "figure2", "training", *ALIGNMENT.records, *(path.stem for path in CONTEXTUAL.records())],
    *(["anchors"] if BILINGUAL else []),
    *(["emergence"] if EMERGENCE else []),
    *(["updates"] if STUDY.differing_updates and TRANSFER.models else []),
    *(["kept", "figure3"] if TRANSFER.models else []),
]
CLAIM_RECORDS = [  # the claims are judged on them
    *([RECORDS / "figure3.csv"] if TRANSFER.models else []),
    *[RECORDS / f"{name}.csv" for name in ALIGNMENT.records if name.startswith("figure")],
    *CONTEXTUAL.records(),
]
PAGE_TABLES = ["table1", "examples", "table1-compared", "transfer"] if TRANSFER.models else []


def drawn(name):
    """Return the files of one figure: the image in three formats, and its numbers."""
    return expand(FIGURES / "{name}.{suffix}", name=name, suffix=["png", "pdf", "svg", "csv"])


def figure_inputs(wildcards):
    """Return the input files of a figure, by the flag of xling.report.figures that takes them."""
    study, scores = {"study": RECORDS / "study.json"}, {"records": RECORDS / "figure3.csv"}
    match wildcards.figure:
        case "figure1" | "figure2":
            return study
        case "anchors":
            seed = config["study"]["seeds"][0]  # the seeds of a setting share vocabulary and text
            first = [name for name in BILINGUAL if STUDY.models[name].seed == seed]
            return study | {"audits": expand(MODELS / "{model}/anchors.json", model=first)}
        case "updates":
            return scores | study
        case "forest":
            return {"claims": RESULTS / "claims.json"}
        case "kept" | "figure3":
            return scores | {"settings": RECORDS / "settings.csv"}
        case name:
            return {"records": RECORDS / f"{name}.csv"}


def figure_flags(inputs):
    """Return the inputs of a figure as flags."""
    paths = {name: [value] if isinstance(value, str) else list(value) for name, value in inputs.items()}
    return " ".join(shlex.join([f"--{name}", *found]) for name, found in paths.items())
