"""Results as one self-contained HTML page, or the same content as JSON or Markdown."""

from ramify.analysis import Results
from ramify.report.content import report_content
from ramify.report.write import write_report

__all__ = ["Results", "report_content", "write_report"]
