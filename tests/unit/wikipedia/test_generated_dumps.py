"""Dumps of the embedded languages: through the file alone, the prose comes back exactly."""

from pathlib import Path

import pytest

from xling.data.wikidump import Counts, read_dump
from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs
from xling.synthetic.formats.mediawiki import write_dump
from xling.synthetic.types import Document, Paragraph

SENTENCES = {
    "en": (" ", "The old house, number 12 of (seven), stands.", "Who's there? Nobody's dog; it ran 30 miles!"),
    "fr": (" ", "L'été, la maison d'Anne est là : « oui » !", "Où va-t-il ? Il a 12 chats ; rien d'autre."),
    "ru": (" ", "Старый дом — это 5 окон (и дверь).", "Кто там? «Никого», сказал он: всё."),
    "zh": ("", "房子在山上，有12個窗（和門）。", "誰在那裡？沒有人；狗跑了！"),
}


@pytest.mark.parametrize("code", SENTENCES)
def test_prose_comes_back_exactly(tmp_path: Path, code: str) -> None:
    joiner, first, second = SENTENCES[code]
    sentences = [(first,), (second,), (first, second), (second, first, second)]
    documents = [
        Document(f"{second.split()[-1].strip('.!。！')} {n}", 0, tuple(map(Paragraph, sentences[n % 3 :])))
        for n in range(400)
    ]
    path = tmp_path / "wiki.xml.bz2"
    write_dump(path, documents, code, joiner, seed=5)
    counts = Counts()
    pages = read_dump(path, counts)
    found = [paragraphs(page.wikitext, hidden_prefixes(counts.namespaces)) for page in pages]
    assert found == [[joiner.join(p.sentences) for p in document.paragraphs] for document in documents]
    assert min(counts.redirects, counts.other_namespaces) > 20
