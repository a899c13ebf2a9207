from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB1, Entities

from xling.core.errors import InputError
from xling.data.ner import NerSentence, read_conll2003, read_msra, read_wikiann, realign, to_bio

TAGS = st.lists(st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "I-MISC"]), max_size=12)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_iob1_becomes_bio_at_every_kind_of_boundary() -> None:
    iob1 = ["I-PER", "I-PER", "B-PER", "I-LOC", "I-LOC", "O", "I-ORG", "B-ORG", "I-ORG", "I-PER"]
    assert to_bio(iob1) == ["B-PER", "I-PER", "B-PER", "B-LOC", "I-LOC", "O", "B-ORG", "B-ORG", "I-ORG", "B-PER"]


@given(TAGS)
def test_bio_has_the_entities_that_seqeval_finds_in_iob1(tags: list[str]) -> None:
    assert get_entities(to_bio(tags)) == get_entities(tags)


@given(st.lists(st.sampled_from(["O", "I-PER", "I-LOC"]), max_size=12), st.data())
def test_bio_agrees_with_strict_iob1(tags: list[str], data: st.DataObject) -> None:
    for i in range(1, len(tags)):  # B- only where IOB1 has it: between neighbours of one type
        if tags[i] != "O" and tags[i - 1][2:] == tags[i][2:] and data.draw(st.booleans()):
            tags[i] = "B-" + tags[i][2:]
    strict = [(e.tag, e.start, e.end) for e in Entities([tags], IOB1).entities[0]]
    assert [(kind, start, end + 1) for kind, start, end in get_entities(to_bio(tags))] == strict


@given(TAGS)
def test_bio_stays_as_it_is(tags: list[str]) -> None:
    once = to_bio(tags)
    assert to_bio(once) == once


def test_conll2003(tmp_path: Path) -> None:
    path = write(
        tmp_path / "eng.testa",
        "-DOCSTART- -X- O O\n\nJohn NNP I-NP I-PER\nParis NNP I-NP I-LOC\nRome NNP I-NP B-LOC\n. . O O\n\n"
        "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n",
    )
    assert list(read_conll2003(path)) == [
        NerSentence(("John", "Paris", "Rome", "."), ("B-PER", "B-LOC", "B-LOC", "O"), 3),
        NerSentence(("EU",), ("B-ORG",), 10),
    ]


def test_wikiann_takes_off_the_prefix_only(tmp_path: Path) -> None:
    path = write(tmp_path / "dev", "en::\tO\nen:a:b\tB-PER\n\nbe-x-old:en:\tO\nzh:,\tI-LOC\n\n")
    counts: Counter[str] = Counter()
    assert list(read_wikiann(path, counts)) == [
        NerSentence((":", "a:b"), ("O", "B-PER"), 1),
        NerSentence(("en:", ","), ("O", "B-LOC"), 4),
    ]
    assert counts == {"repaired": 1}


@pytest.mark.parametrize(
    ("prefix", "expected"), [("de", "de"), ("be-x-old", "be_x_old"), ("zh-yue", "zh"), ("pt", "pt_br"), ("de", None)]
)
def test_wikiann_of_the_language_that_was_asked_for(tmp_path: Path, prefix: str, expected: str | None) -> None:
    path = write(tmp_path / "dev", f"{prefix}:a\tO\n")
    assert [sentence.words for sentence in read_wikiann(path, expected=expected)] == [("a",)]


