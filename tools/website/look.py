"""Opens every page of a site in headless Chromium, as files.

usage: look.py SITE [PICTURES]

Fails on messages of the console, on pages wider than the window, and on tables, pictures and code that end outside of it
and do not scroll. Then it searches. With a folder PICTURES it keeps a picture of every page there.

exit status: 0; 1 if anything failed
"""

import base64
import itertools
import pathlib
import sys

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

WIDTHS = (420, 1280)
HEIGHT = 900
HIGHEST_PICTURE = 6000
SEARCHED = "allreduce"

# What is wider than the window, and neither scrolls by itself nor lies in anything that does.
_TOO_WIDE = """
const wide = [];
const limit = document.documentElement.clientWidth;
const scrolls = (element) => {
  for (let e = element; e && e !== document.body; e = e.parentElement) {
    const x = getComputedStyle(e).overflowX;
    if ((x === 'auto' || x === 'scroll') && e.getBoundingClientRect().right <= limit + 1) return true;
  }
  return false;
};
for (const e of document.querySelectorAll('table, img, pre')) {
  const box = e.getBoundingClientRect();
  if (box.width > 0 && box.right > limit + 1 && !scrolls(e)) {
    wide.push(`${e.tagName.toLowerCase()} '${e.innerText.trim().slice(0, 40)}' ends at ${Math.round(box.right)} pixels`);
  }
}
const width = document.scrollingElement.scrollWidth;
if (width > limit) wide.push(`the page is ${width} pixels wide`);
return wide;
"""


def browser():
    options = webdriver.ChromeOptions()
    # Without the sandbox, for root has none.
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def complaints(driver):
    """What is wrong with the page that is shown."""
    for entry in driver.get_log("browser"):
        yield f"console: {entry['message']}"
    yield from driver.execute_script(_TOO_WIDE)


def set_size(driver, width, height):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def keep_picture(driver, width, path):
    height = min(driver.execute_script("return document.scrollingElement.scrollHeight"), HIGHEST_PICTURE)
    clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    picture = driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(picture["data"]))


def search(driver, site):
    """What is wrong with the search of the documents."""
    driver.get((site / "index.html").as_uri())
    field = driver.find_element(By.CSS_SELECTOR, "[data-md-component=search-query]")
    driver.execute_script("arguments[0].focus()", field)
    field.send_keys(SEARCHED)
    try:
        WebDriverWait(driver, 20).until(
            lambda d: d.find_elements(By.CSS_SELECTOR, ".md-search-result__list a[href*='.html']")
        )
    except TimeoutException:
        yield f"index.html: the search finds no '{SEARCHED}'"
    for entry in driver.get_log("browser"):
        yield f"index.html: the search: console: {entry['message']}"


def main():
    site = pathlib.Path(sys.argv[1]).resolve()
    pictures = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    pages = sorted(site.rglob("*.html"))
    found = []
    driver = browser()
    try:
        # Loaded for each width: after a change of size, what is moved aside is on its way for a while.
        for width, page in itertools.product(WIDTHS, pages):
            name = page.relative_to(site).as_posix()
            set_size(driver, width, HEIGHT)
            driver.get(page.as_uri())
            found += [f"{name} at {width} pixels: {text}" for text in complaints(driver)]
            if pictures:
                keep_picture(driver, width, pictures / f"{name.replace('/', '_')}.{width}.png")
        found += search(driver, site)
    finally:
        driver.quit()
    print("\n".join(found + [f"{len(pages)} pages at {' and '.join(map(str, WIDTHS))} pixels, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
