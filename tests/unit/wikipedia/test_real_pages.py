"""Real pages against what a reader of their source sees: counted, and their first and last words noted, by hand."""

import re
from functools import cache
from pathlib import Path

import pytest

from xling.data.wikidump import Counts, read_dump
from xling.data.wikinames import hidden_prefixes
from xling.data.wikitext import paragraphs

MARKUP = re.compile(
    r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|\|-|</?ref|<!--|</?(?:br|sub|sup|span|div|small|math)\b|''|&nbsp;|thumb\|"
)

# Prose paragraphs of the page, and the list items that end like a sentence and have five words: (first, last words).
AN_AMERICAN_IN_PARIS = [
    ("An American in Paris is a jazz-influenced", "one of his best-known compositions."),
    ("Gershwin composed An American in Paris", "weeks before the work's premiere."),
    ("Gershwin collaborated on the original", 'French atmosphere are triumphant."'),
    ("Gershwin was attracted by Maurice Ravel's", "more modern than his prior works."),
    ("Gershwin strongly encouraged Ravel", "would be important to Ravel."),
    ("Gershwin greeted Ravel in New York", "performing among kindred spirits."),
    ("Ravel's tour reignited Gershwin's", "and artist Pablo Picasso."),
    ("Gershwin based An American in Paris", 'absorbs the French atmosphere."'),
    ("The piece is structured into five", "in the final “Grandioso.”"),
    ("An American in Paris is scored for 3 flutes (3rd", "not the notes that they played."),
    ("The revised edition by F. Campbell-Watson", "to avoid changing instruments."),
    ("William Daly arranged the score", "New World Music in 1929."),
    ("Gershwin did not particularly like", 'musically expressed, it succeeds."'),
    ("On September 22, 2013, it was", "Gershwin's composition process."),
    ("The score to An American in Paris is currently", "an early volume in the series."),
    ("Two Urtext Editions of the work", "before the first performance."),
    ("An American in Paris has been frequently", "in Chicago (Columbia GL 522 and CL 522)."),
    ("In 1951, MGM released the musical", "by Johnny Green), costing $500,000."),
    ("Rimler, Walter. George Gershwin –", "2009. 29–33."),
    ("Pollack, Howard. George Gershwin –", "2006. 431–42."),
]
ANTOINE_MEILLET = [
    ("Paul Jules Antoine Meillet, né le 11 novembre 1866 à Moulins", "Il est aussi philologue."),
    ("D'origine bourbonnaise, fils d'un", "au lycée de Moulins."),
    ("Étudiant à la faculté des lettres", "l'École pratique des hautes études."),
    ("En 1889, il est major", "l'agrégation de grammaire."),
    ("Il assure à la suite", "une conférence sur l'iranien."),
    ("En 1897, il soutient sa thèse", "l'École des langues orientales."),
    ("Secrétaire de la Société de", "de 1921 à sa mort."),
    ("Il a formé toute une", "qui découvrit Gustave Guillaume."),
    ("Il a influencé aussi un", "le phénomène de la grammaticalisation."),
    ("Selon le linguiste allemand Walter", "d'une variation diatopique."),
    ("L’acte de naissance de", "critiquant sur plusieurs plans."),
    ("1890, une mission de", "d'apprendre l'arménien moderne."),
    ("1902, il obtient la chaire", "l'École des langues orientales."),
    ("1903, nouvelle mission en Arménie", "étudie la langue arménienne."),
    ("1919, il est cofondateur", "Gabriel Millet, Gustave Schlumberger."),
    ("1920, le 19 janvier, il crée", "avec Frédéric Macler."),
    ("À la Sorbonne, Meillet supervise", "renouvelé les études homériques."),
    ("Esquisse d'une grammaire comparée", "classique, 1903."),
    ("Introduction à l'étude comparative", "1912 (3e éd.)."),
    ("Aperçu d'une histoire de la", "grecque, 1913."),
    ("Linguistique historique et linguistique", "Limoges, 2015)."),
    ("Les origines indo-européennes des", "grecs, 1923."),
    ("Traité de grammaire comparée des", "(avec Joseph Vendryés)."),
    ("La méthode comparative en linguistique", "Champion, 1954)."),
    ("Meillet en Arménie, 1891, 1903,", "Lambert-Lucas, 2014."),
    ("Marc Décimo, Sciences et pataphysique,", "Les Hétéroclites, 2014."),
]
KRASNAYA_KNIGA = [
    ("Кра́сная кни́га — аннотированный список", "животных, растений и грибов."),
    ("Красная книга является основным документом", "и рациональное использование."),
    ("В Красную книгу заносят", "конкретное издание Красной книги."),
    ("Красные книги бывают различного", "национальные и региональные."),
    ("Международный союз охраны природы (МСОП) в 1948 году", "по их дальнейшей охране."),
    ("Основной целью Комиссии было", "литературе времён СССР."),
    ("Первое издание Красной книги МСОП", "листы для замены устаревших."),
    ("Три тома второго издания книги вышли в 1966—1971 годах.", "видах и подвидах амфибий."),
    ("Постепенно Красная книга МСОП", "резко увеличен её тираж."),
    ("Последнее, четвёртое «типовое» издание", "полученной в последние годы."),
    ("Работа над Красной книгой", "свидетельствуют зелёные её листы."),
    ("Вторая ветвь «бифуркации» идеи", "Комиссии по редким видам МСОП."),
    ("Структурную основу новой системы", "исчезновения и б) таксоны низкого риска (LC)."),
    ("Первый блок подразделяется", "на три категории:"),
    ("Эти три категории и являются", "в красные книги различного ранга."),
    ("Второй блок включает представителей", "из следующих категорий:"),
    ("Ранее в этот блок также", "не произошла и статус сохраняется."),
    ("Несколько особняком стоят", "отношения к проблемам охраны:"),
    ("Также имеются две категории", "у которых статус не опередён:"),
    ("Красная книга МСОП, как и Красные листы", "общий, приблизительный характер."),
    ("В отличие от большинства", "под охрану государства."),
    ("В Польше, как и во всем Евросоюзе", "согласно Красной книге Польши, не предусмотрено."),
    ("В США Красной книги", "меры по охране редких видов."),
    ("«Красная книга Российской Федерации»", "обитающих на территории РФ."),
    ("«Красная книга СССР»", "обитавших на территории СССР."),
]  # fmt: skip
PAGES = [
    ("enwiki-latest-*", "An American in Paris", AN_AMERICAN_IN_PARIS),
    ("frwiki-minidump-*", "Antoine Meillet", ANTOINE_MEILLET),
    ("ruwiki-sample-big*", "Красная книга", KRASNAYA_KNIGA),
]


