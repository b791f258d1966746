"""Verdicts are given in batches, all or none, and a batch is taken back exactly."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from substrate import reads
from substrate.documents.intake import PushItem, delete, push, remember
from substrate.documents.stage import run_parse
from substrate.errors import Conflict, InvalidInput, NotFound
from substrate.extraction.builtin import BuiltinExtractor
from substrate.extraction.stage import run_claims
from substrate.identity.stage import run_entities
from substrate.ledger.merges import revert_merge
from substrate.ledger.refusals import lift
from substrate.ledger.retractions import reject_fact
from substrate.ledger.stage import run_facts
from substrate.ledger.verdicts import MOST, decide, revert_batch
from substrate.ledger.verify import verify
from tests.substrate.ledger.test_undo import Ledger

BY = {"actor": "agent:test", "via": "mcp"}


class Queue(Ledger):
    """Sentences as an agent records them, up to the proposals that the pipeline's own stages make of them."""

    settings = None

    def remember(self, *sentences):
        for text in sentences:
            remember(self.database, self.kb_id, text, "2024-05-01", **BY)
        self.run()

    def run(self):
        run_parse(self.database, self.kb_id, limit=100)
        run_claims(self.database, self.kb_id, BuiltinExtractor(self.settings), limit=100)
        run_entities(self.database, self.kb_id, limit=100)
        run_facts(self.database, self.kb_id, limit=100)

    def waiting(self, as_of=None):
        """sentence → proposal"""
        return {p["sentence"]: p["id"] for p in self.read(reads.list_pending, as_of=as_of)["pending"]}


@pytest.fixture
def queue(database, kb, settings):
    made = Queue(database, kb)
    made.settings = settings
    yield made
    with database.read(kb) as conn:
        assert verify(conn, kb).exit_code == 0


def test_many_are_decided_at_once_and_taken_back_at_once(queue):
    queue.remember("Ada leads Heron.", "Bob works on Egret.", "Cy works on Ibis.")
    waiting = queue.waiting()
    ids = {sentence: UUID(i) for sentence, i in waiting.items()}
    asked = queue.seq()
    done = queue.act(decide, [ids["Ada leads Heron."], ids["Cy works on Ibis."]], [ids["Bob works on Egret."]])
    decided = queue.seq()
    assert queue.facts("Heron") == [("leads", "Ada")]
    assert queue.facts("Cy") == [("works_on", "Ibis")]
    assert queue.waiting() == {}
    assert [str(i) for i in done.refusals] == [waiting["Bob works on Egret."]]
    assert queue.say("Bob", "works_on", "Egret").refused == 1
    back = queue.act(revert_batch, done.batch_id, "too fast")
    assert queue.facts("Heron") is None
    assert queue.facts("Cy") is None
    assert queue.facts("Bob") == [("works_on", "Egret")], "what the rejection kept out counts"
    again = queue.waiting()
    assert again.keys() == waiting.keys()
    assert {str(was): str(now) for was, now in back.waiting.items()} == {waiting[s]: again[s] for s in waiting}
    assert queue.facts("Heron", decided) == [("leads", "Ada")]
    assert queue.waiting(asked) == waiting
    assert queue.waiting(decided) == {}
    [batch] = queue.read(reads.list_verdicts)["verdicts"]
    assert (batch["reverted"]["by"], batch["reverted"]["why"]) == ("person:Eve", "too fast")
    assert {v["subject"]: v["verdict"] for v in batch["verdicts"]} == {
        "Ada": "confirmed",
        "Bob": "rejected",
        "Cy": "confirmed",
    }
    assert queue.read(reads.list_verdicts, as_of=decided)["verdicts"][0]["reverted"] is None


def test_what_was_taken_back_is_decided_again(queue):
    queue.remember("Ada leads Heron.")
    first = queue.act(decide, [], [UUID(queue.waiting()["Ada leads Heron."])])
    queue.act(revert_batch, first.batch_id)
    second = queue.act(decide, [UUID(queue.waiting()["Ada leads Heron."])], [])
    assert queue.facts("Heron") == [("leads", "Ada")]
    with pytest.raises(Conflict, match="was reverted at seq"):
        queue.act(revert_batch, first.batch_id)
    queue.act(revert_batch, second.batch_id)
    assert queue.facts("Heron") is None
    assert len(queue.waiting()) == 1
    with pytest.raises(NotFound):
        queue.act(revert_batch, uuid4())


def test_all_or_none_and_each_proposal_that_cannot_be_decided_is_named(queue):
    queue.remember("Ada leads Heron.", "Bob works on Egret.", "Cy works on Ibis.")
    heron, egret, ibis = (UUID(i) for i in queue.waiting().values())
    queue.act(decide, [], [egret])
    unknown, before = uuid4(), queue.seq()
    with pytest.raises(Conflict, match="nothing was decided: 2 of 4 proposals cannot be") as error:
        queue.act(decide, [heron, unknown], [ibis, egret])
    assert {(e["pending_id"], e["error"]) for e in error.value.facts["errors"]} == {
        (str(unknown), "no proposal with that id"),
        (str(egret), "this proposal was rejected before"),
    }
    assert queue.seq() == before
    assert len(queue.waiting()) == 2
    with pytest.raises(InvalidInput, match="more than one verdict"):
        queue.act(decide, [heron], [heron])
    with pytest.raises(InvalidInput, match="no verdict"):
        queue.act(decide, [], [])
    with pytest.raises(InvalidInput, match=f"at most {MOST}"):
        queue.act(decide, [uuid4() for _ in range(MOST + 1)], [])


