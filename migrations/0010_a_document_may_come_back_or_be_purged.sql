-- A deletion is an event with its list; it can be undone, or followed by a purge that leaves a tombstone.
set local lock_timeout = '10s';
