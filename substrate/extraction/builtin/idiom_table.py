"""Turns of phrase and the plain form of each. Data only.

In a pattern ``{P}`` is a name that may be a person's, ``{N}`` any name, ``{R}`` a role, ``{T}`` a time, ``{BE}`` a form
of "be" and ``{THE}`` an optional article. The plain form lists groups (``<n>``) and verbs (``group:lemma``); a group
``when`` is a time and moves to the end.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Idiom(NamedTuple):
    """``regex`` over the signs of a sentence, ``plain`` the order in which the parser shall see it."""

    regex: re.Pattern[str]
    plain: str


_MACROS = {
    "{P}": r"N[px]",
    "{N}": r"N[a-z]",
    "{R}": r"R",
    "{A}": r"A",
    "{T}": r"T",
    "{BE}": r"(?:ha(?:s|ve|d) been|is|was|are|were|been|being|be)",
    "{THE}": r"(?:(?:the|a|an|his|her|their|its) )?",
    "{ADV}": r"(?:(?:also|then|recently|subsequently|formally|officially|later|initially|first|again|jointly) )?",
    "{TAKE}": r"(?:took|takes|take|taking|taken|assumed|assumes|assume|assuming)",
    "{LEAD}": r"(?:overall |sole |full |joint )?(?:leadership|helm|command|charge|reins|direction|headship|"
              r"running|lead)",
    "{HAPPENED}": r"(?:took effect|takes effect|became effective|was effective|came into (?:force|effect)|began|"
                  r"started|"
    r"commenced|dates|dated|was confirmed|has been confirmed|was made|was announced|was approved|took place|is "
    r"effective)",
    "{DONE}": r"(?:was (?:completed|concluded|finali[sz]ed|closed|made)|took place|has been completed|closed|completed|"
    r"took effect|became effective|happened|occurred|went through)",
    "{ENDED}": r"(?:ended|ends|expired|expires|came to an end|ran out|lapsed|terminated|finished|concluded|"
    r"was (?:ended|terminated|dissolved|concluded))",
    "{BEGAN}": r"(?:began|begins|started|starts|commenced|commences)",
    "{TITLE}": r"(?:R|(?!(?:was|is|are|were|has|had|have|will|would|may|to|not|and|that|which|who|be|been|took|takes|"
               r"subject|pending)\b)[a-z][a-z-]*)",
    "{POST}": r"(?:post|position|role|job|office|duties|title|seat|appointment)",
}  # fmt: skip


def _idiom(pattern: str, plain: str) -> Idiom:
    for name, words in _MACROS.items():
        pattern = pattern.replace(name, words)
    return Idiom(re.compile(rf"(?<!\S)(?:{pattern})(?!\S)"), plain)


_CHARGE = (
    r"(?:put|placed|left|set) in {LEAD} of|(?:put|placed|set) at {THE}(?:head|helm) of|given {THE}{LEAD} (?:of|"
    r"over)|handed {THE}{LEAD} of|"
    r"(?:entrusted|charged|tasked) with(?: {THE}(?:leadership|leading|heading|running|direction)(?: of)?)?"
)
_ANSWERABLE = r"(?:given|assigned|handed|made) {THE}(?:overall |full |sole )?(?:responsibility for|responsible for)"
_PASSIVE = (
    (_CHARGE, "take_charge"),
    (r"handed(?= {N}(?: \.| ,| from|$))", "take_charge"),
    (_ANSWERABLE, "take_responsibility"),
    (r"put in charge of managing|(?:entrusted|tasked) with (?:managing|{THE}management of)", "take_management"),
    (r"(?:taken on|brought in|signed up|brought on board)(?= by {N} as)", "hire"),
)

IDIOMS: tuple[Idiom, ...] = (
    _idiom(r"^(?P<n>(?:T : )?(?:(?:the|monthly|annual|base) )*(?:budget|price|headcount|salary|pay)(?: of "
           r"{THE}{N}| 's)?) "
           r"(?P<v>raised|increased|cut|reduced|lowered|changed|adjusted|set)(?= (?:from|to) A)", "<n> +was <v>"),
    _idiom(r"by A(?= (?:to|from) A)", ""),
    _idiom(r"(?P<v>{BE} (?:the|a|an|our) (?:[a-z-]+ ){0,2}supplier (?:of (?:[a-z-]+ ){1,4})?to)(?= {THE}N[a-z])",
           "v:supply"),
    _idiom(r"(?P<v>(?:signed|signs|concluded|entered into) {THE}(?:[a-z-]+ ){0,2}agreement with)(?= {THE}N[a-z])",
           "v:form_partnership"),
    _idiom(r"^(?P<b>(?:based|headquartered|located) in {THE}{N} ,) (?P<n>{THE}{N})", "<n> +, <b>"),
    _idiom(r"(?:this |the )?(?:[a-z]+ ){0,2}(?:agreement|contract|lease|N[a-z]) "
           r"(?P<v>(?:(?:is|was) )?(?:made|entered into|concluded|signed)(?: on| as of)?) "
           r"(?:by and )?between (?P<a>{THE}{N})(?: \( .*?\))? and (?P<b>{THE}{N})", "<a> v:form_partnership <b>"),
    _idiom(r"^(?:(?:we|i|the board|management|N[ox]) (?:(?:are|is|am) (?:very )?(?:pleased|delighted|happy|glad|proud) "
           r"to )?(?:(?:hereby|herewith) )?(?:(?:today |has |have )?(?:confirm(?:s|ed)?|announce[sd]?))|"
           r"this (?:letter|memo|note|notice) "
           r"(?:(?:hereby|herewith) )?(?:confirms|announces|(?:serves|is) to (?:confirm|announce))) "
           r"{THE}(?P<v>appointment|election|promotion) of (?P<n>{P}) (?:as|to) "
           r"(?P<r>{THE}{TITLE}(?: {TITLE}){0,5}(?: (?:of|at|for|in|with|within) {THE}{N})*)(?: ,)?(?= \.|$)",
           "<n> v:become <r>"),
    _idiom(r"(?:we|i|the board|management) (?:are|is|am) (?:very )?(?:pleased|delighted|happy|glad|proud|sorry|sad) to "
           r"(?:announce|confirm|inform you|report|advise you|let you know|share|tell you|note)(?: that)?", ""),
    _idiom(r"(?:please (?:note|be advised|be informed)|(?:we|i) (?:hereby|herewith)? ?(?:confirm|certify|"
           r"announce|inform you)|"
           r"this (?:is to|letter is to|serves to) (?:confirm|certify|inform you|announce)|it is hereby "
           r"(?:announced|confirmed|recorded|certified|noted)|this (?:letter|memo|note|notice) confirms) that", ""),
    _idiom(r"(?P<v>elected|appointed|named|made|re-elected|chose|elects|appoints|names) (?P<n>{P})(?= "
           r"{THE}(?:new |next )?"
           r"(?:chair|chairman|chairwoman|chairperson|treasurer|secretary|president|director|manager|lead|leader|head|"
           r"member|adviser|advisor|sponsor|coordinator|deputy|vice|chief|managing|R)(?: |$))", "<v> <n> +as"),
    _idiom(r"(?P<v>{BE} relieved of {THE}{POST}) (?P<as>as|of)", "v:resign <as>"),
    _idiom(r"(?P<v>(?:{BE} )?under {THE}{LEAD} of)(?= {P})", "v:be_under"),
    _idiom(r"(?P<a>{N}) 's (?P<v>partnership|alliance|cooperation|collaboration) with (?P<b>{N}) {BEGAN}",
           "<a> v:form_partnership <b>"),
    _idiom(r"(?P<a>{N}) 's (?P<v>partnership|alliance|cooperation|collaboration) with (?P<b>{N}) {ENDED}",
           "<a> v:end_partnership <b>"),
    _idiom(r"{THE}(?P<v>partnership|alliance|cooperation|collaboration) (?:between|of) (?P<a>{N}) (?:and|with) "
           r"(?P<b>{N}) "
           r"{BEGAN}", "<a> v:form_partnership <b>"),
    _idiom(r"{THE}(?P<v>partnership|alliance|cooperation|collaboration) (?:between|of) (?P<a>{N}) (?:and|with) "
           r"(?P<b>{N}) "
           r"{ENDED}", "<a> v:end_partnership <b>"),
    *(_idiom(rf"{{BE}} (?P<not>not|n't) {{ADV}}(?P<v>{words})", f"not v:{lemma}") for words, lemma in _PASSIVE[:4]),
    *(_idiom(rf"{{BE}} (?P<never>never) {{ADV}}(?P<v>{words})", f"<never> v:{lemma}") for words, lemma in _PASSIVE[:4]),
    *(_idiom(rf"(?P<v>{{BE}} {{ADV}}(?:{words}))", f"v:{lemma}") for words, lemma in _PASSIVE[:4]),
    _idiom(rf"(?P<v>{{BE}} {{ADV}}(?:{_PASSIVE[4][0]})) by (?P<o>{{N}}) (?P<as>as)", "v:join <o> <as>"),
    _idiom(r"(?P<v>{TAKE} (?:on |over |up )?{THE}{LEAD} (?:of|at))", "v:take_charge"),
    _idiom(r"(?P<v>{TAKE} (?:on |over |up )?{THE}(?:overall |full )?responsibility for)", "v:take_responsibility"),
    _idiom(r"(?P<v>(?:has|have|had|bears|bore|holds|held) {THE}(?:overall |full )?responsibility for)",
           "v:have_responsibility"),
    _idiom(r"(?P<v>{TAKE} up {THE}{POST} (?:of|as))", "v:become"),
    _idiom(r"(?P<v>{TAKE} up {THE}(?:duties|work|office) as)", "v:become"),
    _idiom(r"(?P<v>(?:relinquished|relinquishes|gave up|gives up|gave over|surrendered|yielded|laid down|ceded|left|"
           r"quit) {THE}{LEAD} of)", "v:give_up_charge"),
    _idiom(r"(?P<v>(?:formed|forms|entered into|enters into|entered|concluded|signed|struck|established|began|made) "
           r"{THE}(?:\w+ )?(?:partnership|alliance|cooperation|collaboration)(?: agreement)? "
           r"with)", "v:form_partnership"),
    _idiom(r"(?P<v>(?:ended|ends|terminated|dissolved|left|quit|discontinued) {THE}(?:partnership|alliance|cooperation|"
           r"collaboration) with)", "v:end_partnership"),
    # Nouns of an act: who, what, and that it came about.
    _idiom(r"{THE}(?P<v>appointment|election|promotion|nomination) of (?P<n>{P}) (?P<as>as|to) (?P<r>.+?) {HAPPENED}"
           r"(?: from)?", "<n> v:become <r>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>appointment|election|promotion) (?:as|to)(?: {THE}{POST} of)? (?P<r>.+?) {HAPPENED}"
           r"(?: from)?", "<n> v:become <r>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>(?:term(?: of office)?|tenure|time|service|mandate|period|stint|spell|appointment)) "
           r"(?P<as>as) (?P<r>.+?) {ENDED}", "<n> v:resign <as> <r>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>(?:resignation|dismissal|removal|retirement|departure)) (?P<as>as|from) (?P<r>.+?) "
           r"(?:{HAPPENED}|was accepted)", "<n> v:resign <as> <r>"),
    _idiom(r"{THE}(?P<v>(?:resignation|dismissal|removal|retirement|departure)) of (?P<n>{P}) (?P<as>as|from) "
           r"(?P<r>.+?) "
           r"(?:{HAPPENED}|was accepted)", "<n> v:resign <as> <r>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>(?:employment|service|job|work|contract|contract of employment|employment contract|"
           r"engagement) (?:with|at)) {THE}(?P<o>{N}) {ENDED}", "<n> v:leave <o>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>(?:employment|service|job|work|contract|contract of employment|employment contract|"
           r"engagement) (?:with|at)) {THE}(?P<o>{N}) {BEGAN}", "<n> v:join <o>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>last (?:working )?day (?:at|with)) {THE}(?P<o>{N}) (?:was|is) (?P<when>{T})",
           "<n> v:leave <o>"),
    _idiom(r"(?P<n>{P}) 's (?P<v>(?:first (?:working )?day|start date|starting date) (?:at|with)) {THE}(?P<o>{N}) "
           r"(?:was|is) (?P<when>{T})", "<n> v:join <o>"),
    _idiom(r"{THE}(?P<v>acquisition|takeover|purchase|take-over) of (?P<b>{N}) by (?P<a>{N}) {DONE}", "<a> "
        "v:acquire <b>"),
    _idiom(r"(?P<a>{N}) 's (?P<v>acquisition|takeover|purchase) of (?P<b>{N}) {DONE}", "<a> v:acquire <b>"),
    _idiom(r"(?P<v>(?:(?:is|was|are|were|has been|have been) )?(?:standing in|stands in|stood in|filling in|fills in|"
           r"covering|deputi[sz]ing|deputi[sz]es) for)(?= (?:{P}|him|her))", "v:stand_in_for"),
    _idiom(r"(?P<b>{N}) (?P<v>{BE}) (?:(?:about|around|approximately|majority) )?(?P<s>A) "
           r"(?:owned|held|controlled) by (?P<a>{N})",
           "<a> v:own <s> +of <b>"),
    _idiom(r"(?P<v>(?:completed|concluded|finali[sz]ed|closed|completes) {THE}(?:full )?"
           r"(?:acquisition|takeover|purchase) of)(?= {THE}N[a-z])", "v:acquire"),
    _idiom(r"{THE}(?P<v>sale) of (?P<b>{N})(?: by {N})? to (?P<a>{N}) {DONE}", "<a> v:acquire <b>"),
    _idiom(r"{THE}(?P<v>merger) of (?P<a>{N}) (?P<and>and|with) (?P<b>{N}) {DONE}", "<a> v:merge_and <b>"),
    _idiom(r"(?P<n>{THE}(?:leadership|management|ownership|headship|chairmanship|direction|responsibility) (?:of|for) "
           r"{THE}{N}) (?P<v>moved|went|shifted|fell|passed|was (?:passed|transferred|handed|given|moved))",
           "<n> v:pass"),
    _idiom(r"(?P<n>N[jd]) (?P<v>went) (?P<o>from {P} to {P})", "<n> v:pass <o>"),
    _idiom(r"(?P<n>{THE}{POST} of .+?) (?P<v>is held by|was held by|has been held by) (?P<h>{P})", "<h> v:hold <n>"),
)  # fmt: skip
