"""`aiohttp` and its `web`, for the modules that speak HTTP, or one line that names the extra that brings them."""

try:
    import aiohttp
    from aiohttp import web
except ModuleNotFoundError:
    raise ValueError("solvers: expected aiohttp, got no such package: pip install 'rotajax[solvers]'") from None

__all__ = ["aiohttp", "web"]
