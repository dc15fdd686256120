"""The FastAPI application: routes, guards and faults. The page is mounted on it by `companion_app.ui`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.middleware.cors import CORSMiddleware

from companion_app.api.faults import answer_faults
from companion_app.api.guards import BodyLimit, OnlyThisHost, ResponseHeaders
from companion_app.api.routes import router
from companion_app.desk import Desk


def create_api(desk: Desk) -> FastAPI:
    """The API over a desk; ending the server closes the desk."""

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        desk.warm()
        yield
        await run_in_threadpool(desk.close)

    # No interactive docs: their page loads scripts from a content delivery network.
    app = FastAPI(
        title=desk.companion.settings.companion.name,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.desk = desk
    answer_faults(app)
    app.include_router(router)
    api = desk.companion.settings.api
    # The last one added is the first one passed.
    app.add_middleware(CORSMiddleware, allow_origins=list(api.cors_origins), allow_methods=["*"], allow_headers=["*"])
    app.add_middleware(BodyLimit)
    app.add_middleware(OnlyThisHost, host=api.host, origins=api.cors_origins)
    app.add_middleware(ResponseHeaders)
    return app
