"""Draws ``docs/data-flow.svg``: the picture in the README."""

from __future__ import annotations

from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "docs" / "data-flow.svg"
BOXES = {
    "sources": (20, 90, "sources", "folder · push · remember"),
    "documents": (180, 90, "documents", "versions, both clocks"),
    "chunks": (340, 90, "document_chunks", "heading path, anchors"),
    "embeddings": (520, 20, "chunk_embeddings", "pgvector"),
    "lexical": (520, 90, "lexical_index", "Tantivy, CJK"),
    "claims": (520, 180, "claims", "quoted, no ontology"),
    "entities": (690, 180, "entities", "names → things"),
    "facts": (850, 180, "facts", "two clocks, evidence"),
    "search": (690, 55, "search", "fused, as of any moment"),
    "reads": (1010, 110, "reads", "MCP · REST · CLI"),
    "review": (690, 270, "review", "pending · refused"),
}
ARROWS = [
    ("sources", "documents"), ("documents", "chunks"), ("chunks", "embeddings"), ("chunks", "lexical"),
    ("chunks", "claims"), ("claims", "entities"), ("entities", "facts"), ("embeddings", "search"),
    ("lexical", "search"), ("search", "reads"), ("facts", "reads"), ("claims", "review"), ("review", "facts"),
]  # fmt: skip
WIDTH, HEIGHT = 140, 50


def main() -> None:
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1170 340" font-family="sans-serif">',
        '<defs><marker id="a" markerWidth="9" markerHeight="9" refX="8" refY="3" orient="auto">'
        '<path d="M0,0 L8,3 L0,6 z" fill="#555"/></marker></defs>',
        '<rect width="1170" height="340" fill="#fff"/>',
        '<rect x="505" y="165" width="500" height="170" rx="10" fill="#f3efe4" stroke="#c9bfa3"/>',
        '<text x="800" y="322" font-size="12" fill="#7a6f4f">one door: head lock, seq, chain</text>',
    ]
    parts += [_arrow(a, b) for a, b in ARROWS]
    parts += [_box(*box) for box in BOXES.values()]
    TARGET.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _box(x: int, y: int, title: str, below: str) -> str:
    middle = x + WIDTH // 2
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#e8f0f7" stroke="#54728c"/>'
        f'<text x="{middle}" y="{y + 21}" font-size="13" text-anchor="middle" fill="#1c2b38">{title}</text>'
        f'<text x="{middle}" y="{y + 38}" font-size="10" text-anchor="middle" fill="#4a5b69">{below}</text>'
    )


def _arrow(a: str, b: str) -> str:
    (ax, ay, *_), (bx, by, *_) = BOXES[a], BOXES[b]
    y1, y2 = ay + HEIGHT // 2, by + HEIGHT // 2
    return f'<line x1="{ax + WIDTH}" y1="{y1}" x2="{bx - 2}" y2="{y2}" stroke="#555" marker-end="url(#a)"/>'


if __name__ == "__main__":
    main()
