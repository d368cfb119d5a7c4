"""Redaction: recognize secrets in command lines and variables, and hide them before they are recorded.

Runs in the profiled program when a session starts, so it imports nothing heavy. docs/privacy.md describes
the rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

HIDDEN = "***"
VARIABLE = "PROFKIT_SECRETS"
"""Variable with more names to hide, separated by commas, such as `license*,-p`; or `off`."""
_OFF = "off"

_ANYWHERE = ("password", "passwd", "passphrase", "passcode", "secret", "credential", "apikey")
"""Strings that mark any name that contains them as secret, regardless of spelling."""
_WORDS = frozenset(
    ("token", "pwd", "pass", "auth", "authorization", "bearer", "cookie", "pat", "jwt", "otp", "dsn")
)
"""Words that mark a name as secret if they are separate words in it: `--hf-token`, not `--tokenizer`."""
_HARMLESS_KEYS = frozenset(
    ("sort", "primary", "foreign", "group", "partition", "order", "public", "cache", "row", "index", "by")
)
"""First words that make a name with the word `key` harmless."""
_HARMLESS = frozenset(("pwd", "oldpwd"))
"""Shell variables that contain folders."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_NAME = re.compile(r"[-+]*([A-Za-z_][\w.-]*)$")
_NAMED = re.compile(
    r"""(?P<name>(?<![\w.])[A-Za-z_][\w.-]{0,60})(?P<mark>["']?\s*(?:=|:(?!//))\s*)"""
    r"""(?P<value>"[^"]*"|'[^']*'|(?:bearer|basic)\s+[^\s"',;]+|[^\s"',;&|)}\]]+)""",
    re.IGNORECASE,
)
_PIECE = re.compile(r"[^\s'\"]+")
"""Part of a text that may be a URL."""
_KNOWN = re.compile(
    r"\b(?:gh[pousr]_|github_pat_|glpat-|hf_|sk-|xox[abeprs]-|pypi-|npm_|dop_v1_|AKIA|ASIA|AIza|eyJ)"
    r"[A-Za-z0-9_.\-]{12,}"
)
"""Tokens with the prefixes of known services."""


class SecretRule:
    """Rule for which names are secret: the built-in rule and the user's patterns."""

    def __init__(self, setting: str = "") -> None:
        patterns = [pattern.strip() for pattern in setting.split(",") if pattern.strip()]
        self.on = [pattern.lower() for pattern in patterns] != [_OFF]
        self._letters = tuple(p for p in patterns if re.fullmatch(r"-\w", p))
        self._patterns = tuple(p.lower().lstrip("-") for p in patterns if p not in self._letters)

    def is_secret(self, name: str) -> bool:
        """Return whether values of this name are hidden."""
        if not self.on:
            return False
        lower = name.lower()
        if any(fnmatchcase(lower, pattern) for pattern in self._patterns):
            return True
        if lower in _HARMLESS:
            return False
        words = [word.lower() for word in _WORD.findall(name)]
        joined = "".join(words)
        if any(part in joined for part in _ANYWHERE) or joined.endswith(("token", "pwd")):
            return True
        if not _WORDS.isdisjoint(words):
            return True
        return len(words) > 1 and "key" in words[1:] and words[0] not in _HARMLESS_KEYS

    def argv(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """Hide the secrets in a command line."""
        if not self.on:
            return tuple(arguments)
        shown: list[str] = []
        hides_next = False
        for argument in arguments:
            if hides_next and not _is_option(argument):
                shown.append(HIDDEN)
                hides_next = False
                continue
            shown.append(self._argument(argument))
            hides_next = self._takes_secret(argument)
        return tuple(shown)

    def variables(self, pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Hide the secrets in variables, given as (name, value)."""
        return tuple(
            (name, HIDDEN if value and self.is_secret(name) else self.text(value)) for name, value in pairs
        )

    def text(self, text: str) -> str:
        """Hide likely secrets in a text: passwords in URLs, `name=value`, known tokens."""
        if not self.on:
            return text
        text = _KNOWN.sub(HIDDEN, _PIECE.sub(_url, text) if "://" in text else text)
        return _NAMED.sub(self._named, text) if "=" in text or ":" in text else text

    def _argument(self, argument: str) -> str:
        letter = next((letter for letter in self._letters if argument.startswith(letter)), None)
        if letter is not None and len(argument) > 2 and not argument.startswith("--"):
            return letter + HIDDEN
        before, mark, _ = argument.partition("=")
        named = _NAME.match(before) if mark else None
        if named is not None and self.is_secret(named[1]):
            return f"{before}={HIDDEN}"
        return self.text(argument)

    def _takes_secret(self, argument: str) -> bool:
        if argument in self._letters:
            return True
        return _is_option(argument) and "=" not in argument and self.is_secret(argument.lstrip("-"))

    def _named(self, match: re.Match[str]) -> str:
        if not self.is_secret(match["name"]):
            return match[0]
        value = match["value"]
        quote = value[0] if value[0] in "\"'" else ""
        return f"{match['name']}{match['mark']}{quote}{HIDDEN}{quote}"


def secret_rule(environ: Mapping[str, str] = os.environ) -> SecretRule:
    """Return the rule that the environment configures."""
    return SecretRule(environ.get(VARIABLE, ""))


def without_secrets(text: str) -> str:
    """Hide likely secrets in a text."""
    return secret_rule().text(text)


def _is_option(argument: str) -> bool:
    return re.match(r"--?[A-Za-z]", argument) is not None


def _url(match: re.Match[str]) -> str:
    scheme, mark, rest = match[0].partition("://")
    user_info, at, host = rest.rpartition("@")
    user, colon, _ = user_info.partition(":")
    if not at or "/" in user:
        return match[0]
    if colon:
        return f"{scheme}{mark}{user}:{HIDDEN}@{host}"
    # With http and https the user may be a token, unlike in ssh://git@host.
    is_token = scheme.lower().endswith(("http", "https"))
    return f"{scheme}{mark}{HIDDEN}@{host}" if is_token else match[0]
