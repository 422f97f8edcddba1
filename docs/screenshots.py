"""Take the documentation's pictures of a report: `python docs/screenshots.py ramify-demo/report.html`."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

TARGET = Path(__file__).parent / "_static"
SHOTS = {
    "desktop": ({"viewport": {"width": 1180, "height": 760}}, "main"),
    "dark": ({"viewport": {"width": 1180, "height": 900}, "color_scheme": "dark"}, "#map"),
    "phone": ({"viewport": {"width": 390, "height": 780}, "is_mobile": True}, "main"),
}


def take(report: Path) -> None:
    """Write one picture per kind of screen."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (options, place) in SHOTS.items():
            page = browser.new_context(**options).new_page()
            page.goto(report.resolve().as_uri())
            if place == "#map":
                page.locator("#tree .chip").first.click()
                page.evaluate("document.getElementById('map').scrollIntoView()")
            page.screenshot(path=TARGET / f"report-{name}.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
