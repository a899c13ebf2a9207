"""Markup goes, prose stays: each kind of markup by itself, any mixture of them, and real pages as they were."""

import hashlib
import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xling.data.extract_text import read_namespaces, read_pages
from xling.data.parts import Part
from xling.data.wikitext import hidden_prefixes, paragraphs

MARKUP = ("{{", "}}", "[[", "]]", "{|", "|}", "|-", "<ref", "</ref", "<!--", "-->", "<nowiki", "\n", "\x00")

SAME_LINE = {
    "plain": ("Ein Satz, der bleibt.", "Ein Satz, der bleibt."),
    "bold and italic": ("'''Fett''', ''schräg'' und '''''beides'''''.", "Fett, schräg und beides."),
    "an apostrophe before italics": ("Il lit L'''Émile'' de Rousseau.", "Il lit L'Émile de Rousseau."),
    "an apostrophe in bold": ("Rock ''''n' roll'''.", "Rock 'n' roll."),
    "links": ("Ein [[Haus]], ein [[Baum|grüner Baum]] und [[Häuschen#Teil|zwei]] [[Hund]]e.",
              "Ein Haus, ein grüner Baum und zwei Hunde."),
    "a link whose label has brackets": ("Die [[Liste|[sic] Liste]] endet [[X|[so]]].", "Die [sic] Liste endet [so]."),
    "links to other places": ("Siehe [[:Category:Tier]], [[w:Haus|Haus]] und [[:de:Wald|Wald]].",
                              "Siehe Category:Tier, Haus und Wald."),
    "a title with a colon": ("Der Film [[2001: Odyssee]] und [[CSI: Miami|CSI]].", "Der Film 2001: Odyssee und CSI."),
    "other languages": ("Text.[[en:House]][[fr:Maison]][[zh-min-nan:Chhù]]", "Text."),
    "files with links inside": (
        "[[File:a.jpg|thumb|Ein [[Haus|''Haus'']] von [http://x.org eins] [[Bild:b.png|20px]] aus]]Der Satz.", "Der Satz."),
    "files in other languages": (
        "[[Datei:a.jpg|mini|x]][[Fichier:a.jpg]][[Файл:a.jpg|мини]][[文件:a.jpg]][[檔案:b.jpg|[[c]]]]Der Satz.", "Der Satz."),
    "categories": ("Der Satz.[[Category:A]][[Kategorie:B| ]][[Catégorie:C]][[Категория:D]][[分类:E]]", "Der Satz."),
    "external links": ("Die [https://x.org/a?b=c Seite der Stadt] und [//y.org] [mailto:a@b.c Post].",
                       "Die Seite der Stadt und Post."),
    "references": ('Eins<ref>{{cite|[[x]]}}</ref>, zwei<ref name="a/b" />, drei<REF name=c>x</REF >.', "Eins, zwei, drei."),
    "a reference that is never closed": ("Eins<ref name=a> bleibt hier<ref>weg</ref>.", "Eins bleibt hier."),
    "a space before a reference": ("Eins <ref>x</ref>, zwei <ref>y</ref>.", "Eins, zwei."),
    "templates": ("Ein {{Vorlage|a={{b|c}}|[[d|e]]}}Satz{{fact}}.", "Ein Satz."),
    "parameters": ("Ein {{{1|{{PAGENAME}}}}}Satz.", "Ein Satz."),
    "templates over lines": ("{{Infobox\n| a = {{b}}\n| c = d\n}}\n'''Der''' Satz.", "Der Satz."),
    "templates that hold words": (
        "Das {{lang|fr|mot}} ist {{nowrap|10 km}} oder {{convert|5|km|mi}} im {{s-|XIX|e}} {{XXe siècle}}.",
        "Das mot ist 10 km oder 5 km im XIXe siècle XXe siècle."),
    "words that are not there": ("Das {{lang|a=b}}Wort {{нп5|a=b}}bleibt.", "Das Wort bleibt."),
    "a Russian link to another wiki": ("{{нп5|Новая синагога (Берлин)|Новая синагога|de|X}} {{нп5|Дом||de|Y}}.",
                                       "Новая синагога Дом."),
    "empty parentheses": ("Berlin ({{IPA-de|x}}; {{Audio|y}}) ist（{{zh}}，{{en}}）groß ().", "Berlin ist groß ()."),
    "half-empty parentheses": ("Lem ({{lang|pl}}; {{x}}, geboren 1921; {{y}}) schrieb.", "Lem (pl; geboren 1921) schrieb."),
    "commas around what went": ("Eins, {{x}}, zwei, {{y}}.", "Eins, zwei."),
    "a template between words": ("10{{x}}km und 中{{x}}文.", "10 km und 中文."),
    "formulas": ("Die Zahl <math>x^2 < 3 {{y}}</math> und <chem>H2O</chem> sind da.", "Die Zahl und sind da."),
    "inline code stays": ("Der Befehl <code>ls -l</code> hilft.", "Der Befehl ls -l hilft."),
    "comments": ("Der <!-- [[nie]] -- {{ -->Satz.", "Der Satz."),
    "a comment that never ends": ("Der Satz.<!-- weg\n\nweg", "Der Satz."),
    "nowiki": ("Man schreibt <nowiki>''a'' = * b</nowiki> so<nowiki />.", "Man schreibt ''a'' = * b so."),
    "tags": ('H<sub>2</sub>O, <span style="a>b">x</span><br/>und <small>klein</small>.', 'H2O, b">x und klein.'),
    "no tags": ("Wenn a < b und b > c, dann <3.", "Wenn a < b und b > c, dann <3."),
    "entities": ("A&nbsp;B &ndash; &#8364; &#x20AC; &amp;amp; AT&T &copy.", "A B – € € &amp; AT&T &copy."),
    "magic words": ("__NOTOC__Das __init__ bleibt.__БЕЗ_ОГЛАВЛЕНИЯ__", "Das __init__ bleibt."),
    "Chinese variants": ("德國-{zh-hans:联邦州; zh-hant:邦}-和-{R|漢}-字-{H|zh-cn:a;zh-tw:b}-。", "德國联邦州和漢字。"),
    "lines of one paragraph": ("Eine Zeile\nund noch eine.", "Eine Zeile und noch eine."),
    "lines of Chinese": ("第一行，\n第二行。", "第一行，第二行。"),
    "two closing braces too many": ("Der Satz}} bleibt]] hier |}.", "Der Satz bleibt hier ."),
    "an unclosed template in a sentence": ("Der Satz {{ bleibt hier.", "Der Satz bleibt hier."),
    "an unclosed link": ("Der [[Satz bleibt [[hier]].", "Der Satz bleibt hier."),
    "a comment on its own line": ("Eins\n<!-- x -->\nund zwei.", "Eins und zwei."),
    "quantities, dates and quotations": ("{{convert|5|-|6|km|mi}} {{date|5|mai}} {{as of|2019}} {{citation|oui}} {{s|V}}.",
                                         "5 - 6 km 5 mai As of 2019 « oui » Ve siècle."),
    "control characters": ("Der\u200b Satz\x07\u2028bleibt\u00ad.", "Der Satz bleibt."),
}  # fmt: skip


