"""Role nouns: which relation a role states, and the claims that follow from "X is R of Y"."""

from __future__ import annotations

import re
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RELATION_OF_ROLE: dict[str, str] = {
    **dict.fromkeys(
        _words("lead leader head teamlead co-lead co-leader co-head boss captain")
        | {"team lead", "team leader", "project lead", "project leader", "project head", "tech lead",
           "technical lead", "programme lead", "program lead", "group lead", "group leader", "group head",
           "department head", "division head", "squad lead"},
        "leads",
    ),
    **dict.fromkeys({"manager", "project manager", "program manager", "programme manager", "team manager",
                     "line manager", "supervisor", "general manager", "manageress"}, "manages"),
    **dict.fromkeys({"director", "managing director", "executive director", "project director"}, "directs"),
    **dict.fromkeys({"owner", "co-owner", "product owner", "proprietor", "project owner"}, "owns"),
    **dict.fromkeys({"chair", "chairman", "chairwoman", "chairperson", "co-chair"}, "chairs"),
    **dict.fromkeys({"adviser", "advisor", "advisers", "mentor"}, "advises"),
    **dict.fromkeys({"sponsor", "project sponsor", "executive sponsor"}, "sponsors"),
    **dict.fromkeys({"maintainer", "lead maintainer"}, "maintains"),
    **dict.fromkeys({"coordinator", "project coordinator"}, "coordinates"),
    **dict.fromkeys({"founder", "co-founder", "cofounder"}, "founded"),
    **dict.fromkeys({"supplier", "vendor"}, "supplies"),
    **dict.fromkeys({"account manager", "key account manager", "relationship manager", "account executive"},
                    "responsible for"),
    **dict.fromkeys({"member"}, "member of"),
    **dict.fromkeys({"employee", "staffer"}, "works for"),
    **dict.fromkeys({"subsidiary"}, "subsidiary of"),
    **dict.fromkeys({"part", "division", "unit", "component", "branch", "department", "team", "workstream",
                     "sub-project", "subproject", "group"}, "part of"),
    **dict.fromkeys({"customer", "client"}, "customer of"),
    **dict.fromkeys({"partner"}, "partner of"),
    **dict.fromkeys({"capital"}, "capital of"),
    **dict.fromkeys({"author", "co-author"}, "wrote"),
    **dict.fromkeys({"investor"}, "invests in"),
    **dict.fromkeys({"shareholder", "stakeholder"}, "shareholder of"),
    **dict.fromkeys({"competitor", "rival"}, "competes with"),
    **dict.fromkeys({"successor"}, "successor of"),
    **dict.fromkeys({"predecessor"}, "predecessor of"),
    **dict.fromkeys({"operator"}, "operates"),
    **dict.fromkeys({"publisher"}, "published"),
    **dict.fromkeys({"manufacturer", "producer", "maker"}, "makes"),
    **dict.fromkeys({"wife", "husband", "spouse"}, "married to"),
    **dict.fromkeys({"son", "daughter", "child"}, "child of"),
    **dict.fromkeys({"father", "mother", "parent"}, "parent of"),
    **dict.fromkeys({"brother", "sister", "sibling"}, "sibling of"),
}  # fmt: skip
"""Role (lower case, with the modifiers that do not change it) → plain phrase, holder as the subject."""

MIRRORED = {"parent company": "subsidiary of", "parent": "subsidiary of", "employer": "works for",
            "alma mater": "studied at", "holding company": "subsidiary of",
            "owner company": "subsidiary of"}  # fmt: skip
"""Role → plain phrase, where the holder is the *object* ("Y's employer is X": Y works for X)."""

ACRONYMS = _words("ceo cto cfo coo cio ciso cmo cpo chro vp svp evp cdo cso")
TITLE_NOUNS = ACRONYMS | _words(
    """officer engineer analyst designer developer architect scientist researcher accountant controller
    consultant specialist administrator technician assistant secretary treasurer president vice-president
    programmer tester writer editor librarian
    professor lecturer dean provost rector teacher nurse physician surgeon pharmacist lawyer counsel
    attorney paralegal recruiter planner buyer auditor inspector foreman clerk cashier driver pilot chef
    commander representative ambassador minister mayor governor commissioner registrar curator producer
    intern trainee apprentice fellow strategist economist statistician chemist physicist biologist
    justice judge senator congressman sheriff bishop receptionist steward superintendent executive principal
    spokesperson spokesman spokeswoman
    partner associate operator mechanic electrician bursar actuary dispatcher underwriter estimator surveyor bookkeeper
    translator interpreter conductor composer journalist photographer artist actor sculptor painter baker
    carpenter plumber welder machinist toolmaker mason gardener farmer winemaker brewer distiller skipper
    midwife paramedic therapist psychologist dentist optician veterinarian archaeologist historian mathematician
    geologist geophysicist astronomer meteorologist ecologist agronomist zoologist botanist linguist sociologist
    pathologist radiologist psychiatrist solicitor barrister notary magistrate prosecutor caretaker janitor porter
    concierge waiter bartender tailor merchandiser marketer copywriter publicist fundraiser lobbyist negotiator
    mediator arbitrator assessor adjuster broker trader banker investigator detective archivist ombudsman trustee
    chaplain coach trainer instructor tutor headmaster headteacher chancellor geneticist microbiologist
    epidemiologist toxicologist nutritionist physiotherapist storekeeper facilitator moderator sysadmin metallurgist
    joiner glazier master"""
)
"""Nouns that end a job title; the title is a value of "job title"."""

