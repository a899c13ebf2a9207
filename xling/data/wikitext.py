"""Convert wikitext to plain paragraphs, one string per paragraph (lines of the training text are paragraphs).

Removed: comments, references, formulas, galleries, code blocks, templates, tables, files and their captions,
categories, links to other languages, headings. Kept: every sentence of the body, with the text of its links, inline
code and templates that only format words, and list items that look like sentences (see `wikilines`). Unclosed markup
loses its marker and keeps its text, as MediaWiki would show it.
"""

import re
from collections.abc import Mapping
from html.entities import html5

from xling.data.wikilines import paragraphs_of
from xling.data.wikitemplates import GAP, template_text

# Namespace names that MediaWiki knows in the five languages of the study, in addition to those in the dump.
FILE, CATEGORY = 6, 14  # numbers of the namespaces whose links show no text

_FILE_NAMES = "file image datei bild fichier файл изображение 文件 檔案 档案 圖像 图像 圖片 图片 影像"
_CATEGORY_NAMES = "category kategorie catégorie категория 分类 分類"
# Language codes of the Wikipedias: a link such as [[de:Berlin]] appears in the margin, not in the text.
_LANGUAGES = """
aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg bbc
bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch cho chr chy
ckb co cr crh cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro
fj fo fon fr frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi hif ho hr
hsb ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg kge ki kj kk
kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv lzh mad
mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne
new ng nia nl nn no nov nqo nr nrm nso nv ny oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt
pwn qu rm rmy rn ro roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk skr sl
sm smn sn so sq sr srn ss st stq su sv sw szl szy ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt
tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal xh xmf yi yo yue za zea zgh zh zh-classical
zh-min-nan zh-yue zu
"""
DEFAULT_HIDDEN = frozenset(f"{_FILE_NAMES} {_CATEGORY_NAMES} {_LANGUAGES}".split())
_REDIRECT = re.compile(
    r"\s*[#＃](?:redirect|redirection|weiterleitung|перенаправление|перенапр|重定向|重新導向)\s*:?\s*\[\[",
    re.IGNORECASE,
)

_COMMENT_BODY = r"<!--[^-]*(?:-(?!->)[^-]*)*-->"
_COMMENT_LINE = re.compile(rf"\n[ \t]*{_COMMENT_BODY}[ \t]*(?=\n)")  # a comment alone on a line leaves no blank line
_COMMENT = re.compile(rf"{_COMMENT_BODY}|<!--.*\Z", re.DOTALL)
_NOWIKI = re.compile(r"<nowiki\s*>(.*?)</nowiki\s*>|<nowiki\s*/>", re.IGNORECASE | re.DOTALL)
_MARKUP_CHARACTER = re.compile(r"[\[\]{}<>|'=*#:;_&-]")

