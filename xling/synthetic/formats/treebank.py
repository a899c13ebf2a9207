"""Universal Dependencies: CoNLL-U with comments, multiword tokens, SpaceAfter and now and then an empty node."""

import random
from collections.abc import Iterable
from pathlib import Path

from xling.core.io import write_text
from xling.core.seeds import python_rng
from xling.synthetic.formats.tokens import Surface, surface
from xling.synthetic.types import Sentence

EMPTY_NODE_SHARE = 0.05  # of the sentences: EWT has them in about 1% (gapping), here they must occur in small files too
NOTHING = "_"


def write_treebank(path: Path, sentences: Iterable[Sentence], name: str, seed: int) -> None:
    """Write sentences as one CoNLL-U file whose sentence ids start with `name`."""
    rng = python_rng(seed, "treebank", name)
    with write_text(path) as handle:
        handle.write("# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n")
        for number, sentence in enumerate(sentences, start=1):
            handle.write(sentence_block(sentence, f"{name}_{number:05d}", rng))


def sentence_block(sentence: Sentence, identifier: str, rng: random.Random) -> str:
    """Return one sentence with its comments and the blank line that ends it."""
    enhanced = rng.random() < EMPTY_NODE_SHARE
    rows = [row for token in surface(sentence) for row in token_rows(sentence, token, enhanced)]
    if enhanced:
        rows.insert(_after_root(sentence, rows), _empty_node(sentence))
    lines = [f"# sent_id = {identifier}", f"# text = {sentence.text}", *("\t".join(row) for row in rows)]
    return "\n".join(lines) + "\n\n"


def token_rows(sentence: Sentence, token: Surface, enhanced: bool) -> list[list[str]]:
    """Return the rows of one printed token: its range line if it is merged, then its words."""
    misc = NOTHING if token.space_after else "SpaceAfter=No"
    if token.first == token.last:
        return [_word(sentence, token.first, misc, enhanced)]
    span = [f"{token.first + 1}-{token.last + 1}", token.form, *[NOTHING] * 7, misc]
    return [span, *(_word(sentence, index, NOTHING, enhanced) for index in range(token.first, token.last + 1))]


def _word(sentence: Sentence, index: int, misc: str, enhanced: bool) -> list[str]:
    head, relation = str(sentence.heads[index]), sentence.deprels[index]
    deps = f"{head}:{relation}" if enhanced else NOTHING
    form, lemma, upos = sentence.forms[index], sentence.lemmas[index], sentence.upos[index]
    return [str(index + 1), form, lemma, upos, NOTHING, NOTHING, head, relation, deps, misc]


def _after_root(sentence: Sentence, rows: list[list[str]]) -> int:
    """Return the place of the empty node: after the root, or after the merged token that the root is part of."""
    root = str(sentence.heads.index(0) + 1)
    return 1 + next(place for place, row in enumerate(rows) if row[0] == root)


def _empty_node(sentence: Sentence) -> list[str]:
    """Return a copy of the root as an empty node, as an elided second clause would have it."""
    root = sentence.heads.index(0)
    node = [f"{root + 1}.1", sentence.forms[root], sentence.lemmas[root], sentence.upos[root]]
    return [*node, *[NOTHING] * 4, f"{root + 1}:conj", f"CopyOf={root + 1}"]
