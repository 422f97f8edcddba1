"""Results as one self-contained HTML page, or the same content as JSON or Markdown."""

from ramify.report.write import write_report

__all__ = ["write_report"]
