"""Sound statistics for comparing methods over data sets."""