# Elements whose content is not prose; `code` is removed only if it spans several lines.
_REMOVED = re.compile(
    r"<(/?)(ref|references|math|chem|ce|gallery|timeline|score|syntaxhighlight|source|pre|code|imagemap|graph|hiero"
    r"|mapframe|maplink|templatedata|templatestyles|inputbox|categorytree|includeonly|style|indicator|section|table"
    r"|rp|rt)\b([^<>]*?)(/?)>",
    re.IGNORECASE,
)
_BRACES = re.compile(r"\{\{+|\}\}+")
_CUT_SHORT = re.compile(r"[^\n}]*\}?")
_TABLE = re.compile(r"^[ \t:*#;\x00]*(\{\|)|^[ \t\x00]*\|\}", re.MULTILINE)
_TABLE_LINE = re.compile(r"^[ \t\x00]*(?:[|!]|\{\|).*\n?", re.MULTILINE)
_CONVERSION = re.compile(r"-\{([^{}]*)\}-")
_VARIANTS = ("zh-hans", "zh-cn", "zh", "zh-sg", "zh-my", "zh-hant", "zh-tw", "zh-hk", "zh-mo")
_SIMPLE_LINK = re.compile(r"\[\[(?:[^\[\]|:\n]*\|)?([^\[\]|:\n]+)\]\]")
_LINK = re.compile(r"\[\[|\]\]")
_EXTERNAL = re.compile(
    r"\[(?:(?:https?|ftps?|irc|news|gopher|sftp):)?//[^\s\[\]<>]*([^\[\]\n]*)\]|\[mailto:\S*([^\[\]\n]*)\]"
)
_BREAKS = re.compile(r"<br\b[^<>]*>(\s*<br\b[^<>]*>)?", re.IGNORECASE)
_BLOCK = re.compile(
    r"</?(p|div|blockquote|center|h[1-6]|ul|ol|dl|dd|dt|hr|tr|td|th|caption|poem|li)\b[^<>]*>", re.IGNORECASE
)
_INLINE = re.compile(
    r"</?(?:span|small|big|sub|sup|b|i|u|s|em|strong|code|tt|kbd|samp|var|abbr|cite|q|font|del|ins|strike|dfn|bdi|bdo|mark"
    r"|time|data|ruby|rb|rtc|noinclude|onlyinclude|nowiki|includeonly|ref|references|math|source|pre|gallery|table|tbody"
    r"|wbr|img|a|section|langconvert|phonos|onlyinclude|rt|rp)(?:\s[^<>]*|/)?>",
    re.IGNORECASE,
)
_MAGIC_WORD = re.compile(r"__([^\W\d_]+(?:_[^\W\d_]+)*)__")
_ENTITY = re.compile(r"&(?:#x([0-9a-fA-F]{1,6})|#([0-9]{1,7})|([A-Za-z][A-Za-z0-9]{1,31}));")


def paragraphs(wikitext: str, hidden: frozenset[str] = DEFAULT_HIDDEN, min_characters: int = 1) -> list[str]:
    """Return the plain paragraphs of a page; `hidden` are the prefixes of links without text (`hidden_prefixes`)."""
    text = wikitext.replace(GAP, "").replace("\r", "")
    text = _without_elements(_without_comments(text))
    text = _without_tables(_expand_templates(text))
    text = _without_links(_convert_script(text), hidden)
    text = _without_tags(_EXTERNAL.sub(lambda link: (link[1] or link[2] or "").strip() or GAP, text))
    if "__" in text:
        text = _MAGIC_WORD.sub(lambda word: GAP if word[1] == word[1].upper() else word[0], text)
    return [plain for plain in paragraphs_of(text, unescape_html) if len(plain) >= min_characters]


def hidden_prefixes(namespaces: Mapping[int, str]) -> frozenset[str]:
    """Return the lower-case prefixes of links that show no text: files, categories, other languages."""
    return DEFAULT_HIDDEN | {namespaces[key].lower() for key in (FILE, CATEGORY) if namespaces.get(key)}


def is_redirect(wikitext: str) -> bool:
    """Return whether a page is a redirect to another page."""
    return _REDIRECT.match(wikitext) is not None


def unescape_html(text: str) -> str:
    """Return the text with HTML entities resolved; unlike `html.unescape`, only if they end with a semicolon."""

    def character(entity: re.Match[str]) -> str:
        if entity[3]:
            return html5.get(f"{entity[3]};", entity[0])
        code = int(entity[1], 16) if entity[1] else int(entity[2])
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""

    return _ENTITY.sub(character, text) if "&" in text else text


def _without_comments(text: str) -> str:
    """Remove comments, and escape markup inside <nowiki> as HTML entities, which are resolved at the very end."""
    if "<!--" in text:
        text = _COMMENT.sub("", _COMMENT_LINE.sub("", text))
    if "nowiki" not in text and "NOWIKI" not in text:
        return text
    return _NOWIKI.sub(lambda found: _MARKUP_CHARACTER.sub(lambda mark: f"&#{ord(mark[0])};", found[1] or ""), text)


def _without_elements(text: str) -> str:
    """Remove elements such as <ref>…</ref>; an element that is opened again before it is closed loses only its tag."""
    tags = list(_REMOVED.finditer(text))
    latest: dict[str, re.Match[str]] = {}
    following: list[re.Match[str] | None] = []  # the next tag of the same name
    for tag in reversed(tags):
        following.append(latest.get(tag[2].lower()))
        latest[tag[2].lower()] = tag
    kept: list[str] = []
    position = 0
    for tag, after in zip(tags, reversed(following), strict=True):
        if tag.start() < position:
            continue
        end = tag.end()
        if not tag[1] and not tag[4] and after is not None and after[1]:
            end = after.end()
            if tag[2].lower() == "code" and "\n" not in text[tag.end() : after.start()]:
                continue
        kept += (text[position : tag.start()], GAP)
        position = end
    return "".join([*kept, text[position:]]) if kept else text


