"""How a clause is meant: as so, or as planned, denied, doubted, depending on something, told by others."""

from __future__ import annotations

import re
from typing import Any

from substrate.extraction.builtin import verbs
from substrate.extraction.claims import Mood

_CONDITION_MARKS = {
    "if",
    "unless",
    "whether",
    "provided",
    "providing",
    "assuming",
    "once",
    "until",
    "lest",
    "supposing",
}
_HEDGES = {
    "perhaps", "possibly", "probably", "maybe", "reportedly", "allegedly", "apparently", "supposedly", "likely",
    "presumably", "seemingly", "potentially", "conceivably", "purportedly", "rumoured", "rumored", "ostensibly",
    "arguably", "tentatively", "almost", "nearly", "virtually",
}  # fmt: skip
_HEDGING_MODALS = {"may", "might", "could", "would", "can", "should", "must", "'d", "ought"}
_FUTURE_MODALS = {"will", "shall", "'ll", "wo"}
_NEGATIONS = {"not", "n't", "never", "nt", "neither", "nor", "hardly", "scarcely", "barely"}

_WHOLE_HEDGED = re.compile(
    r"\b(?:rumou?rs?|it is (?:possible|likely|believed|thought|unclear|uncertain|doubtful)|unconfirmed|not clear|"
    r"is (?:considered|believed|thought|rumou?red|tipped|expected to be|likely) |in theory|speculation|"
    r"to be confirmed|"
    r"\bTBC\b|\bTBD\b)",
    re.IGNORECASE,
)
_WHOLE_CONDITIONAL = re.compile(
    r"\b(?:subject to|pending (?:(?:the|a|an|its|his|her|their|final|formal|board) )*(?:approval|review|"
    r"signature|board|"
    r"confirmation|regulatory|decision|outcome|result|vote|consent|ratification|clearance|election)|if "
    r"(?:approved|confirmed|"
    r"elected|appointed|ratified|agreed)|"
    r"in case|in the event|"
    r"provided (?:that )?|on condition|as soon as|^(?:up)?on (?:the |any |receipt of )?(?:termination|default|"
    r"breach|expiry|insolvency|bankruptcy|written request|"
    r"request|approval|non-payment)\b|failing (?:which|that|payment)|to the extent (?:that )?|in the absence of|"
    r"conditional on|contingent on|only if|as long as|should the )",
    re.IGNORECASE,
)
_WHOLE_PLANNED = re.compile(
    r"\b(?:the plan is|plans? for|proposal|proposed|candidate for|in future|going forward it is intended|draft|"
    r"is planned|are planned|was planned|planned for|(?:is|are|was|were) being (?:considered|discussed|prepared|"
    r"negotiated)|in talks|in negotiations|in principle|in discussions|our intention|the intention|the goal is|"
    r"the aim is)\b",
    re.IGNORECASE,
)
_CANDIDACY = re.compile(
    r"\b(?:short-?listed|nominated|tipped (?:as|for|to)|(?:stood|stands?|standing|ran|runs?|running) (?:for|as) "
    r"(?:(?:the|a) )?"
    r"(?:post|position|office|chair|election|role|lead|head|president|director|treasurer|secretary|re-?election|"
    r"seat|board)|"
    r"recommended|recommends|put forward|applied for|applies for|considered (?:for|as|to)|proposed (?:as|for|to)|"
    r"passed over|in the running|contender for|favourite for|earmarked)\b",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    r"\b(?:was|were|been|and|then|duly|later|subsequently|finally|unanimously) (?:elected|appointed|chosen|"
    r"confirmed|named|hired)\b",
    re.IGNORECASE,
)
_WHOLE_REPORTED = re.compile(
    r"\b(?:word (?:has it|is)|legend has it|the story goes|there is talk|gossip|hearsay|it is (?:said|claimed|"
    r"alleged)|according to|as claimed by|as reported by)\b|^(?:sources|press reports)\b|\bor so\b|"
    r", (?:some|people|they|he|she|sources) (?:say|claim|think|believe)s?\b",
    re.IGNORECASE,
)
_HISTORIC_PLAN = re.compile(
    r"\b(?:was to have|had planned|was supposed to|were supposed to|had intended)\b", re.IGNORECASE
)
_PLAN_HEADING = re.compile(
    r"^(?:the |our )?(?:plan|proposal|draft|scenario|option|idea|target|goal)\b[^.:]{0,30}:", re.IGNORECASE
)
_IDEAS = frozenset(
    "idea plan proposal hope goal aim expectation assumption suggestion intention wish claim rumour".split()
)
_PROSPECTIVE = re.compile(
    r"\b(?:candidate|nominee|designated?|incoming|prospective|would-be|aspiring|shortlisted)\b|-elect\b|"
    r"\b(?:planned|proposed|expected|projected|forecast|target|intended|future) (?:\w+ ){0,2}"
    r"(?:salary|budget|price|head|lead|manager|ceo|cto|cfo|director|revenue|headcount|owner|chair)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(
    r"\bit is (?:false|untrue|wrong|not true|incorrect|not the case)\b|\bneither\b.*\bnor\b|^(?:no one|"
    r"nobody|none of)\b",
    re.IGNORECASE,
)
_TURNED_DOWN = re.compile(
    r"\bbut (?:\w+ ){0,3}(?:declined|refused|withdrew|turned (?:it|this|the \w+) down|did not (?:accept|take)|"
    r"never took|"
    r"(?:was|were) not (?:elected|appointed|chosen|confirmed|selected|approved))\b|\bno (?:record|evidence|"
    r"indication|proof|"
    r"sign|basis|suggestion) (?:that|of)\b",
    re.IGNORECASE,
)
_FICTION = re.compile(r"^(?:imagine|suppose|say|for example, if|let us assume|what if)\b", re.IGNORECASE)


