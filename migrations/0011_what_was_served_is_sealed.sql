-- Access events are sealed in batches, so that nobody can take one away unseen.
set local lock_timeout = '10s';
