"""Convert the tokenizer of a language to tokenizer.json, which Hugging Face libraries read without xling.

Moses becomes a sequence of replacements; capture groups of sacremoses around a match become lookarounds. This is exact
with rare exceptions: a quotation mark moves past at most three full stops or commas. A Chinese segmenter cannot be
expressed in tokenizer.json. Instead, text is cut from left to right into the longest words of the vocabulary, and
characters are converted to the script one by one. docs/share.md says how often the ids then differ.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from xling.bpe.train_bpe import SPECIAL_TOKENS, WORD_START
from xling.bpe.vocabulary import Vocabulary
from xling.tokenization.moses import CONTROL_SPACE, Moses, as_ranges
from xling.tokenization.options import Options

Json = dict[str, Any]
Rule = tuple[str, str]  # an Oniguruma pattern and its replacement
MARK = "\ue000"  # a private-use character: stands for a character that later rules must not match
LONGEST_RUN = 3
HAN = r"\p{Han}"
INSIDE = r"(?<!\A)"  # not at the start: the tokenizers library fails if text is inserted before the first character
GROUPS = re.compile(r"^(?:\((?P<before>[^()]+)\))?(?P<what>(?:\\.|[^()\\])+)(?:\((?P<after>[^()]+)\))?$")
QUOTE_MOVES = {('"([,.]+)', '\\g<1>"'), ('(\\.+)"(\\s*[^<])', '"\\g<1>\\g<2>')}


def tokenizer_json(vocabulary: Vocabulary, code: str, options: Options | None) -> Json:
    """Return the content of tokenizer.json, which turns raw text into ids with </s> at both ends."""
    ids = dict(zip(vocabulary.pieces(code), vocabulary.ids(code).tolist(), strict=True))
    end = SPECIAL_TOKENS[2]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    metaspace = {"type": "Metaspace", "replacement": WORD_START, "prepend_scheme": "always", "split": False}
    found = rules(options, ids) if options else ()
    steps = [{"type": "Replace", "pattern": {"Regex": pattern}, "content": content} for pattern, content in found]
    if options and options.lowercase:
        steps.append({"type": "Lowercase"})
    if options and options.strip_accents:
        steps += [{"type": "NFD"}, {"type": "Replace", "pattern": {"Regex": r"\p{Mn}"}, "content": ""}]
    frame = {"SpecialToken": {"id": end, "type_id": 0}}
    one, two = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[token], "content": token, **special} for token in SPECIAL_TOKENS],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [frame, one, frame],
            "pair": [frame, one, frame, two, frame],
            "special_tokens": {end: {"id": end, "ids": [ids[end]], "tokens": [end]}},
        },
        "decoder": metaspace,
        "model": {
            "type": "BPE", "dropout": None, "unk_token": SPECIAL_TOKENS[1], "continuing_subword_prefix": None,
            "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": False, "ignore_merges": False,
            "vocab": ids, "merges": merges(vocabulary.pieces(code)[len(SPECIAL_TOKENS) :]),
        },
    }  # fmt: skip


def merges(pieces: list[str]) -> list[list[str]]:
    """Return the BPE merges in the order of sentencepiece, which is the order of the pieces."""
    rank = {piece: number for number, piece in enumerate(pieces)}
    found: list[list[str]] = []
    for piece in pieces:
        parts = [[piece[:cut], piece[cut:]] for cut in range(1, len(piece))]
        known = [part for part in parts if part[0] in rank and part[1] in rank]
        found += sorted(known, key=lambda part: (rank[part[0]], rank[part[1]]))
    return found


def rules(options: Options, pieces: Iterable[str]) -> Iterator[Rule]:
    """Yield the replacements that separate the words of raw text by spaces."""
    if options.script != "none":
        yield from script_rules(options.script, pieces)
    if options.segmenter != "none":
        yield from segmenter_rules(pieces)
    if options.moses is not None:
        moses = Moses(options.moses)
        yield CONTROL_SPACE.pattern, " "
        for pattern, replacement in moses.pairs:
            yield from normaliser_rules(pattern, replacement)
        yield r"\p{C}", ""
        yield r"\A\s+|\s+\z", ""
        yield from tokeniser_rules(moses, options.moses)
    if options.lowercase:
        yield r"(?<=\p{L})Σ(?!\p{L})", "ς"  # final sigma, as in Python's lower()


def script_rules(script: str, pieces: Iterable[str]) -> Iterator[Rule]:
    """Yield replacements of the single characters that OpenCC converts, if the vocabulary has the result."""
    from xling.tokenization.chinese import make_converter  # imported here because only Chinese needs it

    known, convert = set("".join(pieces)), make_converter(script)
    for character in map(chr, range(0x3400, 0xA000)):
        if (converted := convert(character)) != character and known.issuperset(converted):
            yield character, converted


def segmenter_rules(pieces: Iterable[str]) -> Iterator[Rule]:
    """Yield the replacements that segment Chinese text into the longest words of a vocabulary."""
    words = {piece[1:] for piece in pieces if re.fullmatch(f"{WORD_START}[\u3400-\u9fff]{{2,}}", piece)}
    yield rf"(?<={HAN})(?=[^{HAN}])|(?<=[^{HAN}])(?={HAN})", " "
    yield (rf"(?:{alternatives(words)}|{HAN})\K" if words else rf"{HAN}\K"), " "


def alternatives(words: set[str]) -> str:
    """Return a pattern that matches the words as a prefix tree, the longest word first."""
    heads: dict[str, set[str]] = {}
    for word in words - {""}:
        heads.setdefault(word[0], set()).add(word[1:])
    branches = [re.escape(head) + _rest(tails) for head, tails in sorted(heads.items())]
    return "|".join(branches)


def _rest(tails: set[str]) -> str:
    return "" if tails == {""} else f"(?:{alternatives(tails)}){'?' if '' in tails else ''}"


def normaliser_rules(pattern: str, replacement: str) -> Iterator[Rule]:
    """Yield replacements without capture groups for a substitution of sacremoses' normaliser."""
    if (pattern, replacement) in QUOTE_MOVES:
        yield from quote_rules(right=pattern.startswith('"'))
        return
    found = GROUPS.fullmatch(pattern)
    if found is None:
        raise ValueError(f"a substitution of sacremoses that cannot be expressed: {pattern}")
    before, what, after = (found[name] or "" for name in ("before", "what", "after"))
    around = f"(?<={before})" if before else "", f"(?={after})" if after else ""
    yield f"{around[0]}{what}{around[1]}", re.sub(r"\\g<\d>", "", replacement)


