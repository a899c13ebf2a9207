# Functions that return the files of the report.

import shlex


def claim_records():
    """Return the records of the study that the claims are judged on."""
    aligned = [RECORDS / f"{name}.csv" for name in ALIGNMENT.records if name.startswith("figure")]
    return [*([RECORDS / "figure3.csv"] if TRANSFER.models else []), *aligned, *CONTEXTUAL.records()]


def study_tables():
    """Return the tables of the page, in the order of the page."""
    names = ["table1", "examples", "table1-compared", "transfer"] if TRANSFER.models else []
    return [TABLES / f"{name}.csv" for name in names]


def drawn(name):
    """Return the files of one figure: the image in three formats, and its numbers."""
    return expand(FIGURES / "{name}.{suffix}", name=name, suffix=["png", "pdf", "svg", "csv"])


def shows_emergence():
    """Return whether bilingual models are monitored on parallel sentences during training."""
    return bool(bilingual_models() and STUDY.parallel_sides)


def figure_names():
    """Return the names of all figures that the study has data for."""
    recorded = [*ALIGNMENT.records, *(path.stem for path in CONTEXTUAL.records())]
    names = ["forest", "figure1", "figure2", "training", *recorded]
    names += ["anchors"] if bilingual_models() else []
    names += ["emergence"] if shows_emergence() else []
    names += ["updates"] if STUDY.differing_updates and TRANSFER.models else []
    return names + (["kept", "figure3"] if TRANSFER.models else [])


def figure_inputs(wildcards):
    """Return the input files of a figure, by the flag of xling.report.figures that takes them."""
    match wildcards.figure:
        case "figure1" | "figure2":
            return {"study": RECORDS / "study.json"}
        case "anchors":
            seed = config["study"]["seeds"][0]  # the seeds of a setting share vocabulary and text
            first = [name for name in bilingual_models() if STUDY.models[name].seed == seed]
            audits = expand(MODELS / "{model}/anchors.json", model=first)
            return {"study": RECORDS / "study.json", "audits": audits}
        case "updates":
            return {"records": RECORDS / "figure3.csv", "study": RECORDS / "study.json"}
        case "forest":
            return {"claims": RESULTS / "claims.json"}
        case "kept" | "figure3":
            return {"records": RECORDS / "figure3.csv", "settings": RECORDS / "settings.csv"}
        case name:
            return {"records": RECORDS / f"{name}.csv"}


def figure_flags(inputs):
    """Return the inputs of a figure as flags."""
    paths = {name: [value] if isinstance(value, str) else list(value) for name, value in inputs.items()}
    return " ".join(shlex.join([f"--{name}", *found]) for name, found in paths.items())


def study_figures():
    """Return the files of all figures of the study."""
    return [path for name in figure_names() for path in drawn(name)]