def sentence_mood(text: str) -> Mood | None:
    """What the wording of the whole sentence says about everything in it."""
    if text.rstrip("\"”' )").endswith("?"):
        return "question"
    if _WHOLE_CONDITIONAL.search(text) or _FICTION.search(text):
        return "conditional"
    if _NEITHER.search(text) or _TURNED_DOWN.search(text):
        return "negated"
    if _WHOLE_HEDGED.search(text):
        return "hedged"
    if (
        _HISTORIC_PLAN.search(text)
        or _WHOLE_PLANNED.search(text)
        or _PLAN_HEADING.search(text)
        or _PROSPECTIVE.search(text)
        or (_CANDIDACY.search(text) and not _CHOSEN.search(text))
    ):
        return "planned"
    if _WHOLE_REPORTED.search(text):
        return "reported"
    return None


def clause_mood(verb: Any) -> Mood | None:
    """Mood of the clause of `verb` from its auxiliaries, adverbs and the clauses above it."""
    own = _own_mood(verb)
    if own is not None:
        return own
    return _inherited(verb)


def is_negated(verb: Any) -> bool:
    return any(c.lower_ in _NEGATIONS and c.dep_ in {"neg", "advmod", "preconj", "cc"} for c in verb.children)


def ceased(verb: Any) -> bool:
    """ "no longer leads", "does not lead … any more"."""
    words = {c.lower_ for c in verb.children}
    if "longer" in words:
        return True
    return bool(words & {"anymore"}) or (is_negated(verb) and bool(words & {"more", "again"}))


def _has_none(noun: Any) -> bool:
    """ "No office", "neither plant"."""
    return any(c.dep_ in {"det", "neg", "preconj"} and c.lower_ in {"no", "neither"} for c in noun.children)


def _own_mood(verb: Any) -> Mood | None:
    words = {c.lower_ for c in verb.children}
    if any(c.dep_ in {"dobj", "attr", "nsubj", "nsubjpass"} and _has_none(c) for c in verb.children):
        return "negated"
    if is_negated(verb) and "longer" not in words and not ceased(verb):
        return "negated"
    auxiliaries = {c.lower_ for c in verb.children if c.dep_ in {"aux", "auxpass"}}
    hedges = {
        c.lower_ for c in verb.children if c.dep_ in {"advmod", "aux", "acomp", "prep", "intj", "npadvmod"}
    } & _HEDGES
    if hedges or auxiliaries & _HEDGING_MODALS:
        return "hedged"
    if auxiliaries & _FUTURE_MODALS:
        return "planned"
    if any(_is_condition(c) for c in verb.children):
        return "conditional"
    if verb.dep_ == "advcl" and _marks(verb) & _CONDITION_MARKS:
        return "conditional"
    return None


def _is_condition(child: Any) -> bool:
    return child.dep_ in {"advcl", "prep"} and bool(
        _marks(child) & {"if", "unless", "provided", "providing", "assuming", "once"}
    )


def _marks(verb: Any) -> set[str]:
    return {c.lower_ for c in verb.children if c.dep_ in {"mark", "advmod"}} | (
        {verb.lower_} if verb.dep_ == "prep" else set()
    )


