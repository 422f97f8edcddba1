"""Data sets x methods x splits x measures, run with resume and stored in SQLite."""

from ramify.study.backends import ClusterError
from ramify.study.files import available, data_folder, load_study_file
from ramify.study.store import StudyError
from ramify.study.study import Study

__all__ = ["ClusterError", "Study", "StudyError", "available", "data_folder", "load_study_file"]
