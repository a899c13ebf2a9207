"""What can be wrong with the encoders that a study names beside its own models."""

from collections.abc import Iterator

from workflow_scripts.config import Config, expand_path, nearest
from workflow_scripts.grid import Model, language_of, original_of, pair_languages, study_languages, trained_models

Problems = Iterator[str]


def encoder_problems(config: Config) -> Problems:
    """Yield what is wrong with encoders and comparisons, a line each."""
    for name, encoder in config["encoders"]["models"].items():
        where = f"encoders.models.{name}"
        if ("folder" in encoder) == ("hub" in encoder):
            yield f"{where}: expected either folder or hub, found {'both' if 'folder' in encoder else 'neither'}"
        elif "folder" in encoder:
            yield from _folder(f"{where}.folder", encoder["folder"])
    models = {model.name: model for model in trained_models(config)}
    seen = []
    for number, comparison in enumerate(config["encoders"]["compare"]):
        where = f"encoders.compare[{number}]"
        if comparison in seen:
            yield f"{where}: {' '.join(comparison)} stands in the list twice"
        seen.append(comparison)
        yield from _comparison(config, where, comparison, models)


def _folder(where: str, name: str) -> Problems:
    folder = expand_path(name)
    if not folder.is_dir():
        names = [entry.name for entry in folder.parent.iterdir()] if folder.parent.is_dir() else []
        hint = nearest(folder.name, names) if names else f"no folder {folder.parent}"
        yield f"{where}: no such folder: {folder} ({hint})"
    elif not (folder / "config.json").is_file():
        yield f"{where}: no config.json in {folder} (expected a model as Hugging Face's libraries save it)"


def _comparison(config: Config, where: str, comparison: list[str], models: dict[str, Model]) -> Problems:
    *sides, pair = comparison
    readable = _with_parallel_text(config)
    for name, code in zip(sides, pair_languages(pair), strict=True):
        known = _languages(config, name, models)
        if known is None:
            names = [*config["encoders"]["models"], *models]
            yield f"{where}: unknown encoder {name!r} ({nearest(name, names)})"
        elif code not in readable:
            yield f"{where}: no column of data.parallel is read in {code!r} ({nearest(code, readable)})"
        elif code not in known:
            yield f"{where}: {name} reads {', '.join(known)}, not {code!r} (expected left, right, their languages)"


def _languages(config: Config, name: str, models: dict[str, Model]) -> list[str] | None:
    if name in config["encoders"]["models"]:
        return list(config["encoders"]["models"][name]["languages"])
    return list(models[name].languages) if name in models else None


def _with_parallel_text(config: Config) -> list[str]:
    """Return the languages that are columns of the parallel text: no copies, and none with a file of its own."""
    codes = [code for code in study_languages(config) if original_of(config, code) == code]
    return [code for code in codes if not language_of(config, code).get("parallel")]
