"""What verbs state: data only.

Aspect says how a date beside the verb is read: ``state`` holds through it, ``start`` begins there, ``end``
ends there, ``event`` happened in it.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Aspect = Literal["state", "start", "end", "event"]


class Relation(NamedTuple):
    """A plain phrase; ``swap`` turns subject and object around ("Acme employs X": X works for Acme)."""

    phrase: str
    aspect: Aspect = "state"
    subject: str | None = None
    object: str | None = None
    swap: bool = False


_P, _O, _L = "person", "organization", "place"

RELATIONS: dict[tuple[str, str], Relation] = {
    ("lead", ""): Relation("leads", subject=_P),
    ("head", ""): Relation("leads", subject=_P),
    ("head up", ""): Relation("leads", subject=_P),
    ("spearhead", ""): Relation("leads", subject=_P),
    ("captain", ""): Relation("leads", subject=_P),
    ("co-lead", ""): Relation("leads", subject=_P),
    ("manage", ""): Relation("manages"),
    ("run", ""): Relation("runs"),
    ("direct", ""): Relation("directs", subject=_P),
    ("oversee", ""): Relation("oversees"),
    ("supervise", ""): Relation("supervises"),
    ("coordinate", ""): Relation("coordinates"),
    ("chair", ""): Relation("chairs", subject=_P),
    ("co-chair", ""): Relation("chairs", subject=_P),
    ("own", ""): Relation("owns"),
    ("hold", ""): Relation("holds"),
    ("use", ""): Relation("uses"),
    ("supply", ""): Relation("supplies"),
    ("advise", ""): Relation("advises"),
    ("mentor", ""): Relation("advises", subject=_P),
    ("sponsor", ""): Relation("sponsors"),
    ("fund", ""): Relation("funds"),
    ("finance", ""): Relation("funds"),
    ("support", ""): Relation("supports"),
    ("maintain", ""): Relation("maintains"),
    ("operate", ""): Relation("operates"),
    ("represent", ""): Relation("represents"),
    ("serve", ""): Relation("serves"),
    ("contain", ""): Relation("part of", swap=True),
    ("include", ""): Relation("part of", swap=True),
    ("comprise", ""): Relation("part of", swap=True),
    ("employ", ""): Relation("works for", subject=_P, object=_O, swap=True),
    ("hire", ""): Relation("works for", "start", _P, _O, swap=True),
    ("recruit", ""): Relation("works for", "start", _P, _O, swap=True),
    ("work", "for"): Relation("works for", subject=_P),
    ("work", "at"): Relation("works for", subject=_P, object=_O),
    ("work", "on"): Relation("works on", subject=_P),
    ("work", "from"): Relation("works from", subject=_P),
    ("meet", "in"): Relation("meets in"),
    ("work", "with"): Relation("works with"),
    ("work", "under"): Relation("reports to", subject=_P, object=_P),
    ("employ", "by"): Relation("works for", subject=_P, object=_O),
    ("start", "at"): Relation("works for", "start", _P, _O),
    ("start", "with"): Relation("works for", "start", _P, _O),
    ("begin", "at"): Relation("works for", "start", _P, _O),
    ("sit", "on"): Relation("member of", subject=_P, object=_O),
    ("serve", "on"): Relation("member of", subject=_P, object=_O),
    ("employ", "at"): Relation("works for", subject=_P, object=_O),
    ("report", "to"): Relation("reports to"),
    ("answer", "to"): Relation("reports to"),
    ("belong", "to"): Relation("part of"),
    ("sit", "within"): Relation("part of"),
    ("sit", "under"): Relation("part of"),
    ("fall", "under"): Relation("part of"),
    ("form", "part of"): Relation("part of"),
    ("integrate", "into"): Relation("part of", "start"),
    ("merge", "into"): Relation("part of", "start"),
    ("fold", "into"): Relation("part of", "start"),
    ("incorporate", "into"): Relation("part of", "start"),
    ("absorb", "into"): Relation("part of", "start"),
    ("absorb", ""): Relation("part of", "start", swap=True),
    ("merge", "with"): Relation("merged with", "event"),
    ("locate", "in"): Relation("located in", object=_L),
    ("locate", "at"): Relation("located in", object=_L),
    ("base", "in"): Relation("located in", object=_L),
    ("base", "at"): Relation("located in", object=_L),
    ("situate", "in"): Relation("located in", object=_L),
    ("sit", "in"): Relation("located in", object=_L),
    ("house", "in"): Relation("located in", object=_L),
    ("headquarter", "in"): Relation("headquartered in", subject=_O, object=_L),
    ("headquarter", "at"): Relation("headquartered in", subject=_O, object=_L),
    ("live", "in"): Relation("lives in", subject=_P, object=_L),
    ("reside", "in"): Relation("lives in", subject=_P, object=_L),
    ("bear", "in"): Relation("born in", "event", _P, _L),
    ("die", "in"): Relation("died in", "event", _P, _L),
    ("open", ""): Relation("opened", "event"),
    ("close", ""): Relation("closed", "event"),
    ("acquire", ""): Relation("acquired", "event"),
    ("buy", ""): Relation("acquired", "event"),
    ("purchase", ""): Relation("acquired", "event"),
    ("sell", ""): Relation("sold", "event"),
    ("found", ""): Relation("founded", "event"),
    ("co-found", ""): Relation("founded", "event"),
    ("cofound", ""): Relation("founded", "event"),
    ("establish", ""): Relation("founded", "event"),
    ("set up", ""): Relation("founded", "event"),
    ("launch", ""): Relation("launched", "event"),
    ("release", ""): Relation("released", "event"),
    ("publish", ""): Relation("published", "event"),
    ("write", ""): Relation("wrote", "event"),
    ("author", ""): Relation("wrote", "event"),
    ("design", ""): Relation("designed", "event"),
    ("build", ""): Relation("built", "event"),
    ("develop", ""): Relation("develops"),
    ("invent", ""): Relation("invented", "event"),
    ("create", ""): Relation("created", "event"),
    ("approve", ""): Relation("approved", "event"),
    ("sign", ""): Relation("signed", "event"),
    ("win", ""): Relation("won", "event"),
    ("marry", ""): Relation("married to", "start", _P, _P),
    ("marry", "to"): Relation("married to", "start", _P, _P),
    ("study", "at"): Relation("studied at", subject=_P, object=_O),
    ("graduate", "from"): Relation("graduated from", "event", _P, _O),
    ("invest", "in"): Relation("invests in"),
    ("partner", "with"): Relation("partner of"),
    ("cooperate", "with"): Relation("partner of"),
    ("collaborate", "with"): Relation("partner of"),
    ("compete", "with"): Relation("competes with"),
    ("rely", "on"): Relation("depends on"),
    ("depend", "on"): Relation("depends on"),
    ("run", "on"): Relation("runs on"),
    ("consist", "of"): Relation("part of", swap=True),
    ("be composed", "of"): Relation("part of", swap=True),
    ("compose", "of"): Relation("part of", swap=True),
    ("make", ""): Relation("makes"),
    ("settle", "in"): Relation("lives in", "start", _P, _L),
    ("lie", "in"): Relation("located in", object=_L),
    ("stand", "in"): Relation("located in", object=_L),
    ("station", "in"): Relation("located in", object=_L),
    ("station", "at"): Relation("located in", object=_L),
    ("manufacture", "in"): Relation("made in", object=_L),
    ("produce", "in"): Relation("made in", object=_L),
    ("make", "in"): Relation("made in", object=_L),
    ("host", ""): Relation("hosts"),
    ("host", "in"): Relation("located in"),
    ("host", "at"): Relation("located in"),
    ("keep", "in"): Relation("located in"),
    ("store", "in"): Relation("located in"),
    ("hold", "in"): Relation("located in"),
    ("house", "at"): Relation("located in"),
    ("host", "on"): Relation("runs on"),
    ("write", "in"): Relation("written in"),
    ("build", "on"): Relation("uses"),
    ("base", "on"): Relation("uses"),
    ("look after", ""): Relation("responsible for"),
    ("look", "after"): Relation("responsible for"),
    ("handle", ""): Relation("responsible for"),
    ("administer", ""): Relation("responsible for"),
    ("cover", ""): Relation("responsible for", subject=_P),
    ("care", "for"): Relation("responsible for"),
    ("be responsible", "for"): Relation("responsible for"),
    ("stand in for", ""): Relation("stands in for", subject=_P, object=_P),
    ("deputise", "for"): Relation("stands in for", subject=_P, object=_P),
    ("deputize", "for"): Relation("stands in for", subject=_P, object=_P),
    ("incorporate", ""): Relation("uses"),
    ("require", ""): Relation("uses"),
    ("adopt", ""): Relation("uses", "start"),
    ("supersede", ""): Relation("replaced"),
    ("organise", ""): Relation("organises"),
    ("organize", ""): Relation("organises"),
    ("choose", ""): Relation("uses", "start"),
    ("license", "under"): Relation("licensed under"),
    ("certify", "to"): Relation("certified to"),
    ("stay", "in"): Relation("lives in", object=_L),
    ("vest", "in"): Relation("owns", swap=True),
    ("conduct", ""): Relation("conducts"),
    ("carry out", ""): Relation("conducts"),
    ("list", "in"): Relation("listed on"),
    ("list", "at"): Relation("listed on"),
    ("rewrite", "in"): Relation("written in"),
    ("register", "at"): Relation("registered in", object=_L),
    ("deploy", "on"): Relation("runs on"),
    ("deploy", "to"): Relation("runs on"),
    ("educate", "at"): Relation("studied at", subject=_P, object=_O),
    ("train", "at"): Relation("studied at", subject=_P, object=_O),
    ("study", "in"): Relation("studied at", subject=_P, object=_O),
    ("operate", "in"): Relation("operates in"),
    ("list", "on"): Relation("listed on"),
    ("register", "in"): Relation("registered in", object=_L),
    ("incorporate", "in"): Relation("registered in", object=_L),
    ("work", "in"): Relation("works in", subject=_P),
    ("expand", "to"): Relation("operates in", "start"),
    ("build", "for"): Relation("built for", "event"),
    ("ally", "with"): Relation("partner of"),
    ("team up", "with"): Relation("partner of", "start"),
    ("sit", "at"): Relation("located in", object=_L),
    ("affiliate", "with"): Relation("affiliated with"),
    ("name", "after"): Relation("named after"),
    ("rent", ""): Relation("rents"),
    ("lease", ""): Relation("leases"),
    ("occupy", ""): Relation("occupies"),
    ("produce", ""): Relation("makes"),
    ("manufacture", ""): Relation("makes"),
    ("teach", "at"): Relation("works for", subject=_P, object=_O),
    ("assign", "to"): Relation("assigned to", "start"),
    ("transfer", "to"): Relation("assigned to", "start"),
    ("second", "to"): Relation("assigned to", "start"),
    ("speak", ""): Relation("speaks", subject=_P),
    ("sue", ""): Relation("sued", "event"),
    ("visit", ""): Relation("visited", "event"),
    ("attend", ""): Relation("attended", "event"),
    ("review", ""): Relation("reviewed", "event"),
    ("audit", ""): Relation("audited", "event"),
    ("take responsibility", ""): Relation("responsible for", "start"),
    ("have responsibility", ""): Relation("responsible for"),
    ("be under", ""): Relation("leads", "state", object=_P, swap=True),
    ("take management", ""): Relation("manages", "start", _P),
    ("give up charge", ""): Relation("leads", "end", _P),
    ("form partnership", ""): Relation("partner of", "start"),
    ("end partnership", ""): Relation("partner of", "end"),
    ("merge and", ""): Relation("merged with", "event"),
    ("spin off", "from"): Relation("part of", "end"),
    ("split off", "from"): Relation("part of", "end"),
}
"""(verb, preposition or "") → relation. A verb with its particle is written "set up"."""

ROLE_VERBS: dict[str, Aspect] = {
    "become": "start", "appoint": "start", "name": "start", "elect": "start", "promote": "start",
    "make": "start", "designate": "start", "nominate": "start", "install": "start", "confirm": "start",
    "continue": "state", "stay": "state", "stay on": "state", "carry on": "state",
    "serve": "state", "act": "state", "work": "state", "remain": "state", "function": "state",
    "reappoint": "start", "hire": "start", "recruit": "start", "engage": "start", "employ": "state",
    "join": "start", "start": "start", "begin": "start", "rejoin": "start", "return": "start",
}  # fmt: skip
"""Verbs that take a role as predicate or after "as" or "to"."""

HANDOVER_TO_SUBJECT = {"replace", "succeed", "relieve"}
TAKE_OVER = {"take over", "assume", "take on", "take charge"}
SURE_TAKE_OVER = {"take charge"}
"""No company is bought by these: they say who leads, whatever kind of name stands beside them."""
HAND_OVER = {"hand over", "hand", "pass", "pass on", "transfer", "cede", "turn over", "hand off"}
QUIT = {"resign", "step down", "retire", "stand down", "step back", "leave", "depart", "quit", "resign from",
        "step aside", "dismiss", "fire", "sack", "lay off", "remove", "exit", "withdraw", "part"}  # fmt: skip
JOIN = {"join", "rejoin", "enter"}
RENAME = {"rename", "rebrand", "retitle"}
CALLED = {"call", "know", "name", "nickname", "title", "dub"}
CHANGE = {"raise", "increase", "cut", "lower", "reduce", "change", "adjust", "rise", "grow", "fall", "drop",
          "set", "go", "amend", "climb", "decrease", "decline", "revise", "shift", "bring", "bump", "move",
          "go up", "go down", "come"}  # fmt: skip
MOVE = {"move", "relocate", "transfer", "migrate", "shift", "switch"}
BEGIN = {"start", "begin", "commence", "launch", "kick off", "go", "open", "found", "establish", "create",
         "incorporate", "form", "set up", "introduce"}  # fmt: skip
FINISH = {"end", "finish", "close", "conclude", "complete", "expire", "wind down", "dissolve", "shut down",
          "cancel", "discontinue", "terminate", "mature", "lapse", "run out", "switch off", "decommission", "shut",
          "phase out", "abolish", "revoke"}  # fmt: skip
STARTED_ON = {"found": "founded on", "establish": "founded on", "create": "founded on", "form": "founded on",
              "incorporate": "founded on", "set up": "founded on"}  # fmt: skip
DONE_ON = {"approve": "approved on", "ratify": "approved on", "sign": "signed on", "release": "released on",
           "publish": "published on", "issue": "issued on", "adopt": "adopted on"}  # fmt: skip
PAY = {"earn", "pay", "draw"}

STATE_NOUNS = {"salary", "pay", "wage", "compensation", "budget", "price", "headcount", "revenue", "title",
               "job title", "rate", "address", "capacity", "quota", "rent", "fee", "stake", "share"}  # fmt: skip

MUTUAL_NOUNS = {
    **dict.fromkeys(("partners", "allies", "collaborators"), "partner of"),
    **dict.fromkeys(("competitors", "rivals"), "competes with"),
    **dict.fromkeys(("spouses", "married"), "married to"),
    **dict.fromkeys(("siblings", "brothers", "sisters"), "sibling of"),
    **dict.fromkeys(("colleagues", "coworkers", "co-workers"), "works with"),
}
MUTUAL_STATES = {"marry": "married to", "partner": "partner of", "ally": "partner of"}
MUTUAL_VERBS: dict[str, tuple[str, Aspect]] = {
    "compete": ("competes with", "state"), "partner": ("partner of", "state"), "cooperate": ("partner of", "state"),
    "collaborate": ("partner of", "state"), "merge": ("merged with", "event"), "marry": ("married to", "start"),
}  # fmt: skip
BONDS = {"partnership": "partner of", "alliance": "partner of", "cooperation": "partner of", "merger": "merged with"}
BOND_VERBS: dict[str, Aspect] = {
    "form": "start", "enter": "start", "establish": "start", "begin": "start", "conclude": "start", "sign": "start",
    "launch": "start", "create": "start", "end": "end", "dissolve": "end", "terminate": "end", "complete": "event",
}  # fmt: skip
"""What two parties to a sentence are to one another."""
SELL = {"sell", "sell off", "divest"}
CEASE = {"stop", "cease", "quit", "discontinue"}
COMMENCE = {"start", "begin", "commence"}
CONTINUE = {"continue", "keep", "go", "remain"}
PLAN = {"plan", "intend", "hope", "want", "aim", "agree", "decide", "propose", "prepare", "wish", "expect",
        "schedule", "set", "due", "promise", "offer", "invite", "ask", "tell", "need", "undertake", "slate",
        "commit", "elect", "vote", "opt", "choose", "seek", "try", "attempt", "aspire", "consider",
        "discuss", "contemplate", "request", "require", "instruct", "mandate", "be", "recommend", "suggest",
        "advise", "order", "designate", "apply", "volunteer", "go"}  # fmt: skip
APPOINTED_TO = {"appoint", "elect", "choose", "name", "hire", "promote", "select", "pick", "recruit", "bring",
"reappoint",
                "engage", "assign", "install", "call"}  # fmt: skip
"""In the passive with "to lead Z" these say that it came about."""
FAIL = {"fail", "refuse", "decline", "neglect", "deny", "forget", "avoid"}
SEEM = {"seem", "appear", "think", "believe", "consider", "suppose", "assume", "expect", "rumour", "rumor",
        "suspect", "guess", "doubt", "tend", "likely", "imagine", "fear", "wonder", "speculate", "presume",
        "hint", "feel"}  # fmt: skip
REPORT = {"say", "claim", "allege", "report", "announce", "state", "tell", "argue", "insist", "suggest",
          "write", "maintain", "assert", "mention", "quote", "declare", "hear", "add", "explain", "predict",
          "warn", "promise", "propose", "recommend", "request", "demand", "deny", "ask"}  # fmt: skip
IRREALIS = {
    "let",
    "urge",
    "insist",
    "propose",
    "recommend",
    "request",
    "demand",
    "suggest",
    "ask",
    "require",
    "predict",
    "promise",
}
NEGATING = {"deny"}

NOT_GENERIC = PLAN | SEEM | REPORT | {
    "do", "have", "get", "make", "take", "come", "see", "put", "give", "let", "help", "turn", "think", "like",
    "follow", "happen", "look", "talk", "speak", "thank", "meet", "call", "send", "keep", "hold", "contact",
    "start", "begin", "continue", "remain", "become", "stop", "cease", "know", "show", "mean", "bring",
    "change", "replace", "cover", "receive", "involve", "concern", "affect", "face", "near", "reach",
    "correct", "cc", "note", "read", "add", "move", "transfer", "hand", "pass", "name", "appoint", "promote",
    "elect", "raise", "increase", "cut", "reduce", "lower", "join", "leave", "quit", "resign", "retire",
    "relate", "refer", "apply", "agree", "deny", "fail", "refuse", "decline", "confirm", "rename", "exit",
    "return", "arrive", "sit", "stand", "lie", "wait", "introduce", "remove", "describe", "mention", "welcome",
    "count", "rank", "number", "enter", "lend", "list", "include", "grant", "share",
}  # fmt: skip
"""Verbs too weak, or read by a frame of their own, for the subject–verb–object fallback."""


def third_person(lemma: str) -> str:
    """ "lead" → "leads", "carry out" → "carries out"."""
    verb, _, rest = lemma.partition(" ")
    irregular = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if verb in irregular:
        form = irregular[verb]
    elif verb.endswith("y") and verb[-2:-1] not in "aeiou":
        form = verb[:-1] + "ies"
    else:
        form = verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    return f"{form} {rest}".strip()