BLOCKS = {
    "headings": "== A ==\nEins.\n===B===  \nZwei.\n= C =\n----\n",
    "tables": 'Eins.\n{| class="x"\n! a !! b\n|-\n| c\n|\n{|\n| innen\n|}\n| Ein Satz in der Tabelle.\n|}\nZwei.',
    "an indented table": "Eins.\n:{|\n|a\n|}\nZwei.",
    "a table that is never closed": "Eins.\n\n{| class=x\n! a\n|-\n| b || c\n\nZwei.",
    "a table out of templates": "Eins.\n{{{!}}\n{{!}} a\n{{!}}}\nZwei.",
    "a template that is never closed": "Eins.\n\n{{Infobox Ort\n| a = b\n\nZwei.",
    "galleries": "Eins.\n<gallery mode=x>\nDatei:a.jpg|Ein Satz mit fünf Wörtern.\n</gallery>\nZwei.",
    "code blocks": "Eins.\n<syntaxhighlight lang=c>\nint a[[1]];\n</syntaxhighlight>\n<code>\na\n</code>\n<pre>x</pre>\nZwei.",
    "a picture between lines": "Eins.\n[[Datei:a.jpg|mini|Ein Bild.]]\nZwei.",
    "two breaks": "Eins.<br><br />Zwei.",
    "block tags": "<div class=a>Eins.</div><blockquote>Zwei.</blockquote>",
    "references": "Eins.\n<references>\n<ref name=a>b</ref>\n</references>\n\nZwei.\n<references />",
    "only marks": "Eins.\n\n{{x}} – .\n\nZwei.",
    "bare items": "Eins.\n* [[Haus]]\n** [[Baum]] 1999\n# Ende.\n; Wort\n: Sinn\n:<math>x</math>\nZwei.",
    "quotations": "Eins.{{Zitat|Text=[[Null|Zwei]].|Autor=X}}",
}
ITEMS = "A:\n* Dies ist ein ganzer [[Satz]].\n* Nur Wörter ohne Ende da\n# 這是一個完整的句子。\n<ul><li>Auch das ist ein Satz.</li></ul>"
ROWS = [(wikitext, [plain]) for wikitext, plain in SAME_LINE.values()]
ROWS += [(wikitext, ["Eins.", "Zwei."]) for wikitext in BLOCKS.values()]
ROWS += [(ITEMS, ["A:", "Dies ist ein ganzer Satz.", "這是一個完整的句子。", "Auch das ist ein Satz."])]


