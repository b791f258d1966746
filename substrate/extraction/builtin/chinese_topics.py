"""What a Chinese clause is about where it names nothing or points back, and who acts in it."""

from __future__ import annotations

import re

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.chinese_scene import ChineseSentence, name_of, names_of
from substrate.extraction.builtin.terms import Term
from substrate.extraction.times import TimeMention

_Times = tuple[TimeMention, ...]


def topic_of(state: ChineseSentence) -> Term | None:
    """The last thing spoken of that is no person."""
    return state.topic


def said_of(state: ChineseSentence, words: str) -> Term | None:
    """What a clause names as its subject, or the topic where it names nothing or points back."""
    words = re.sub(
        r"(?:其|其中|现有?|目前|当前|的|期末|期初|年末|年初|现在)+$|^(?:其|其中|另外|此外|目前|现)",
        "",
        words.strip(" ，,：:"),
    )
    words = re.sub(r"(?:现任|时任|新任|首任|毕业后?)$", "", words.strip("的"))
    words = re.sub(r"^(?:客户|供应商|竞争对手|合作伙伴|子公司|工单|缺陷)(?=[\u4e00-\u9fff]{3}|[A-Z])", "", words)
    if words.startswith("该") and len(words) <= 4:
        return _pointed_at(state, words[1:])
    if not words or words in _BACK:
        return topic_of(state)
    found = name_of(state, words, role_too=False)
    return found if found is not None and found.sort == "name" else None


def _pointed_at(state: ChineseSentence, noun: str) -> Term | None:
    """ "该院" is the last thing named that ends so, "该公司" the last organisation."""
    for draft in reversed(state.findings.drafts):
        for term in (draft.object, draft.subject):
            if isinstance(term, Term) and term.sort == "name" and term.kind != "person" and not w.is_person(term.text):
                fits = noun in {"公司", "企业", "集团"} and term.kind in {None, "organization"}
                if term.text.endswith(noun) or fits:
                    state.topic = term
                    return term
    return state.topic


_BACK = frozenset(
    "该公司 公司 该院 该项目 该系统 该平台 该产品 该服务 该机构 该行 该企业 其 "
    "本公司 企业 项目 产品 它 该机型 该型号".split()
)


def agents_of(state: ChineseSentence, words: str) -> list[Term]:
    """Who does it: the person a title stands before, what stands in quotes, or the names as they are."""
    for n in (4, 3, 2, 1):
        if w.is_person(words[-n:]) and len(words) > n and re.search(rf"(?:{w.TITLE_ENDINGS}|代表|助理)$", words[:-n]):
            return [Term("name", words[-n:], "person")]
    quoted = re.search(r"[“\"「](?P<in>[^”\"」]+)[”\"」]", words)
    found = [name_of(state, quoted.group("in"))] if quoted is not None else list(names_of(state, words))
    return [t for t in found if t is not None]


def now_about(state: ChineseSentence, subject: Term) -> None:
    state.subject = subject
    if subject.kind != "person":
        state.topic = subject
