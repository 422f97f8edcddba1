"""Discoveries: which features drive which branches, at a stated error rate."""

from ramify.ranking.discovery.discover import discoveries
from ramify.ranking.discovery.result import Claim, Discoveries

__all__ = ["Claim", "Discoveries", "discoveries"]
