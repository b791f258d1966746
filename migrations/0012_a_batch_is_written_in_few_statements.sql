-- What sustained writing costs.
set local lock_timeout = '10s';
