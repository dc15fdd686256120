"""Faults as answers: always `{"error", "hint"}` with the right status, never a traceback."""

import logging

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from companion_app.passages import PassageMissing, PathRefused
from companion_app.syncs import SyncRunning
from companion_assets.contracts.errors import (
    BackendUnavailable,
    CompanionError,
    IndexMismatch,
    IndexMissing,
    StoreError,
    VaultError,
)

_log = logging.getLogger(__name__)

# The first kind that fits; the narrow ones stand first.
_STATUS: tuple[tuple[type[CompanionError], int], ...] = (
    (PathRefused, 400),
    (PassageMissing, 404),
    (SyncRunning, 409),
    (IndexMissing, 409),
    (IndexMismatch, 409),
    (VaultError, 409),
    (BackendUnavailable, 503),
    (StoreError, 500),
    (CompanionError, 400),
)


def answer_faults(app: FastAPI) -> None:
    """Give an app its handlers."""
    app.add_exception_handler(CompanionError, _known)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unknown)


async def _known(_request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, CompanionError)
    status = next(status for kind, status in _STATUS if isinstance(fault, kind))
    return JSONResponse({"error": fault.message, "hint": fault.hint}, status)


async def _invalid(_request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, RequestValidationError)
    faults = [f"{'.'.join(str(part) for part in each['loc'][1:]) or 'body'}: {each['msg']}" for each in fault.errors()]
    return JSONResponse({"error": "; ".join(faults), "hint": "see /api/openapi.json"}, 422)


async def _refused(_request: Request, fault: Exception) -> JSONResponse:
    assert isinstance(fault, HTTPException)
    return JSONResponse({"error": str(fault.detail), "hint": "see /api/openapi.json"}, fault.status_code, fault.headers)


async def _unknown(request: Request, fault: Exception) -> JSONResponse:
    _log.error("%s %s failed", request.method, request.url.path, exc_info=fault)
    return JSONResponse({"error": "a fault in Companion", "hint": "its log has the details"}, 500)
