"""The page of `ramify app`: a server on this machine alone, whose runs are the commands of the command line."""

from ramify.app.server import serve

__all__ = ["serve"]
