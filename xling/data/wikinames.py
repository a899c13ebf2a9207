"""Names that mean something to MediaWiki, in English, German, French, Russian and Chinese, besides the dump's own."""

import re
from collections.abc import Mapping

FILE, CATEGORY = 6, 14  # numbers of the namespaces whose links show no text

_FILE_NAMES = "file image datei bild fichier файл изображение 文件 檔案 档案 圖像 图像 圖片 图片 影像"
_CATEGORY_NAMES = "category kategorie catégorie категория 分类 分類"
# Codes of the Wikipedias: a link [[de:Berlin]] stands in the margin, not in the text.
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
_HIDDEN = frozenset(f"{_FILE_NAMES} {_CATEGORY_NAMES} {_LANGUAGES}".split())
REDIRECT = re.compile(
    r"\s*[#＃](?:redirect|redirection|weiterleitung|перенаправление|перенапр|重定向|重新導向)\s*:?\s*\[\[",
    re.IGNORECASE,
)


def hidden_prefixes(namespaces: Mapping[int, str]) -> frozenset[str]:
    """Return the lower-case link prefixes that show nothing in the text: files, categories, other languages."""
    return _HIDDEN | {namespaces[key].lower() for key in (FILE, CATEGORY) if namespaces.get(key)}


def is_redirect(wikitext: str) -> bool:
    """Return whether a page only points to another one."""
    return REDIRECT.match(wikitext) is not None
