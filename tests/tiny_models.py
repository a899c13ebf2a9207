"""Small encoders in the layout of a training run, with vocabularies of the kinds of the study's settings."""

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import count_words, fit
from xling.bpe.vocabulary import Vocabulary
from xling.core.io import write_json
from xling.core.seeds import python_rng
from xling.model.config import ModelConfig, Separate, Shape
from xling.model.encoder import Encoder
from xling.model.files import save_encoder
from xling.synthetic.formats.text import write_lines

# kind of vocabulary, separate embeddings, separate layers (Table 1 of the paper, and token vectors alone)
SETTINGS = {
    "default": ("joint", False, 0),
    "no-anchors": ("prefixed", False, 0),
    "sep-emb": ("separate", True, 0),
    "sep-tokens": ("separate", "tokens", 0),
    "sep-l1-3": ("union", False, 3),
}
LETTERS = {"en": "bdfgklmnprst", "fr": "bdfgzvkwyxqj"}


def made_up(language, number, seed=1):
    """Return lines of made-up words, some of which both languages have."""
    rng = python_rng("tiny models", language, seed)
    own = ["".join(rng.choice(LETTERS[language]) + rng.choice("aeiouéя") for _ in range(1 + i % 3)) for i in range(300)]
    words = [*own, *(str(year) for year in range(1990, 2020))]
    return [" ".join(rng.choice(words) for _ in range(rng.randrange(2, 14))) for _ in range(number)]


def write(path, lines):
    """Write lines to a file and return it."""
    write_lines(path, lines)
    return path


def write_vocab(folder, kind, texts, merges):
    """Train BPE on tokenised lines, where it is not there yet, and write a vocabulary of a kind."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"joint": [line for lines in texts.values() for line in lines]} if kind == "joint" else texts
    for name, lines in parts.items():
        if not (folder / f"{name}.trained").is_file():
            (folder / f"{name}.trained").write_bytes(fit(count_words(lines), merges))
    models = {code: folder / f"{'joint' if kind == 'joint' else code}.trained" for code in texts}
    write_vocabulary(kind, models, folder / kind)
    return folder / kind


def write_model(folder, vocab, setting="default", norm="post", activation="gelu", inner=4):
    """Draw an encoder for a vocabulary and write it with the files of a run."""
    vocabulary = Vocabulary.load(vocab)
    _, embeddings, layers = SETTINGS[setting]
    shape = Shape(4, 24, 2, 24 * inner, activation, 0.1, 0.1, norm, 1e-12, 40, True)
    sizes = tuple(vocabulary.size_of(code) for code in vocabulary.languages)
    softmax = "per-language" if embeddings else "shared"
    config = ModelConfig(vocabulary.languages, sizes, shape, Separate(embeddings, layers), softmax)
    encoder = Encoder(config, seed=3).eval()
    save_encoder(encoder, folder)
    made = {
        "vocabulary": {"kind": vocabulary.kind, "merges": 60},
        "corpus": {code: {"domain": "wiki"} for code in config.languages},
    }
    run = {"model": f"toy.{setting}", "languages": config.languages, "seed": 7, "pretrain": {"length": 32, "lr": 0.5}}
    write_json(folder / "run.json", run | {"made_from": made})
    return encoder
