"""A dump as MediaWiki writes one, made of pages that a test names."""

import bz2
from pathlib import Path
from xml.sax.saxutils import escape

HEADER = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">Bildnis</namespace>
      <namespace key="14" case="first-letter">Schublade</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>{ns}</ns>
    <id>1</id>
{redirect}    <revision>
      <id>2</id>
      <comment>&lt;page&gt; [[x]] &amp;</comment>
      <origin>2</origin>
      <text bytes="9" sha1="x" xml:space="preserve">{text}</text>
    </revision>
  </page>
"""


def page_xml(title: str, wikitext: str, ns: int = 0, redirect: str = "") -> str:
    """Return one page of the dump."""
    return PAGE.format(title=escape(title), ns=ns, redirect=redirect, text=escape(wikitext, {'"': "&quot;"}))


def dump_xml(*pages: str) -> str:
    """Return a dump of these pages."""
    return HEADER + "".join(pages) + "</mediawiki>\n"


def write_dump(folder: Path, xml: str) -> Path:
    """Compress XML into a file and return its path."""
    path = folder / "wiki-pages-articles.xml.bz2"
    path.write_bytes(bz2.compress(xml.encode()))
    return path
