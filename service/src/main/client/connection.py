"""Connects to Dozo with the settings of its commands, and reads lists of several pages."""

import json
import os
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx

from .client import AuthenticatedClient
from .errors import UnexpectedStatus


def connect() -> AuthenticatedClient:
    """Returns a client of the service at DOZO_URL, with the token in DOZO_TOKEN or in the file DOZO_TOKEN_FILE. DOZO_CA_FILE: the
    authorities (PEM) to trust instead of the system's. Every 4xx and 5xx raises dozo_client.errors.UnexpectedStatus, and two minutes
    without a byte httpx.TimeoutException.
    """
    token = os.environ.get('DOZO_TOKEN') or ''
    if not token and os.environ.get('DOZO_TOKEN_FILE'):
        token = Path(os.environ['DOZO_TOKEN_FILE']).read_text()
    if len(token.split()) != 1:
        raise ValueError(f'expected one word, the token, in DOZO_TOKEN or in the file DOZO_TOKEN_FILE; found {len(token.split())} words')
    return AuthenticatedClient(
        base_url=os.environ.get('DOZO_URL') or 'http://127.0.0.1:8080',
        token=token.strip(),
        verify_ssl=ssl.create_default_context(cafile=os.environ.get('DOZO_CA_FILE') or None),
        timeout=httpx.Timeout(120),
        raise_on_unexpected_status=True,
    )


def detail(refused: UnexpectedStatus) -> str:
    """Returns why the service refused a request, in a sentence."""
    return json.loads(refused.content)['detail']


def items(operation: ModuleType, **arguments: Any) -> Iterator[Any]:
    """Yields the items of all pages of a list, such as items(run_list, client=client)."""
    page = operation.sync(**arguments)
    yield from page.items
    while page.next_:
        page = operation.sync(**arguments, after=page.next_)
        yield from page.items
