"""The links of a site.

usage: links.py SITE

Names each link within the site whose file or anchor does not exist, and what a page would fetch from the network.

exit status: 0; 1 if there are any
"""

import dataclasses
import html.parser
import os
import pathlib
import sys
import urllib.parse

_ATTRIBUTES = {"a": ("href",), "link": ("href",), "area": ("href",), "img": ("src",), "script": ("src",), "iframe": ("src",)}


@dataclasses.dataclass
class Links:
    page_count: int = 0
    link_count: int = 0
    complaints: list = dataclasses.field(default_factory=list)


class Page(html.parser.HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        for name in _ATTRIBUTES.get(tag, ()):
            if attributes.get(name):
                self.links.append((tag, attributes[name]))


def complaint(tag, link, path, pages, site):
    """What is wrong with a link, or None."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        # A link may lead outside. What a page is made of must not.
        is_needed = tag != "a" and parts.scheme not in ("data", "javascript")
        return "comes from the network" if is_needed else None
    target = path
    if parts.path:
        inside = os.path.normpath(path.parent.relative_to(site) / urllib.parse.unquote(parts.path))
        target = site / inside
        if inside.startswith("..") or not target.is_file():
            return "no such file in the site"
    anchor = urllib.parse.unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return f"no anchor '{anchor}' there"
    return None


def broken(site):
    """Looks at all pages below the folder."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    found = Links(page_count=len(pages))
    for path, page in pages.items():
        found.link_count += len(page.links)
        for tag, link in dict.fromkeys(page.links):
            reason = complaint(tag, link, path, pages, site)
            if reason:
                found.complaints.append(f"{path.relative_to(site)}: {link}: {reason}")
    return found


def main():
    found = broken(pathlib.Path(sys.argv[1]))
    counts = f"{found.page_count} pages, {found.link_count} links, {len(found.complaints)} lead nowhere"
    print("\n".join(found.complaints + [counts]))
    return 1 if found.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
