"""Targets as vectors: classes, label sets, hierarchies, numbers and rankings."""
