"""Fitted estimators in one file of their own: a manifest and raw arrays, checked before anything is built."""

from ramify.models.container import ModelFileError
from ramify.models.model_files import load, save

__all__ = ["ModelFileError", "load", "save"]
