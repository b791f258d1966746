"""A test that has never failed proves nothing: each fault of the list is sown into a copy, and the tests see it."""

from __future__ import annotations

import pytest

from tests.properties.seeded_faults import FAULTS, sow


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_seeded_fault_is_caught(postgres, tmp_path, capsys):
    verdicts = dict(sow(tmp_path / "tree", postgres))
    with capsys.disabled():
        print(f"\nfaults: seeded={len(verdicts)} caught={list(verdicts.values()).count('caught')}")
    assert len(verdicts) == len(FAULTS) >= 15
    assert {f.name: v for f, v in verdicts.items() if v != "caught"} == {}
