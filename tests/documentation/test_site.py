"""The site is built from the pages, and nothing in it leads nowhere."""

import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

import armdyn
from support.pages import PAGES
from support.paths import DOCS


class Links(HTMLParser):
    """What a page of the site refers to, and the places in it that can be referred to."""

    def __init__(self, html):
        super().__init__()
        self.to, self.places = [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        self.to += [names[key] for key in ("href", "src") if names.get(key)]
        self.places |= {names[key] for key in ("id", "name") if names.get(key)}


def built(tmp_path):
    """The files of the site; of its pages what they refer to."""
    folder = tmp_path
    words = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", DOCS, folder]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {
        path.relative_to(folder).as_posix(): Links(path.read_text(encoding="utf-8"))
        for path in folder.rglob("*.html")
    } | {
        path.relative_to(folder).as_posix(): None
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".html"
    }  # fmt: skip


@pytest.mark.slow
def test_the_site_is_whole(tmp_path):
    site = built(tmp_path)  # once, for it takes a while
    every_page_is_there_and_every_link_leads_somewhere(site)
    nothing_is_fetched_from_elsewhere(site)
    the_reference_has_every_public_name(site)


def every_page_is_there_and_every_link_leads_somewhere(site):
    assert {f"{name.removeprefix('docs/')}.html" for name in PAGES if name != "README"} <= {*site}
    wrong, checked = [], 0
    for name, links in site.items():
        for link in links.to if links else ():
            parts = urlsplit(link)
            if parts.scheme or link.startswith("data:"):
                continue
            checked += 1
            folder = name.rpartition("/")[0]
            path = _joined(folder, parts.path) if parts.path else name
            found = site.get(path, "nowhere")
            known = found is None or (
                found != "nowhere" and (not parts.fragment or parts.fragment in found.places)
            )
            wrong += [] if known else [(name, link)]
    assert checked > 1000
    assert wrong == []


def _joined(folder, path):
    parts = folder.split("/") if folder else []
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part not in (".", ""):
            parts.append(part)
    return "/".join(parts)


def nothing_is_fetched_from_elsewhere(site):
    outside = {
        link
        for name, links in site.items()
        for link in (links.to if links else ())
        if urlsplit(link).scheme in ("http", "https") and link.endswith((".js", ".css", ".woff2"))
    }
    assert outside == set()


def the_reference_has_every_public_name(site):
    pages = [site[page].places for page in site if page.startswith("api/")]
    names = [name for name in armdyn.__all__ if name not in ("simulation", "errors")]
    assert {name: sum(f"armdyn.{name}" in places for places in pages) for name in names} == (
        dict.fromkeys(names, 1)
    )
