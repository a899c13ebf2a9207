"""Names of a wiki's namespaces and of its redirect word, in its own language where we know them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WikiNames:
    """The words of the wiki software that differ between language editions."""

    spaces: dict[int, str]  # number of a namespace to its name
    redirect: str


ENGLISH = {
    -2: "Media", -1: "Special", 0: "", 1: "Talk", 2: "User", 3: "User talk", 4: "Wikipedia", 5: "Wikipedia talk",
    6: "File", 7: "File talk", 8: "MediaWiki", 9: "MediaWiki talk", 10: "Template", 11: "Template talk",
    12: "Help", 13: "Help talk", 14: "Category", 15: "Category talk", 100: "Portal", 101: "Portal talk",
}  # fmt: skip
FRENCH = {
    -2: "Média", -1: "Spécial", 1: "Discussion", 2: "Utilisateur", 3: "Discussion utilisateur", 4: "Wikipédia",
    5: "Discussion Wikipédia", 6: "Fichier", 7: "Discussion fichier", 9: "Discussion MediaWiki", 10: "Modèle",
    11: "Discussion modèle", 12: "Aide", 13: "Discussion aide", 14: "Catégorie", 15: "Discussion catégorie",
    100: "Portail", 101: "Discussion Portail",
}  # fmt: skip
GERMAN = {
    -2: "Medium", -1: "Spezial", 1: "Diskussion", 2: "Benutzer", 3: "Benutzer Diskussion",
    5: "Wikipedia Diskussion", 6: "Datei", 7: "Datei Diskussion", 9: "MediaWiki Diskussion", 10: "Vorlage",
    11: "Vorlage Diskussion", 12: "Hilfe", 13: "Hilfe Diskussion", 14: "Kategorie", 15: "Kategorie Diskussion",
    101: "Portal Diskussion",
}  # fmt: skip
RUSSIAN = {
    -2: "Медиа", -1: "Служебная", 1: "Обсуждение", 2: "Участник", 3: "Обсуждение участника", 4: "Википедия",
    5: "Обсуждение Википедии", 6: "Файл", 7: "Обсуждение файла", 9: "Обсуждение MediaWiki", 10: "Шаблон",
    11: "Обсуждение шаблона", 12: "Справка", 13: "Обсуждение справки", 14: "Категория", 15: "Обсуждение категории",
    100: "Портал", 101: "Обсуждение портала",
}  # fmt: skip
OWN_NAMES = {
    "fr": (FRENCH, "#REDIRECTION"),
    "de": (GERMAN, "#WEITERLEITUNG"),
    "ru": (RUSSIAN, "#перенаправление"),
    "zh": ({}, "#重定向"),
}


def wiki_names(code: str) -> WikiNames:
    """Return the names a language edition uses, English ones where it has none of its own."""
    own, redirect = OWN_NAMES.get(code, ({}, "#REDIRECT"))
    return WikiNames(ENGLISH | own, redirect)
