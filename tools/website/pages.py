"""The pages of the site, from the documents of the project."""

import json
import re
import shutil

_LINK = re.compile(r"\]\(([^()#\s]+)(#[^()\s]*)?\)")
_ITEM = re.compile(r"([-*]|1\.) ")
_AS_THEY_ARE = (".md", ".svg", ".png")
_LANGUAGES = {".cc": "cpp", ".h": "cpp", ".py": "python", ".sh": "bash"}
_MARK = "search/search.js"


def public_headers(root):
    """What BUILD files list as public_headers."""
    for build in sorted(root.glob("*/BUILD")) + sorted(root.glob("*/*/BUILD")):
        for listed in re.findall(r"public_headers = \[([^]]*)\]", build.read_text(encoding="utf-8")):
            yield from (build.parent / name for name in re.findall(r'"([^"]+)"', listed))


def title_of(document):
    return re.search(r"^# (.*)", document.read_text(encoding="utf-8"), re.M)[1].replace("`", "")


def documents(root):
    """The documents by which the project is described, the decisions among them."""
    return [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")] + sorted(root.glob("docs/**/*.md"))


def navigation(root):
    """The documents in the order of README.md's table, then the others but decisions; as JSON, which YAML includes."""
    table = (root / "README.md").read_text(encoding="utf-8").split("\n## Documents\n")[1]
    names = ["README.md"] + re.findall(r"\]\(([\w/.-]+\.md)\)", table)
    rest = [path.relative_to(root).as_posix() for path in documents(root)]
    names += [name for name in rest if not name.startswith("docs/decisions/")]
    rows = [{title_of(root / name): name} for name in dict.fromkeys(names)]
    rows.insert(2, {"Reference of the C++ and C interfaces": "api/index.html"})
    return json.dumps(rows)


def with_lists_apart(text):
    """A list may follow a paragraph at once for GitHub; for mkdocs a line must be between."""
    lines = []
    is_code = is_list = False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if not is_code and _ITEM.match(line):
            if lines and lines[-1] and not is_list:
                lines.append("")
            is_list = True
        # What is indented goes on with an item.
        is_list = is_list and (not line or line.startswith(" ") or bool(_ITEM.match(line)))
        lines.append(line)
    return "\n".join(lines) + "\n"


def is_shown(path):
    """Not how the folder is built, and no hidden file, which mkdocs leaves out."""
    return path.name != "BUILD" and not path.name.startswith(".")


def page_name_of(source, name):
    """The page of a file, or of a folder, of that name."""
    return f"{name}/README.md" if source.is_dir() else f"{name}.md"


def write_page_of(source, page):
    """A page that shows a file, or what is in a folder."""
    page.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        inner = [path for path in sorted(source.iterdir()) if is_shown(path)]
        listed = "\n".join(f"- [{path.name}]({page_name_of(path, path.name)})" for path in inner)
        page.write_text(f"# {source.name}\n\n{listed}\n", encoding="utf-8")
    else:
        text = source.read_text(encoding="utf-8")
        page.write_text(f"# {source.name}\n\n```{_LANGUAGES.get(source.suffix, 'text')}\n{text}```\n", encoding="utf-8")


def write_tree(root, tree):
    """The documents where they are in the project. What else they link to gets a page: NAME.md, or FOLDER/README.md."""
    shown = set()

    def rewritten(document):
        def link(match):
            target = (document.parent / match[1]).resolve()
            if "://" in match[1] or not target.exists() or target.suffix in _AS_THEY_ARE:
                return match[0]
            shown.add(target)
            return f"]({page_name_of(target, match[1].rstrip('/'))})"

        return with_lists_apart(_LINK.sub(link, document.read_text(encoding="utf-8")))

    for document in documents(root):
        copy = tree / document.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(rewritten(document), encoding="utf-8")
    for picture in root.glob("docs/**/*.svg"):
        (tree / picture.relative_to(root)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, tree / picture.relative_to(root))
    for source in sorted(shown):
        inner = source.rglob("*") if source.is_dir() else ()
        shown = shown | {path for path in inner if is_shown(path)}
    for source in sorted(shown):
        name = page_name_of(source, source.relative_to(root).as_posix())
        if not (tree / name).exists():
            write_page_of(source, tree / name)


def finish(site, parts):
    """The search as scripts; and without what only a server would use."""
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):
        (site / name).unlink()
    worker = next(site.glob("assets/javascripts/workers/search.*.js")).read_text(encoding="utf-8")
    search = (parts / "search.js").read_text(encoding="utf-8")
    (site / _MARK).write_text(f"const WORKER = {json.dumps(worker)};\n{search}", encoding="utf-8")
    index = site / "search/search_index.json"
    script = f"window.hycollSearchIndex({index.read_text(encoding='utf-8')});\n"
    index.with_suffix(".js").write_text(script, encoding="utf-8")
    index.unlink()


def is_site(directory):
    return (directory / _MARK).is_file()
