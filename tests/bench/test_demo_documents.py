"""The demo's manifest, documents and questions agree; its binary documents are what the tool writes."""

from __future__ import annotations

import importlib.util

import docx
import pypdfium2
import pytest
import yaml

from bench.temporal.score import HERE, load, mentions, parse_question

ROOT = HERE.parents[1]
DEMO = ROOT / "demo"
MANIFEST = yaml.safe_load((DEMO / "demo.yaml").read_text(encoding="utf-8"))
QUESTIONS = [parse_question(raw) for raw in MANIFEST["questions"]]
SOURCES = {raw["id"]: raw["document"] for raw in MANIFEST["questions"]}


def file_text(path):
    if path.suffix == ".docx":
        document = docx.Document(str(path))
        cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
        return "\n".join([*(p.text for p in document.paragraphs), *cells])
    if path.suffix == ".pdf":
        with pypdfium2.PdfDocument(path) as pdf:
            return "\n".join(page.get_textpage().get_text_range() for page in pdf)
    return path.read_text(encoding="utf-8")


def arrivals():
    """filename -> (position of its wave, text), folder and push."""
    found = {}
    for position, wave in enumerate(MANIFEST["waves"]):
        for path in (DEMO / wave["folder"]).iterdir():
            found[path.name] = (position, file_text(path))
        for pushed in wave["push"]:
            found[pushed["filename"]] = (position, pushed["content"])
    return found


def test_every_answer_is_written_in_the_document_named_for_it_and_known_in_time():
    found, labels = arrivals(), [wave["label"] for wave in MANIFEST["waves"]]
    merged = {m["keep"]: m["merge"] for wave in MANIFEST["waves"] for m in wave["merge"]}
    for question in QUESTIONS:
        if question.expect is None:
            assert question.control is not None
            assert SOURCES[question.id] is None
            continue
        position, text = found[SOURCES[question.id]]
        assert all(mentions(text, wanted) for wanted in question.expect), question.id
        assert mentions(text, question.subject) or mentions(text, merged[question.subject]), question.id
        assert question.as_of is None or position <= labels.index(question.as_of), question.id


def test_two_beliefs_about_the_same_month_differ():
    now, then = QUESTIONS[:2]
    assert (now.subject, now.at, now.relation) == (then.subject, then.at, then.relation)
    assert (now.as_of, then.as_of) == (None, "wave-1")
    assert not set(now.expect) & set(then.expect)


def test_the_ontology_has_the_shape_of_the_bench_and_every_asked_relation():
    ontology = yaml.safe_load((DEMO / MANIFEST["ontology"]).read_text(encoding="utf-8"))
    shape = set(load().ontology["relations"][0])
    assert all(set(relation) == shape for relation in ontology["relations"])
    classes = {entry["key"] for entry in ontology["classes"]}
    ends = {relation[end] for relation in ontology["relations"] for end in ("domain", "range")}
    assert ends - {None} <= classes
    assert {q.relation for q in QUESTIONS} <= {relation["key"] for relation in ontology["relations"]}


def test_what_is_deleted_was_pushed_and_each_kind_of_file_is_there():
    pushed = {p["external_id"] for wave in MANIFEST["waves"] for p in wave["push"]}
    assert {name for wave in MANIFEST["waves"] for name in wave["delete"]} <= pushed
    kinds = {path.suffix for path in (DEMO / "documents").rglob("*.*")}
    assert kinds == {".md", ".txt", ".csv", ".docx", ".pdf", ".html"}


@pytest.mark.parametrize("name", ["wave-1/org-chart.docx", "wave-2/supply-agreement.pdf"])
def test_the_binary_documents_are_what_the_tool_writes(name, tmp_path):
    spec = importlib.util.spec_from_file_location("maker", ROOT / "tools" / "make_demo_documents.py")
    maker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    maker.write(tmp_path)
    assert file_text(tmp_path / name) == file_text(DEMO / "documents" / name)
    first = (tmp_path / name).read_bytes()
    maker.write(tmp_path)
    assert (tmp_path / name).read_bytes() == first