@pytest.mark.parametrize(("wikitext", "expected"), ROWS, ids=[*SAME_LINE, *BLOCKS, "items that read as sentences"])
def test_paragraphs(wikitext, expected):
    assert paragraphs(wikitext) == expected
    assert paragraphs(wikitext, min_characters=6) == [plain for plain in expected if len(plain) >= 6]


WORDS = st.sampled_from(["Haus", "mot", "дом", "房子", "12", "x.", "a,", "(b)", "«c»", "–", "'", '"', "l'été"])
PROSE = st.lists(WORDS, min_size=1).map(" ".join).filter(lambda text: any(c.isalnum() for c in text))
MARKS = """
{{ }} {{{ }}} { } [[ ]] [ ] {| |} |- | ! || <ref> </ref> <ref/> <ref <math> </math> <gallery> </gallery> <table>
<code> </code> <nowiki> </nowiki> <nowiki/> <!-- --> '' ''' '''' ''''' ''''''' == = * # : ; -{ }- zh-hans: H|
[[File: [[Category: [[de: File: [http://x __TOC__ &amp; &lt; &lt;ref&gt; &#91;&#91; &#0; &nbsp; <br> <p> <li> ----
#REDIRECT {{lang| {{convert| {{quote| {{! {{!}} lang text ( ) （ ） , .
"""
PIECES = st.sampled_from([*MARKS.split(), "\x00", "\x01", "\u200b", "\u2028", "\r"])
MIXTURE = st.lists(st.one_of(PIECES, WORDS, st.sampled_from(["\n", "\n\n", " "]), st.text(max_size=3))).map("".join)


@settings(max_examples=40)
@given(st.lists(PROSE, min_size=1))
def test_plain_prose_is_unchanged(texts):
    assert paragraphs("\n\n".join(texts)) == texts


@given(MIXTURE)
def test_any_mixture_leaves_no_markup(wikitext):
    for paragraph in paragraphs(wikitext):
        assert paragraph == paragraph.strip()
        assert not any(mark in paragraph.lower() for mark in MARKUP)
        assert paragraph.splitlines() == [paragraph]
        assert "  " not in paragraph


def test_deep_and_broken_nesting_takes_linear_time():
    size = 20_000
    nested = ("{{a|" * size + "}}" * size, "[[a|" * size + "]]" * size)
    for wikitext in (*nested, *(mark * size for mark in ("{{", "[[", "<ref>", "<!--"))):
        assert all(len(plain) < 5 * size for plain in paragraphs(wikitext))


REAL_MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|\|-|</?ref|<!--|</?(?:br|sub|sup|span|div|small|math)\b|''|&nbsp;|thumb\|"
)
# The text extracted from each dump; a change that is wanted changes these, and REV["data"] with them.
GOLDEN = {
    "dewiki-minidump": "0aed74005b2a79b6",
    "enwiki-latest": "55a5764a2781eaf1",
    "enwiki-minidump": "869068f40c744e04",
    "frwiki-minidump": "0716fd28fb351e38",
    "ruwiki-latest": "afd9043d41aa3ff7",
    "ruwiki-minidump": "098424155e5a2740",
    "ruwiki-sample-big.xml.bz2": "3623430059dc955f",
    "zhwiki-minidump": "8cda2bbb4a1ae1ff",
}


@pytest.mark.real_data
def test_the_text_of_real_dumps_is_unchanged_and_without_markup(real_data):
    found = {}
    for path in sorted(real_data.glob("wikidump/*.bz2")):
        hidden = hidden_prefixes(read_namespaces(path))
        articles = read_pages(*Part().spans([path]), Counter())
        lines = [line for _, wikitext in articles for line in paragraphs(wikitext, hidden)]
        assert [line for line in lines if REAL_MARKUP.search(line)] == []
        found[path.name.split("-pages")[0]] = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    assert found == GOLDEN