def _expand_templates(text: str) -> str:
    """Replace every balanced {{…}}, innermost first, in one pass; {{{parameters}}} count as templates.

    An unclosed template loses its braces and, at the start of a line, the rest of that line too.
    """
    levels: list[list[str]] = [[]]
    runs: list[int] = []  # number of braces that opened each level
    position = 0
    for braces in _BRACES.finditer(text):
        levels[-1].append(text[position : braces.start()])
        position, count = braces.end(), braces.end() - braces.start()
        if braces[0][0] == "{":
            levels.append([])
            runs.append(count)
            continue
        while count >= 2 and runs:  # close the innermost level with some of the braces
            matched, value = min(runs[-1], count), template_text("".join(levels.pop()))
            left, count = runs.pop() - matched, count - matched
            if left >= 2:
                runs.append(left)
                levels.append([value])
            else:
                levels[-1] += ("{" * left, value)
        if count == 1:
            levels[-1].append("}")
    levels[-1].append(text[position:])
    while len(levels) > 1:
        content, before = "".join(levels.pop()), "".join(levels[-1])
        if not before or before.endswith("\n"):
            content = _CUT_SHORT.sub("", content, count=1)
        levels[-1] = [before, GAP, content]
    return "".join(levels[0])


def _without_tables(text: str) -> str:
    if "{|" not in text:
        return text
    kept: list[str] = []
    position, depth, start = 0, 0, -1
    for mark in _TABLE.finditer(text):
        if mark[1]:
            start = mark.start() if depth == 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                kept += (text[position:start], GAP)
                position = mark.end()
    rest = text[position:] if depth == 0 else text[position:start] + _TABLE_LINE.sub("", text[start:])
    return "".join([*kept, rest])


def _convert_script(text: str) -> str:
    """Replace Chinese variants -{zh-hans:…;zh-hant:…}- by one form, the simplified form if there is one."""

    def variant(markup: re.Match[str]) -> str:
        flags, bar, rules = markup[1].rpartition("|")
        if bar and flags.strip().upper() in {"H", "T", "-", "N", "D"}:
            return ""
        pairs = (rule.partition(":") for rule in rules.split(";"))
        forms = {name.strip().lower(): form.strip() for name, colon, form in pairs if colon}
        return next((forms[name] for name in _VARIANTS if name in forms), rules)

    while "-{" in text and (changed := _CONVERSION.sub(variant, text)) != text:
        text = changed
    return text


def _without_links(text: str, hidden: frozenset[str]) -> str:
    """Replace [[links]], innermost first, by their visible text."""
    text = _SIMPLE_LINK.sub(lambda link: link[1], text)
    levels: list[list[str]] = [[]]
    position = 0
    while (mark := _LINK.search(text, position)) is not None:
        levels[-1].append(text[position : mark.start()])
        position = mark.end()
        if mark[0] == "[[":
            levels.append([])
        elif len(levels) > 1:
            content = "".join(levels.pop())
            if text.startswith("]", position) and content.count("[") > content.count("]"):
                content, position = content + "]", position + 1
            levels[-1].append(_link_text(content, hidden))
    return "".join([part for level in levels for part in level] + [text[position:]])


def _link_text(content: str, hidden: frozenset[str]) -> str:
    target, bar, label = content.partition("|")
    prefix, colon, _ = target.partition(":")
    if colon and prefix.strip(" _\n").lower() in hidden:
        return GAP
    if "\n" in target.strip("\n"):
        return content  # not a link after all
    return label if bar and label.strip() else target.strip().removeprefix(":")


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    text = _BREAKS.sub(lambda tag: "\n\n" if tag[1] else " ", text)
    text = _BLOCK.sub(lambda tag: "\n* " if tag[0][:3].lower() == "<li" else "\n\n", text)
    return _INLINE.sub("", text)
