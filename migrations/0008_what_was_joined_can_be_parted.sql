-- Merges, types and verdicts can be taken back, and both clocks show it.
set local lock_timeout = '10s';
