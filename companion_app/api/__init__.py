"""The HTTP API, under `/api`. Routes hold no logic; they call the desk and give its answers a shape."""

from companion_app.api.app import create_api

__all__ = ["create_api"]