def test_a_triple_that_the_same_batch_refuses_cannot_be_confirmed(queue):
    queue.remember("Ada leads Heron.", "We know that Ada leads Heron.")
    ids = [UUID(i) for i in queue.waiting().values()]
    assert len(ids) == 2
    with pytest.raises(Conflict, match="this triple is refused"):
        queue.act(decide, ids[:1], ids[1:])


def test_a_fact_that_rests_on_others_too_stays(queue):
    push(queue.database, queue.kb_id, [PushItem("a", "a.md", b"Ada leads Heron.", None)], actor="t", via="cli")
    queue.remember("Ada leads Heron.")
    done = queue.act(decide, [UUID(queue.waiting()["Ada leads Heron."])], [])
    [both] = queue.rows(
        "select count(*) from evidence e join facts f using (kb_id, lineage_id) "
        "where f.predicate_key = 'leads' and e.invalidated_seq is null and f.invalidated_seq is null"
    )
    queue.act(revert_batch, done.batch_id)
    [one] = queue.rows(
        "select count(*) from evidence e join facts f using (kb_id, lineage_id) "
        "where f.predicate_key = 'leads' and e.invalidated_seq is null and f.invalidated_seq is null"
    )
    assert (both, one) == ((2,), (1,))
    assert queue.facts("Heron") == [("leads", "Ada")]


def test_a_rejection_withholds_what_a_document_says_and_its_revert_gives_it_back(queue):
    push(queue.database, queue.kb_id, [PushItem("a", "a.md", b"Ada leads Heron.", None)], actor="t", via="cli")
    queue.remember("Ada leads Heron.")
    assert queue.facts("Heron") == [("leads", "Ada")]
    done = queue.act(decide, [], [UUID(queue.waiting()["Ada leads Heron."])])
    assert queue.facts("Heron") == []
    push(queue.database, queue.kb_id, [PushItem("b", "b.md", b"Ada leads Heron.", None)], actor="t", via="cli")
    queue.run()
    assert queue.facts("Heron") == []
    queue.act(revert_batch, done.batch_id)
    assert queue.facts("Heron") == [("leads", "Ada")]


def test_a_name_that_another_confirmed_claim_of_the_passage_needs_stays(queue):
    queue.remember("Ada leads Heron. Ada works on Egret.")
    ids = {p["predicate_key"]: UUID(p["id"]) for p in queue.read(reads.list_pending)["pending"]}
    first, second = (queue.act(decide, [ids[predicate]], []) for predicate in ("leads", "works_on"))
    names = "select value_raw from facts where predicate_key = 'known_as' and invalidated_seq is null order by 1"
    assert queue.rows(names) == [("Ada",), ("Egret",), ("Heron",)]
    queue.act(revert_batch, first.batch_id)
    assert queue.rows(names) == [("Ada",), ("Egret",)]
    assert queue.facts("Ada") == [("works_on", "Egret")]
    queue.act(revert_batch, second.batch_id)
    assert queue.rows(names) == []


def test_what_was_not_asked_since_it_was_refused_is_asked_once_that_is_taken_back(queue):
    queue.remember("Ada leads Heron.")
    done = queue.act(decide, [], [UUID(queue.waiting()["Ada leads Heron."])])
    queue.remember("We know that Ada leads Heron.")
    assert queue.waiting() == {}
    queue.act(revert_batch, done.batch_id)
    assert queue.waiting().keys() == {"Ada leads Heron.", "We know that Ada leads Heron."}


def test_a_proposal_that_a_merge_kept_from_being_asked_is_asked_after_its_revert(queue):
    queue.say("Ann", "works_on", "Heron")
    queue.say("Bo", "works_on", "Egret")
    queue.act(reject_fact, queue.fact("Ann", "works_on")["id"], "no")
    merge_id = queue.join("Ann", "Bo")
    queue.remember("Bo works on Heron.")
    assert queue.waiting() == {}
    queue.act(revert_merge, merge_id)
    assert queue.waiting().keys() == {"Bo works on Heron."}


def test_the_revert_of_a_merge_does_not_ask_what_a_lifted_refusal_had_kept_from_being_asked(queue):
    queue.say("Ann", "works_on", "Heron")
    queue.say("Bo", "works_on", "Egret")
    refusal = queue.act(reject_fact, queue.fact("Ann", "works_on")["id"], "no")
    queue.remember("Ann works on Heron.")
    merge_id = queue.join("Ann", "Bo")
    queue.remember("Bo works on Heron.")
    queue.act(lift, refusal)
    assert queue.waiting() == {}
    queue.act(revert_merge, merge_id)
    assert queue.waiting().keys() == {"Bo works on Heron."}, "only what the merge had kept from being asked"


def test_a_sentence_that_was_deleted_since_is_not_asked_again(queue):
    queue.remember("Ada leads Heron.", "Bob works on Egret.")
    ids = {s: UUID(i) for s, i in queue.waiting().items()}
    done = queue.act(decide, list(ids.values()), [])
    [document] = queue.rows("select document_id from pending_facts where id = %s", ids["Ada leads Heron."])
    delete(queue.database, queue.kb_id, document_id=document[0], actor="t", via="cli")
    back = queue.act(revert_batch, done.batch_id)
    assert queue.waiting().keys() == {"Bob works on Egret."}
    assert back.waiting.keys() == {ids["Bob works on Egret."]}


def test_a_refusal_lifted_before_its_batch_is_taken_back_stays_lifted(queue):
    queue.remember("Ada leads Heron.")
    done = queue.act(decide, [], [UUID(queue.waiting()["Ada leads Heron."])])
    [refusal] = done.refusals.values()
    queue.act(lift, refusal)
    queue.act(revert_batch, done.batch_id)
    assert queue.read(reads.list_refusals)["total"] == 0
    assert queue.waiting().keys() == {"Ada leads Heron."}
