"""One frozen settings class, the only reader of the environment.

Each entry point builds it once and passes it down. Every variable is named ``TWOCLOCKS_…``.
"""

from __future__ import annotations

import os
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from substrate.errors import InvalidInput


class Settings(BaseSettings):
    """What can be set from outside; the defaults run on a laptop with no key."""

    model_config = SettingsConfigDict(env_prefix="TWOCLOCKS_", frozen=True, extra="ignore")

    data_dir: Path = Path(".twoclocks")
    """Embedded database, blobs and the lexical index live here; all but the database can be rebuilt."""
    database_url: SecretStr | None = None
    """An external Postgres 16+ with pgvector. Unset: the embedded one is started."""
    admin_database_url: SecretStr | None = None
    """Used for migrations and vector indexes alone, where the application's own login may not make these."""
    dagster_database_url: SecretStr | None = None
    """Where Dagster keeps its tables; unset: a database ``twoclocks_dagster`` beside ours."""
    dagster_executor: str = "dagster:in_process_executor"
    """Where the steps of a run are worked off, ``module:name``; for a cluster ``dagster_k8s:k8s_job_executor``."""
    models_dir: Path = Path(".models")
    """What ``make models`` built: int8 ONNX graphs and vocabularies."""

    embedder: Literal["e5-small", "minilm", "openai"] = "e5-small"
    embedding_base_url: str | None = None
    embedding_model: str = "text-embedding-3-small"
    embedding_api_key: SecretStr | None = None
    previous_embedding_api_key: SecretStr | None = None
    """Of the endpoint that served before a change, as long as the new model has not read everything."""

    extractor: Literal["builtin", "openai"] = "builtin"
    chat_base_url: str | None = None
    chat_model: str = "gpt-4o-mini"
    chat_api_key: SecretStr | None = None
    chat_at_once: int = Field(default=8, ge=1, le=256)
    """Passages in flight to the chat endpoint, of all documents and bases of one process together."""
    chat_seconds_per_try: float = Field(default=120, gt=0, le=240)
    """How long one request to the chat endpoint may be silent; all tries of a passage share 240 s."""
    chat_tokens_per_day: int | None = Field(default=None, ge=0)
    """Tokens that each base may spend on extraction in a day, UTC; a base's own budget goes before. Unset: no limit."""
    chat_cost_per_day: Decimal | None = Field(default=None, ge=0)
    """The same in money, for which one of the two prices is needed."""
    chat_prompt_price: Decimal = Field(default=Decimal(0), ge=0)
    """Of a million tokens, in whatever currency the limits are meant."""
    chat_completion_price: Decimal = Field(default=Decimal(0), ge=0)

    numeric_dates: Literal["dmy", "mdy"] | None = None
    """How documents here write 03/04/2024. Unset: such a date counts only where its passage shows the order."""
    threads: int = Field(default=2, ge=1, le=64)
    """Threads for ONNX and other native code in one process."""
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=8420, ge=1, le=65535)
    public_url: str | None = Field(default=None, pattern=r"^https?://[A-Za-z0-9._:\[\]-]+/?$")
    """Where people and clients reach the API, ``https://host``; unset: what each request's Host says."""
    dagster_port: int = Field(default=8421, ge=1, le=65535)
    pool_size: int = Field(default=8, ge=1, le=200)
    """Database connections one process may hold; the API's thread pool has the same size."""

    calls_per_minute: int = Field(default=6000, ge=0)
    """Calls of one token, over all processes; a sixth of them may come at once. 0: no limit, as below."""
    calls_per_day: int = Field(default=0, ge=0)
    """The same for a day, UTC."""
    anonymous_calls_per_minute: int = Field(default=300, ge=0)
    """Calls from one address without a valid token; IPv6 counts by its /64."""
    anonymous_calls_per_day: int = Field(default=0, ge=0)
    provisions_per_minute: int = Field(default=12, ge=0)
    """Tokens for public bases that one address is given."""
    provisions_per_day: int = Field(default=50, ge=0)
    trusted_proxies: str = ""
    """Addresses or networks, with commas, whose X-Forwarded-For tells who calls; no other is believed."""
    slow_request_s: float = Field(default=20, gt=0)
    """Seconds within which the head of a request must be whole; its body has as many and a second for each 10 kB."""

    oidc_issuer: str | None = None
    """The identity provider at which people sign in, as it calls itself; unset: tokens of the command line alone."""
    oidc_client_id: str | None = None
    oidc_client_secret: SecretStr | None = None
    oidc_domains: str = ""
    """E-mail domains, with commas, whose people may sign in. Unset: people whom an admin added by their address."""

    credentials_key_file: Path | None = None
    """The keys that seal credentials, if not below the data directory: base64 of 32 bytes a line, the first seals."""
    credentials_key: SecretStr | None = None
    """The same keys in place of a file, with commas."""

    audit_reads: Literal["after", "before"] = "after"
    """Whether an answer waits until it is on record who was served what: ``before`` costs a commit for each read."""
    checkpoint_key_file: Path | None = None
    """The key that signs checkpoints, if not below the data directory: one key for all replicas of a base."""
    checkpoint_copies: str | None = None
    """Where each checkpoint is copied to, a directory or any URL that fsspec knows; no place that we can overwrite."""
    checkpoint_every_s: float = Field(default=60, ge=0)
    """Seconds between checkpoints that the API signs of bases that moved; 0 leaves them to Dagster."""

    @property
    def embedded_dir(self) -> Path:
        """Root of the embedded Postgres: data directory, socket, log."""
        return self.data_dir.resolve() / "postgres"

    @property
    def index_dir(self) -> Path:
        """One Tantivy directory per base lies below it."""
        return self.data_dir.resolve() / "index"

    @property
    def checkpoints_dir(self) -> Path:
        """Signed checkpoints, a directory per base; of use once a copy lies where nobody who reaches this can write."""
        return self.data_dir.resolve() / "checkpoints"

    @property
    def checkpoint_key(self) -> Path:
        """The Ed25519 key that signs them, made on first use; ``.pub`` beside it is for whoever verifies."""
        return (self.checkpoint_key_file or self.data_dir / "keys" / "checkpoints.pem").resolve()

    @property
    def oidc_allowed_domains(self) -> frozenset[str]:
        """The domains of ``oidc_domains``, in lower case."""
        return frozenset(d.strip().lower() for d in self.oidc_domains.split(",") if d.strip())

    @property
    def credentials_keys(self) -> Path:
        """The file of the keys that seal credentials; ``twoclocks credentials key`` makes it."""
        return (self.credentials_key_file or self.data_dir / "keys" / "credentials.keys").resolve()