ROLE_NOUNS = TITLE_NOUNS | _words(
    """lead leader head manager director owner chair chairman chairwoman chairperson adviser advisor sponsor
    maintainer coordinator founder co-founder cofounder supervisor co-lead co-owner co-chair mentor
    captain member employee"""
)

ROLE_MODIFIERS = _words(
    """chief senior staff principal deputy vice executive technical technology software data product project
    program programme engineering marketing sales finance financial operating operations information
    security human resources legal general managing regional global account customer quality lead junior
    associate assistant interim acting research development business commercial strategy strategic digital
    creative art medical clinical scientific scientific supply chain procurement logistics plant production
    site field support systems system network infrastructure platform cloud mobile web frontend backend
    devops machine learning design ux ui content communications public relations investor people talent
    hr it r&d risk compliance internal external audit tax payroll office administrative night shift team
    group department division line country area co founding non-executive independent honorary head
    first second president test scrum product service incident release integration hardware
    electrical mechanical civil chemical"""
)
FUNCTION_AREAS = ROLE_MODIFIERS | _words(
    """science analytics growth training education safety maintenance accounting billing partnerships
    purchasing manufacturing distribution retail wholesale innovation architecture delivery staffing
    recruiting recruitment affairs administration treasury planning exports imports hr sustainability
    programmes programs products experience success insights privacy governance ethics ai media
    communication facilities services trading"""
)
"""What "head of …" may be head of without naming an organisation ("head of engineering")."""

QUALIFYING = _words("acting interim deputy assistant vice co- honorary temporary provisional caretaker associate")
"""A deputy lead is not the lead: with one of these the role stays a title."""

_DEGREES = re.compile(
    r"^(?:(?:largest|biggest|main|major|majority|minority|wholly[- ]owned|fully[- ]owned|majority[- ]owned|owned|"
    r"wholly|key|sole|exclusive|principal|primary|long-?time|long-?standing|strategic|important|direct|chief|regional|local|"
    r"founding|permanent|fellow|active|ultimate|immediate|biggest|single|only|close|closest|core|preferred|official|"
    r"anchor|oldest|second-largest|third-largest|indirect|controlling|significant|leading|foreign|domestic|integral|"
    r"100%) )+(?=\S)",
    re.IGNORECASE,
)
"""Before a relation these say how much or which of several, and not what."""
_TO_THINGS = frozenset(
    "subsidiary customer client supplier vendor shareholder stakeholder investor competitor rival partner member part "
    "division unit branch parent".split()
) | {"parent company", "holding company"}
_NUMBERING = re.compile(r"^(?:a|an|the|its|their|his|her|new|current|former|then|sole|joint|first|next)\s+", re.I)


@dataclass(frozen=True, slots=True)
class RoleReading:
    """What a role with an "of …" states: ``phrase`` toward the organisation, or a title, or both."""

    relation: str | None
    title: str | None
    mirrored: bool = False


def is_role(words: str) -> bool:
    """Whether a noun phrase names a role: its last word before any "of" is a role noun."""
    head = re.split(r"\s+(?:of|for|at|in)\s+", words.strip().lower())[0].split()
    return bool(head) and (head[-1] in ROLE_NOUNS or undegreed(" ".join(head)) in RELATION_OF_ROLE | MIRRORED)


def undegreed(words: str) -> str:
    """ "Largest customer" → "customer": a relation without what says how much of one."""
    low = words.lower()
    bare = _DEGREES.sub("", low)
    return bare if bare in _TO_THINGS else low


def read_role(words: str) -> RoleReading:
    """Reads a role such as "the CTO", "team lead", "Head of Data"."""
    title = plain_title(words)
    key = undegreed(title)
    if key in MIRRORED:
        return RoleReading(MIRRORED[key], None, mirrored=True)
    if key in RELATION_OF_ROLE:
        return RoleReading(RELATION_OF_ROLE[key], title)
    return RoleReading(None, title)


def plain_title(words: str) -> str:
    """The title without articles and without what is said about its holder."""
    title = words.strip()
    while (m := _NUMBERING.match(title)) and m.end() < len(title):
        title = title[m.end() :]
    return title
