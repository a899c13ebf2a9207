"""The embedded study's description, for tests that change a key of it."""

import copy
import json
from functools import reduce
from pathlib import Path
from string import ascii_lowercase

from workflow_scripts.config import merge, read_config
from workflow_scripts.study import Study

ROOT = Path(__file__).resolve().parents[1]
EMBEDDED = read_config(ROOT / "config.yaml")
SEP_TOKENS = {  # a setting beside the ten: token vectors are a language's own, positions are shared
    "label": "Sep Tokens", "bpe": "per-language", "anchors": "none", "separate": {"embeddings": "tokens"},
    "softmax": "per-language",
}  # fmt: skip


def study(**changes):
    """Return the embedded description with changes laid over it, as a preset would."""
    return copy.deepcopy(merge(EMBEDDED, changes))


def made(**changes):
    """Return the embedded study with changes laid over its description."""
    return Study(study(**changes))


def leaves(value, path=""):
    """Yield every value of a description with its path, as pretrain.lr; a list is one value."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}".lstrip("."))
    else:
        yield path, value


def nested(edit):
    """Return the description that an edit lays over a study, from paths as pretrain.lr."""
    parts = [reduce(lambda inner, key: {key: inner}, reversed(path.split(".")), edit[path]) for path in edit]
    return reduce(merge, parts, {})


def results(one):
    """Return every model and every result of a study."""
    keys: list[tuple[str, ...]] = [("model", name) for name in one.models]
    keys += [("score", name, task) for name in one.transfer.encoders for task in one.transfer.tasks]
    keys += [("analysis", name) for name in one.alignment.jobs]
    keys += [("states", name) for name in one.alignment.encoders]
    return keys + [("contextual", name) for name in one.contextual.jobs]


DEMO = made()
PAPER = Study(read_config(ROOT / "config.yaml", ROOT / "presets" / "paper.yaml"))


def many_languages(count, **chosen):
    """Return a study of so many languages beside English, each with all ten settings and three seeds."""
    languages, traits = {}, {}
    for code in (f"l{letter}" for letter in ascii_lowercase[:count]):
        text = json.dumps(EMBEDDED["languages"]["fr"] | {"name": f"Language {code}"})
        for old, new in {"/frwiki": f"/{code}wiki", "/fr": f"/{code}", "-fr.": f"-{code}.", "fra": f"{code}x"}.items():
            text = text.replace(old, new)
        languages[code], traits[code] = json.loads(text), EMBEDDED["synthetic"]["languages"]["fr"]
    pairs = {f"en-{code}": EMBEDDED["pairs"]["en-fr"] for code in languages}
    grid = {"pairs": [*pairs], "languages": ["en", *languages], "seeds": [1, 2, 3], "extra": [], "skip": []}
    return study(study=grid | chosen, languages=languages, pairs=pairs, synthetic={"languages": traits})