@pytest.mark.parametrize(("text", "line"), [("de:a\tO\n", 1), ("fr:a\tO\nfr:b\tO\n\nde:c\tO\n", 4)])
def test_wikiann_of_another_language_is_refused(tmp_path: Path, text: str, line: int) -> None:
    path = write(tmp_path / "dev", text)
    with pytest.raises(InputError, match=rf"dev, line {line}: a token of 'de', expected 'fr'"):
        list(read_wikiann(path, expected="fr"))


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("en:a\tO\n\nen:b\tB-CAR\n", 3, "tag 'B-CAR' is none of"),
        ("en:a\tO\nen:b O\n", 2, "1 columns"),
        ("en:a\tO\nb\tO\n", 2, "language prefix"),
        ("en:a\tO\nen:\tO\n", 2, "language prefix"),
        ("", None, "empty"),
        ("\n\n", None, "empty"),
        ("EU NNP I-NP I-ORG\n", 1, "1 columns"),
    ],
)
def test_malformed_wikiann(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = write(tmp_path / "bad", text)
    with pytest.raises(InputError) as caught:
        list(read_wikiann(path))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "row", ["EU NNP I-ORG", "EU NNP I-NP I-ORG x", "EU NNP I-NP I-X", "EU\tNNP\tI-NP\tO", "a b c S-PER"]
)
def test_malformed_conll2003(tmp_path: Path, row: str) -> None:
    with pytest.raises(InputError, match=r"bad, line 2: "):
        list(read_conll2003(write(tmp_path / "bad", f"EU NNP I-NP I-ORG\n{row}\n")))


# Chinese: 中国 人民 银行 在 北京, the bank one entity, Peking another
CHARACTERS = list("中国人民银行在北京")
BIO = ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "B-LOC", "I-LOC"]


@pytest.mark.parametrize(
    ("words", "tags", "counts"),
    [
        ("中国 人民 银行 在 北京", "B-ORG I-ORG I-ORG O B-LOC", {"words": 5}),
        ("中国人民银行 在 北京", "B-ORG O B-LOC", {"words": 3}),
        ("中国 人民 银 行在 北 京", "B-ORG I-ORG I-ORG I-ORG B-LOC I-LOC", {"words": 6, "cut": 1}),
        ("中国 人民 银行 在北京", "B-ORG I-ORG I-ORG B-LOC", {"words": 4, "cut": 1}),
        ("中国 人民 银行在北 京", "B-ORG I-ORG I-ORG B-LOC", {"words": 4, "cut": 1, "shared": 1}),
        ("中国 人民 银行在北京", "B-ORG I-ORG I-ORG", {"words": 3, "cut": 1, "shared": 1, "lost": 1}),
    ],
)
def test_labels_move_to_words(words: str, tags: str, counts: dict[str, int]) -> None:
    tally: Counter[str] = Counter()
    assert realign(CHARACTERS, BIO, words.split(), tally) == tags.split()
    assert +tally == counts


def test_neighbours_of_one_type_stay_apart() -> None:
    assert realign("甲乙丙丁", ["B-PER", "I-PER", "B-PER", "I-PER"], ["甲乙", "丙", "丁"]) == [
        "B-PER",
        "B-PER",
        "I-PER",
    ]


@pytest.mark.parametrize("words", [["中国"], ["中国人民银行在", "北方"], ["中国人民银行在北京", "市"], []])
def test_words_that_are_not_the_text_are_refused(words: list[str]) -> None:
    with pytest.raises(ValueError, match="segmentation"):
        realign(CHARACTERS, BIO, words)


@given(TAGS)
def test_realigning_to_characters_and_to_entities_changes_nothing(tags: list[str]) -> None:
    characters = [chr(0x4E00 + i) for i in range(len(tags))]
    bio = to_bio(tags)
    counts: Counter[str] = Counter()
    assert realign(characters, tags, characters, counts) == bio
    assert +counts == +Counter(words=len(tags))
    # cut anywhere but inside entities: one word an entity, none cut, none lost
    words: list[str] = []
    for character, tag in zip(characters, bio, strict=True):
        if tag.startswith("I-"):
            words[-1] += character
        else:
            words.append(character)
    counts = Counter()
    assert realign(characters, tags, words, counts) == [tag for tag in bio if not tag.startswith("I-")]
    assert counts["cut"] == counts["lost"] == 0