def quote_rules(right: bool) -> Iterator[Rule]:
    """Yield a rule for every run of full stops and commas that a quotation mark moves past, to the right or left."""
    marks, sizes = ",." if right else ".", range(1, LONGEST_RUN + 1)
    for run in ("".join(run) for size in sizes for run in product(marks, repeat=size)):
        if right:
            yield rf'"{re.escape(run)}(?![,.])', f'{MARK}{run}"'
        else:
            yield rf'(?<!\.){re.escape(run)}"(?=\s*[^<])', f'"{run}'
    yield MARK, ""


def tokeniser_rules(moses: Moses, language: str) -> Iterator[Rule]:
    """Yield the rules of sacremoses' tokeniser, in its order."""
    own = moses.tokeniser
    letter, digit, alnum, lower = (as_ranges(getattr(own, name)) for name in ("IsAlpha", "IsN", "IsAlnum", "IsLower"))
    symbol = rf"[^{alnum}\s.'`,\-]"
    yield rf"{INSIDE}(?={symbol})|(?<={symbol})", " "
    yield rf"{INSIDE}(?<!\.)(?=\.\.)|(?<=\.\.)(?!\.)", " "
    yield rf"(?<=[^{digit}]),|,(?=[^{digit}])|,\z", " , "
    yield from apostrophe_rules(language, f"[{letter}]", f"[^{letter}]", f"[{digit}]", f"[^{letter}{digit}]")
    yield from full_stop_rules(own, letter, lower)


def apostrophe_rules(language: str, letter: str, other: str, digit: str, neither: str) -> Iterator[Rule]:
    """Yield the rules for apostrophes; a character that an earlier match consumed does not count for the next match."""
    if language in ("en", "fr", "it"):
        yield rf"(?<={other})(?<!{other}'{other})'(?={other})", " ' "
        yield rf"(?<={neither if language == 'en' else other})'(?={letter})", " ' "
        yield rf"(?<={letter})'(?={other})", " ' "
        yield rf"(?<={letter})(?<!{letter}'{letter})'(?={letter})", " '" if language == "en" else "' "
        if language == "en":
            yield rf"(?<={digit})'(?=s)", " '"
    else:
        yield "'", " ' "


def full_stop_rules(own: Any, letter: str, lower: str) -> Iterator[Rule]:
    """Yield the rules that separate a full stop from its word; full stops that stay attached are marked first."""
    always, numeric = ("|".join(map(re.escape, sorted(w))) for w in (own.keep_stop, own.NUMERIC_ONLY_PREFIXES))
    yield rf"(?<!\S)(?=\S*[{letter}])\S*\.\S*[^\s.]\K\.(?!\S)", MARK
    if always:
        yield rf"(?<!\S)(?:{always})\K\.(?!\S)", MARK
    if numeric:
        yield rf"(?<!\S)(?:{numeric})\K\.(?=\s+[0-9])", MARK
    yield rf"(?<=[^\s.])\.(?=\s+[{lower}])", MARK
    yield r"(?<=[^\s.])\.(?!\S)", " ."
    yield MARK, "."
    yield r"\.' ?\z", " . ' "