def _inherited(verb: Any) -> Mood | None:
    """What the governing verb makes of this one ("plans to …", "said that …", "if …, and …")."""
    head = verb.head
    if head is verb or head == verb:
        return None
    if verb.dep_ == "conj" and head.pos_ in {"VERB", "AUX"}:
        if any(c.dep_ in {"nsubj", "nsubjpass"} for c in verb.children) and not _shares_modal(head):
            return _inherited(head)
        if _has_own_finite(verb):
            return _inherited(head)
        return clause_mood(head)
    if verb.dep_ in {"xcomp", "ccomp", "advcl", "acl", "pcomp", "csubj", "oprd"}:
        return _governed(verb, head)
    if verb.dep_ == "relcl":
        return None
    return None


def _has_own_finite(verb: Any) -> bool:
    """A finite second verb ("will leave A and joins B") does not stand under the first one's modal."""
    return bool(verb.tag_ in {"VBZ", "VBD", "VBP"} and not _shares_modal(verb.head)) or any(
        c.dep_ in {"aux", "auxpass"} and c.lower_ in {"has", "have", "is", "was", "are", "were", "did", "does"}
        for c in verb.children
    )


def _shares_modal(verb: Any) -> bool:
    return any(c.dep_ == "aux" and c.lower_ in _FUTURE_MODALS | _HEDGING_MODALS for c in verb.children)


def _governed(verb: Any, head: Any) -> Mood | None:
    lemma = head.lemma_.lower()
    above = clause_mood(head) if head.pos_ in {"VERB", "AUX"} else None
    infinitive = any(c.dep_ == "aux" and c.lower_ == "to" for c in verb.children)
    if verb.dep_ == "ccomp" and _marks(verb) & {"whether", "if"}:
        return "hedged"
    if verb.dep_ == "ccomp" and head.pos_ in {"VERB", "AUX"}:
        return _content_clause(verb, head, lemma, above)
    if verb.dep_ in {"xcomp", "oprd"} or (verb.dep_ == "ccomp" and infinitive):
        return above or _infinitive(head, lemma, infinitive)
    if verb.dep_ == "acl" and infinitive:
        return "planned"
    if verb.dep_ == "pcomp" and head.lower_ in {"without", "instead", "before", "from", "for", "against"}:
        return "negated" if head.lower_ in {"without", "instead", "from", "against"} else "planned"
    if verb.dep_ == "advcl":
        if _marks(verb) & {"when", "after", "before", "while", "as"} and above == "planned":
            return "planned"
        return "planned" if infinitive and not _marks(verb) else None
    return None


def _of_itself(head: Any, verb: Any) -> bool:
    """ "Acme said it has bought Brio": what somebody reports to have done itself is done."""
    told = head.lemma_.lower() in {"say", "announce", "report", "state", "add"} and head.tag_ in {"VBD", "VBN", "VBZ"}
    who = [c for c in verb.children if c.dep_ in {"nsubj", "nsubjpass"}]
    teller = [c for c in head.children if c.dep_ == "nsubj" and c.pos_ == "PROPN"]
    helped = {c.lower_ for c in verb.children if c.dep_ in {"aux", "auxpass"}}
    finished = verb.tag_ == "VBD" or helped & {"has", "have", "had"}
    return told and len(who) == 1 and bool(teller) and who[0].lower_ in {"it", "its"} and bool(finished)


def _content_clause(verb: Any, head: Any, lemma: str, above: Mood | None) -> Mood | None:
    if lemma == "be" and any(c.lower_ in _IDEAS for c in head.children if c.dep_ == "nsubj"):
        return "planned"
    if is_negated(head) or lemma in verbs.NEGATING:
        return "negated"
    if lemma in verbs.IRREALIS:
        return "planned"
    if lemma in verbs.REPORT:
        return above if _of_itself(head, verb) else "reported"
    if lemma in verbs.SEEM or lemma in {"hope", "plan", "want", "wish"}:
        return "hedged"
    return above


def _infinitive(head: Any, lemma: str, infinitive: bool) -> Mood | None:
    if lemma in verbs.CEASE | verbs.CONTINUE | {"use"} and lemma != "go":
        return None
    if lemma in verbs.COMMENCE or lemma == "help":
        return None
    if lemma in verbs.FAIL:
        return "negated"
    passive = any(c.dep_ == "auxpass" for c in head.children)
    if lemma in verbs.APPOINTED_TO and (passive or any(c.dep_ == "dobj" for c in head.children)):
        return None
    if lemma in verbs.REPORT and passive:
        return "reported"
    if lemma in {"expect", "suppose"}:
        return "planned"
    if lemma in verbs.SEEM:
        return "hedged"
    if lemma in verbs.PLAN or infinitive:
        return "planned"
    return None