@given(TAGS, st.lists(st.booleans(), min_size=12, max_size=12))
def test_any_segmentation_gives_bio_and_accounts_for_every_entity(tags: list[str], cuts: list[bool]) -> None:
    characters = [chr(0x4E00 + i) for i in range(len(tags))]
    words: list[str] = []
    for character, cut in zip(characters, cuts, strict=False):
        if cut or not words:
            words.append(character)
        else:
            words[-1] += character
    counts: Counter[str] = Counter()
    moved = realign(characters, tags, words, counts)
    assert to_bio(moved) == moved
    assert len(get_entities(moved)) + counts["lost"] == len(get_entities(tags))


@pytest.mark.parametrize(
    "text",
    [
        "我 O\n在 O\n北 B-LOC\n京 I-LOC\n",
        "我\tO\n在\tO\n北\tB-LOC\n京\tI-LOC\n\n",
        "我 O\n在 O\n北 B-LOC\n京 E-LOC\n",
        "我 O\n在 O\n北 B-NS\n京 E-NS\n",
        "我 O\n在 O\n北京 S-NS\n",
    ],
    ids=["bio", "tab", "bioes", "bakeoff", "row-of-two"],
)
def test_msra_variants(tmp_path: Path, text: str) -> None:
    sentences = list(read_msra(write(tmp_path / "m", text), lambda line: [line[:2], line[2:]]))
    assert sentences == [NerSentence(("我在", "北京"), ("O", "B-LOC"), 1)]


def test_msra_white_space_may_vanish_from_the_words(tmp_path: Path) -> None:
    path = write(tmp_path / "m", "北 B-LOC\n\u3000 I-LOC\n京 I-LOC\n")
    assert [s.tags for s in read_msra(path, str.split)] == [("B-LOC", "I-LOC")]


def test_msra_sentence_that_the_segmenter_changes_stays_in_characters(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    path = write(tmp_path / "m", "Ａ B-ORG\n银 I-ORG\n\n北 B-LOC\n京 I-LOC\n\n\u3000 O\n")
    read = list(read_msra(path, lambda text: [text.replace("Ａ", "A")], counts))
    assert read == [NerSentence(("Ａ", "银"), ("B-ORG", "I-ORG"), 1), NerSentence(("北京",), ("B-LOC",), 4)]
    assert (counts["unsegmented"], counts["words"]) == (1, 3)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("我 O\n在\n", 2, "expected a character and its tag"),
        ("我 O\n在 o\n", 2, "tag 'o'"),
        ("我 O\n在 B-nr\n", 2, "tag 'B-nr'"),
        ("", None, "empty"),
    ],
)
def test_malformed_msra(tmp_path: Path, text: str, line: int | None, problem: str) -> None:
    path = write(tmp_path / "m", text)
    with pytest.raises(InputError) as caught:
        list(read_msra(path, list))
    assert (caught.value.path, caught.value.line) == (path, line)
    assert problem in str(caught.value)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("language", "split", "sentences"),
    [
        *((language, "train", 20000) for language in ("de", "en", "fr", "ru", "zh")),
        *((language, "dev", 10000) for language in ("de", "en", "fr", "ru", "zh")),
        *((language, "test", 10000) for language in ("de", "en", "ru")),
    ],
)
def test_real_wikiann(real_data: Path, language: str, split: str, sentences: int) -> None:
    path = real_data / "wikiann" / language / split
    counts: Counter[str] = Counter()
    read = list(read_wikiann(path, counts, language))
    assert len(read) == sentences
    assert (counts["repaired"] > 0) == (language == "zh")  # its character data has standalone I- tags
    lines = path.read_text(encoding="utf-8").split("\n")[:20000]
    tokens = [f"{language}:{word}" for sentence in read for word in (*sentence.words, "")]
    assert [token.removeprefix(f"{language}:") and token for token in tokens[: len(lines)]] == [
        line.split("\t")[0] for line in lines
    ]
    tags = [tag for sentence in read for tag in (*sentence.tags, "O")]
    assert get_entities(tags[: len(lines)]) == get_entities([line.split("\t")[1] if line else "O" for line in lines])
