-- Row-level security beneath the application's own checks, forced.
set local lock_timeout = '10s';
