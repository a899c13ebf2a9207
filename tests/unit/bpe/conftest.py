"""Small vocabularies for the tests of this folder."""

from collections import Counter

import pytest

from xling.bpe.build_vocabulary import write_vocabulary
from xling.bpe.train_bpe import fit

ENGLISH = Counter({"the": 50, "cat": 30, "cats": 20, "table": 17, "on": 11})
FRENCH = Counter({"le": 50, "la": 40, "table": 30, "chat": 20, "chats": 12})


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Return the folder of three BPE models (en.model, fr.model, joint.model) and a vocabulary of each kind."""
    folder = tmp_path_factory.mktemp("built")
    for name, words in (("en", ENGLISH), ("fr", FRENCH), ("joint", ENGLISH + FRENCH)):
        (folder / f"{name}.model").write_bytes(fit(words, 15))
    own = {code: folder / f"{code}.model" for code in ("en", "fr")}
    write_vocabulary("mono", {"en": own["en"]}, folder / "mono")
    write_vocabulary("joint", dict.fromkeys(own, folder / "joint.model"), folder / "joint")
    for kind in ("union", "prefixed", "separate"):
        write_vocabulary(kind, own, folder / kind)
    return folder
