"""What a Chinese sentence takes back: "更正：…", "应为B，而非A", "误写为A，正确的是B"."""

from __future__ import annotations

import re
from dataclasses import replace

from substrate.extraction.builtin import chinese_words as w
from substrate.extraction.builtin.amounts import parse_amount
from substrate.extraction.builtin.chinese_names import Hidden
from substrate.extraction.builtin.corrections import Correction
from substrate.extraction.builtin.drafts import Draft
from substrate.extraction.builtin.terms import Term
from substrate.extraction.claims import Value

_CORRECTION = re.compile(r"^(?:更正|勘误|订正)[^：:]{0,12}[：:]")
_NOT_BUT = re.compile(r"(?:，|,)?(?:而)?(?:不是|并非|非|而非)(?P<wrong>[^，,。；]+?)(?:，|,|。|$)")
_WRONGLY = re.compile(r"(?:被)?(?:误|错误地?)(?:记|写|报|列|登记|录入|标)(?:为|成)")
_MISWRITTEN = re.compile(
    r"^[^，,。；]{0,10}?(?:误|错误地?)(?:将|把)(?P<what>[^，,。；]+?)(?:写|记|报|列|登记|录入|标|填)(?:为|成)"
)
_RIGHT = re.compile(
    r"[，,；;。](?:正确的?(?:是|为|应为|数字是|数字为|数额为|金额为|值为|信息为)|(?:实际|实)?应为|应该是|实为|"
    r"实际为)(?P<right>[^，,。；]+)"
)


def taken_back(text: str, hidden: Hidden) -> tuple[str, Correction, str, str]:
    """The sentence as a plain statement, what kind of correction it is, the wrong words and the right ones."""
    body = hidden.hide(_CORRECTION.sub("", text).strip())
    corrects = _CORRECTION.match(text.strip()) is not None
    body, right = _right_value(body)
    body = _MISWRITTEN.sub(lambda m: m.group("what") + "误写为", body)
    correction = Correction(corrects=corrects, denies=bool(_WRONGLY.search(body)))
    body, wrong = _without_contrast(body)
    if correction.corrects or wrong:
        body = body.replace("应为", "为").replace("应该是", "是").replace("应是", "是")
    if correction.denies:
        body = re.sub(r"^[^，]{0,6}?(?:将|把)", "", body)
        body = re.sub(rf"^.*?{_WRONGLY.pattern}(?=.*(?:负责|领导|担任|任职|属于|位于))", "", body)
    body = _WRONGLY.sub("为", body)
    return body, correction, wrong, right


def _right_value(body: str) -> tuple[str, str]:
    """ "…误记为A，正确的是B" → what stands before, and B."""
    m = _RIGHT.search(body)
    return (body[: m.start()] + "。", m.group("right").strip()) if m and m.start() > 2 else (body, "")


def righted(drafts: list[Draft], right: str) -> list[Draft]:
    denied = next((d for d in drafts if d.denies), None)
    if denied is None or not right:
        return []
    if isinstance(denied.object, Value):
        return [replace(denied, object=parse_amount(right), denies=False, corrects=True)]
    term = Term("name", right, w.chinese_kind(right))
    if term.kind == denied.subject.kind:
        return [replace(denied, subject=term, denies=False, corrects=True)]
    return [replace(denied, object=term, denies=False, corrects=True)]


def _without_contrast(body: str) -> tuple[str, str]:
    """ "是B，不是A" and "不是A，而是B" → the plain half and the wrong words."""
    if m := re.search(r"(?:不是|并非)(?P<wrong>[^，,。]+?)[，,]?而是", body):
        return body[: m.start()] + "是" + body[m.end() :], m.group("wrong")
    m = _NOT_BUT.search(body)
    if m and re.search(r"[是为]", body[: m.start()]) and m.start() > 2 and m.group().startswith(("，", ",", "而")):
        return body[: m.start()] + "。", m.group("wrong").strip()
    return body, ""


def corrected(drafts: list[Draft], correction: Correction, wrong: str, body: str) -> list[Draft]:
    if correction.denies:
        return [replace(d, denies=True) for d in drafts]
    out = [replace(d, corrects=correction.corrects or bool(wrong)) for d in drafts]
    if wrong and drafts and body.rstrip("。.").endswith(drafts[0].subject.text):
        subject = Term("name", wrong, w.chinese_kind(wrong))
        out.append(replace(drafts[0], subject=subject, denies=True))
    elif wrong and drafts:
        first = drafts[0]
        target: Term | Value = (
            parse_amount(wrong) if isinstance(first.object, Value) else Term("name", wrong, w.chinese_kind(wrong))
        )
        out.append(replace(first, object=target, denies=True))
    return out
