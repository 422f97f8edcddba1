"""Discoveries: which features drive which branches, at a stated error rate."""

from ramify.ranking.discovery.auditing import Audit, audit
from ramify.ranking.discovery.discover import discoveries
from ramify.ranking.discovery.discovery_files import plain_discoveries
from ramify.ranking.discovery.outcome import WHOLE, Untestable
from ramify.ranking.discovery.result import Claim, Discoveries

__all__ = ["WHOLE", "Audit", "Claim", "Discoveries", "Untestable", "audit", "discoveries", "plain_discoveries"]