@cache
def extracted(path: Path) -> dict[str, tuple[str, list[str]]]:
    """Return wikitext and paragraphs of each page."""
    counts = Counts()
    return {
        page.title: (page.wikitext, paragraphs(page.wikitext, hidden_prefixes(counts.namespaces)))
        for page in read_dump(path, counts)
    }


@pytest.mark.real_data
@pytest.mark.parametrize(("dump", "title", "expected"), PAGES, ids=[title for _, title, _ in PAGES])
def test_hand_counted_pages(real_data: Path, dump: str, title: str, expected: list[tuple[str, str]]) -> None:
    (path,) = real_data.glob(f"wikidump/{dump}")
    _, found = extracted(path)[title]
    assert len(found) == len(expected)
    for paragraph, (first, last) in zip(found, expected, strict=True):
        assert paragraph.startswith(first)
        assert paragraph.endswith(last)


@pytest.mark.real_data
def test_a_whole_paragraph_is_as_the_page_shows_it(real_data: Path) -> None:
    (path,) = real_data.glob("wikidump/frwiki-minidump-*")
    assert extracted(path)["Antoine Meillet"][1][0] == (
        "Paul Jules Antoine Meillet, né le 11 novembre 1866 à Moulins (Allier) et mort le 21 septembre 1936 à "
        "Châteaumeillant (Cher), est le principal linguiste français des premières décennies du XXe siècle. "
        "Il est aussi philologue."
    )


@pytest.mark.real_data
def test_no_markup_is_left_in_any_dump(real_data: Path) -> None:
    dumps = sorted(real_data.glob("wikidump/*.bz2"))
    assert len(dumps) == 8
    for path in dumps:
        pages = extracted(path)
        assert any(found for _, found in pages.values())
        for title, (_, found) in pages.items():
            for paragraph in found:
                assert MARKUP.search(paragraph) is None, f"{path.name}, {title}: {paragraph}"


@pytest.mark.real_data
def test_sentences_of_unmarked_source_lines_all_survive(real_data: Path) -> None:
    """Lines of the source without any markup are prose as they stand: each must be found in the text."""
    ordinary = re.compile(r"[^\W\d_«„“][^\[\]{}<>|='&*#_]{60,}[.!?。]")
    checked, lost = 0, []
    for path in sorted(real_data.glob("wikidump/*.bz2")):
        for wikitext, found in extracted(path).values():
            shown = re.sub("<!--.*?-->", "", wikitext, flags=re.DOTALL)
            lines = [" ".join(line.split()) for line in shown.split("\n") if ordinary.fullmatch(line)]
            lost += [line for line in lines if line not in "\n".join(found)]
            checked += len(lines)
    assert checked > 500
    assert [line[:30] for line in lost] == ["тресты — государственные промы"]  # stands inside a reference
