"""OpenID Connect, the code flow with PKCE: what is asked of the provider, and how its answer is judged."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from substrate.access.signin import Begun, Identity
from substrate.errors import Forbidden, NotFound, Unavailable
from substrate.settings import Settings

SECONDS = 10.0
"""How long the provider may take for one answer."""
LEEWAY_S = 60
"""How far apart the clocks of provider and server may be."""
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key of the provider's own; never a shared secret, and never none."""


class Provider:
    """The provider that is set; its addresses and keys are asked for anew with each sign-in."""

    def __init__(self, settings: Settings, redirect_uri: str) -> None:
        if settings.oidc_issuer is None or settings.oidc_client_id is None:
            raise NotFound("sign-in is not set up here; twoclocks token create makes a token", field="signin")
        self.issuer, self.client_id = settings.oidc_issuer, settings.oidc_client_id
        self._secret = settings.oidc_client_secret.get_secret_value() if settings.oidc_client_secret else None
        self._redirect_uri = redirect_uri

    def ask(self, next_path: str) -> tuple[str, str, Begun]:
        """Where the person goes to, the state that comes back, and what is to be kept for it."""
        begun = Begun(secrets.token_urlsafe(32), secrets.token_urlsafe(48), next_path)
        with self._client() as client:
            address, state = client.create_authorization_url(
                self._discovered()["authorization_endpoint"],
                state=secrets.token_urlsafe(32),
                code_verifier=begun.verifier,
                nonce=begun.nonce,
            )
        return address, state, begun

    def answer(self, code: str, begun: Begun) -> Identity:
        """Who signed in. Raises `Forbidden` saying what is wrong, `Unavailable` where the provider does not answer."""
        from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]
        from httpx import HTTPError

        found = self._discovered()
        try:
            with self._client() as client:
                token = client.fetch_token(
                    found["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=begun.verifier
                )
        except AuthlibBaseError as error:
            raise Forbidden(f"the provider refused the code: {error.error}", field="code") from error
        except HTTPError as error:
            raise Unavailable(f"the identity provider cannot be reached: {error}") from error
        keys = self._get(found["jwks_uri"])
        return judged(str(token.get("id_token", "")), keys, self.issuer, self.client_id, begun.nonce)

    def _client(self) -> Any:
        from authlib.integrations.httpx_client import OAuth2Client  # type: ignore[import-untyped]

        return OAuth2Client(
            self.client_id,
            self._secret,
            scope="openid email profile",
            redirect_uri=self._redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            timeout=SECONDS,
        )

    def _discovered(self) -> Mapping[str, Any]:
        found = self._get(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise Unavailable(f"the identity provider calls itself {found.get('issuer')!r}, not {self.issuer!r}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not is_safe(str(found.get(name, ""))):
                raise Unavailable(f"the identity provider's {name} is no https address")
        return found

    def _get(self, address: str) -> dict[str, Any]:
        import httpx

        if not is_safe(address):
            raise Unavailable("the identity provider needs an https address")
        try:
            answer = httpx.get(address, timeout=SECONDS).raise_for_status()
            found = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unavailable(f"the identity provider cannot be reached: {error}") from error
        if not isinstance(found, dict):
            raise Unavailable("the identity provider answered with something else than an object")
        return found


def is_safe(address: str) -> bool:
    """https, or this machine."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))


def judged(id_token: str, keys: dict[str, Any], issuer: str, client_id: str, nonce: str) -> Identity:
    """Who an ID token speaks of. Raises `Forbidden` unless every claim is as OpenID Connect Core 3.1.3.7 has it."""
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    registry = jwt.JWTClaimsRegistry(
        leeway=LEEWAY_S,
        iss={"essential": True, "value": issuer},
        aud={"essential": True, "value": client_id},
        nonce={"essential": True, "value": nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims = jwt.decode(id_token, KeySet.import_key_set(keys), algorithms=ALGORITHMS).claims  # type: ignore[arg-type]
        registry.validate(claims)
    except (JoseError, ValueError, KeyError) as error:
        raise Forbidden(f"the provider's token is not good: {type(error).__name__}", field="id_token") from error
    several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
    if (several or "azp" in claims) and claims.get("azp") != client_id:
        raise Forbidden("the provider's token is meant for another client", field="id_token")
    return _identity(claims, issuer)


def _identity(claims: Mapping[str, Any], issuer: str) -> Identity:
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email or claims.get("email_verified") not in (True, "true"):
        raise Forbidden("the provider has not verified an e-mail address of yours", field="email")
    name = str(claims.get("name") or "").strip() or email
    return Identity(issuer, str(claims["sub"]), email, name)
