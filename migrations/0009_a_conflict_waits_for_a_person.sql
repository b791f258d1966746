-- What two sources say against one another is a row that a person decides.
set local lock_timeout = '10s';