def load_settings() -> Settings:
    """The settings of this process. Raises `InvalidInput` naming the variable that is wrong or unknown.

    ``TWOCLOCKS_TEST_…`` belongs to the tests and is let pass.
    """
    known = {f"TWOCLOCKS_{name.upper()}" for name in Settings.model_fields}
    given = {name.upper(): name for name in os.environ if name.upper().startswith("TWOCLOCKS_")}
    for name in sorted(set(given) - known):
        if not name.startswith("TWOCLOCKS_TEST_"):
            near = get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise InvalidInput(f"{given[name]}: there is no such setting{hint}", field=given[name])
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = f"TWOCLOCKS_{str(first['loc'][0]).upper()}"
        raise InvalidInput(f"{name}: {first['msg']}", field=name) from None


def native_thread_environment(threads: int) -> dict[str, str]:
    """Variables that keep BLAS and OpenMP from starting a spinning thread per core.

    Pass them to every child process; set them in one's own process before numpy is imported.
    """
    n = str(threads)
    return {
        "OMP_NUM_THREADS": n,
        "OPENBLAS_NUM_THREADS": n,
        "MKL_NUM_THREADS": n,
        "OMP_WAIT_POLICY": "PASSIVE",
        "TOKENIZERS_PARALLELISM": "false",
        "UNSTRUCTURED_DISABLE_NOTICE": "1",
        "DO_NOT_TRACK": "1",
    }


def tame_native_threads(threads: int) -> None:
    """Put `native_thread_environment` into this process without overriding what is already set."""
    for name, value in native_thread_environment(threads).items():
        os.environ.setdefault(name, value)


def child_environment(settings: Settings, **more: str) -> dict[str, str]:
    """This process's environment for a child, with calm native threads and the data in the same place.

    A child may run in another directory, so that relative paths are made absolute.
    """
    places = {
        "TWOCLOCKS_DATA_DIR": str(settings.data_dir.resolve()),
        "TWOCLOCKS_MODELS_DIR": str(settings.models_dir.resolve()),
        "TWOCLOCKS_CHECKPOINT_KEY_FILE": str(settings.checkpoint_key),
        "TWOCLOCKS_CREDENTIALS_KEY_FILE": str(settings.credentials_keys),
    }
    if settings.checkpoint_copies is not None and "://" not in settings.checkpoint_copies:
        places["TWOCLOCKS_CHECKPOINT_COPIES"] = str(Path(settings.checkpoint_copies).resolve())
    return {**native_thread_environment(settings.threads), **os.environ, **places, **more}
