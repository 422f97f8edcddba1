"""Data sets x methods x splits x measures, run with resume and stored in SQLite."""

from ramify.study.store import StudyError
from ramify.study.study import Study
from ramify.study.study_files import available, data_files, data_folder, load_study_file

__all__ = ["Study", "StudyError", "available", "data_files", "data_folder", "load_study_file"]
