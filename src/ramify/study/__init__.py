"""Data sets x methods x splits x measures, run with resume and stored in SQLite."""

from ramify.study.store import StudyError
from ramify.study.study import Study

__all__ = ["Study", "StudyError"]
