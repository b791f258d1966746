"""Statements that a program pushes ready made: no reader and no model stands between, the ledger's rules do."""
