"""The ontology as people edit it: terms, files, plans applied as they were shown, packs, defects, candidates."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from api.deps import Editor, Member, Reader, StrictRoute
from api.rest.bodies import Body, Why, why_of
from substrate.errors import InvalidInput
from substrate.ontology import candidates as near
from substrate.ontology import defects, edits, files, packs
from substrate.ontology.classes import Term, kind_of, terms_of
from substrate.ontology.hierarchy import class_card, entities_of_class
from substrate.ontology.plans import Mode
from substrate.ontology.rdf_writing import is_iri
from substrate.ontology.store import load_ontology
from substrate.ontology.terms import OntologyClass, Relation
from substrate.ontology.uses import named_by, uses_of
from substrate.reads.moments import envelope, head

router = APIRouter(route_class=StrictRoute, prefix="/kbs/{kb_id}/ontology", tags=["ontology"])


class TermBody(Body):
    """One term: its kind, and its fields as in a file, without the key."""

    kind: Literal["class", "relation", "attribute"]
    definition: dict[str, Any]
    why: str = ""


@router.get("/terms/{term_key}")
def get_term(kb_id: UUID, term_key: str, who: Reader) -> dict[str, Any]:
    """One term with what uses it and, of a class, what stands above and beneath it."""
    with who.read() as conn:
        at_head = envelope(head(conn, kb_id))
        term = edits.get_term(conn, kb_id, term_key)
        ontology = load_ontology(conn, kb_id)
        uses = uses_of(conn, kb_id, [term_key]).get(term_key, {})
    naming = sorted(named_by(terms_of(ontology).values()).get(term_key, ()))
    around = class_card(ontology, term_key) if isinstance(term, OntologyClass) else {}
    said = {"kind": kind_of(term), "definition": term.model_dump(mode="json")}
    return {"kb_id": str(kb_id), **at_head, "key": term_key, **said, "uses": uses, "named_by": naming, **around}


@router.put("/terms/{term_key}")
def put_term(kb_id: UUID, term_key: str, body: TermBody, who: Editor) -> dict[str, Any]:
    """Declare one term. 409 where facts would come out otherwise: such a change is planned first and shown."""
    term = _term(term_key, body)
    with who.act("term declared", body.why) as door:
        step = edits.put_term(door, term)
    stands = door.seq if step else door.seq - 1  # nothing written is no transaction
    return {"key": term_key, "changed": step is not None, "step": step.shown() if step else None, "seq": stands}


@router.delete("/terms/{term_key}")
def delete_term(kb_id: UUID, term_key: str, who: Editor, why: str = "") -> dict[str, Any]:
    """Take one term out. 409 with the numbers where it is used."""
    with who.act("term deleted", why) as door:
        step = edits.delete_term(door, term_key)
    return {"key": term_key, "step": step.shown(), "seq": door.seq}


def _term(key: str, body: TermBody) -> Term:
    fields = {**body.definition, "key": key}
    if body.kind != "class":
        fields["kind"] = body.kind
    kind: type[OntologyClass] | type[Relation] = OntologyClass if body.kind == "class" else Relation
    try:
        found: Term = kind.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "definition"
        raise InvalidInput(f"{where}: {first['msg']}", field=where) from error
    files.check_term(found)
    if found.iri is not None and not is_iri(found.iri):
        raise InvalidInput(f"iri: {found.iri!r} is no absolute IRI", field="iri")
    return found


@router.get("/file", response_class=PlainTextResponse)
def get_file(kb_id: UUID, who: Reader, format: Literal["yaml", "turtle"] = "yaml") -> PlainTextResponse:
    """The ontology as one file; planning it changes nothing."""
    with who.read() as conn:
        ontology = load_ontology(conn, kb_id)
    if format == "turtle":
        return PlainTextResponse(files.write_turtle(ontology), media_type="text/turtle")
    return PlainTextResponse(files.write_yaml(ontology), media_type="application/yaml")


@router.post("/plans", status_code=201)
async def make_plan(
    kb_id: UUID,
    request: Request,
    who: Editor,
    format: Literal["yaml", "turtle", "rdfxml", "jsonld"],
    mode: Literal["replace", "add"] | None = None,
    name: str = "",
) -> dict[str, Any]:
    """Plan the file that is the body. A file of ours replaces what is declared, any other is added, unless `mode` says.

    Nothing that the file names is fetched. Applying the plan by its id carries out exactly what is shown here.
    """
    return await run_in_threadpool(_plan, who, await request.body(), format, mode, name)


def _plan(who: Member, data: bytes, written_as: files.Format, mode: Mode | None, name: str) -> dict[str, Any]:
    reading = files.read_file(data, written_as)
    mode = mode or ("replace" if reading.whole else "add")
    with who.write() as conn:
        plan = edits.keep_plan(
            conn, who.kb_id, reading.terms, mode, by=who.actor, notes=reading.notes,
            source=data.decode("utf-8-sig"), source_name=name,
        )  # fmt: skip
    return plan.shown()


@router.get("/plans")
def list_plans(kb_id: UUID, who: Reader) -> dict[str, Any]:
    """Plans that are kept, the newest first."""
    with who.read() as conn:
        return {"kb_id": str(kb_id), **envelope(head(conn, kb_id)), "plans": edits.list_plans(conn, kb_id)}


@router.get("/plans/{plan_id}")
def get_plan(kb_id: UUID, plan_id: str, who: Reader) -> dict[str, Any]:
    """A kept plan, as it was shown."""
    with who.read() as conn:
        return {"kb_id": str(kb_id), **envelope(head(conn, kb_id)), **edits.kept_plan(conn, kb_id, plan_id)}


@router.post("/plans/{plan_id}/apply")
def apply_plan(kb_id: UUID, plan_id: str, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """Carry out a plan; 409 where the base moved on in what it rests on."""
    with who.act("ontology plan applied", why_of(body)) as door:
        plan = edits.apply_plan(door, plan_id)
    return {**plan.shown(), "applied_seq": door.seq}


@router.get("/packs")
def list_packs(kb_id: UUID, who: Reader) -> dict[str, Any]:
    """The packs there are, with their sources and licences."""
    with who.read() as conn:
        return {"kb_id": str(kb_id), **envelope(head(conn, kb_id)), "packs": packs.list_packs()}


@router.post("/packs/{pack_name}/plan", status_code=201)
def plan_pack(kb_id: UUID, pack_name: str, who: Editor) -> dict[str, Any]:
    """Plan the addition of a pack."""
    pack = packs.load_pack(pack_name)
    asked = list(terms_of(pack.ontology).values())
    with who.write() as conn:
        return edits.keep_plan(conn, kb_id, asked, "add", by=who.actor, source_name=f"pack {pack.name}").shown()


@router.get("/defects")
def list_defects(kb_id: UUID, who: Reader, waived: bool = False) -> dict[str, Any]:
    """What is wrong in the ontology and in what is held under it, or what people waived of that."""
    with who.read() as conn:
        return {"kb_id": str(kb_id), **envelope(head(conn, kb_id)), **defects.list_defects(conn, kb_id, waived=waived)}


@router.post("/defects/{fingerprint}/waive")
def waive_defect(kb_id: UUID, fingerprint: str, body: Why, who: Editor) -> dict[str, Any]:
    """A person lives with a defect, for a reason."""
    with who.act("defect waived", body.why) as door:
        waiver_id = defects.waive(door, fingerprint, body.why)
    return {"fingerprint": fingerprint, "waiver_id": waiver_id, "seq": door.seq}


@router.post("/waivers/{waiver_id}/lift")
def lift_waiver(kb_id: UUID, waiver_id: UUID, who: Editor, body: Why | None = None) -> dict[str, Any]:
    """The defect is queued again."""
    with who.act("waiver lifted", why_of(body)) as door:
        defects.lift_waiver(door, waiver_id)
    return {"waiver_id": waiver_id, "seq": door.seq}


@router.get("/candidates")
def candidates(
    kb_id: UUID,
    who: Reader,
    text: str,
    kind: Literal["class", "relation", "attribute"] | None = None,
    limit: int = 10,
) -> dict[str, Any]:
    """The terms nearest to a text by vectors; those without a vector that counts are told as `stale`."""
    embedder = who.embedder()
    with who.read() as conn:
        at_head = envelope(head(conn, kb_id))
        kinds = near.KINDS if kind is None else (kind,)
        found = near.nearest_to(conn, kb_id, text, embedder, kinds=kinds, limit=limit)
    listed = [{"key": c.key, "kind": c.kind, "label": c.label, "score": round(c.score, 4)} for c in found.found]
    return {"kb_id": str(kb_id), **at_head, "terms": found.terms, "stale": found.stale, "candidates": listed}


@router.get("/classes/{class_key}/entities")
def list_entities(
    kb_id: UUID, class_key: str, who: Reader, as_of: str | None = None, limit: int = 50
) -> dict[str, Any]:
    """Entities of a class, those of every class beneath it included."""
    with who.read() as conn:
        return entities_of_class(conn, kb_id, class_key, who.moment(conn, as_of=as_of), limit=limit)
