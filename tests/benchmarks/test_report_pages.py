"""The pages: everything that was measured is there, can be traced to its line, and needs nothing from elsewhere."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

import numpy as np
import pytest
from markdown_it import MarkdownIt

from benchmarks.report.__main__ import main
from benchmarks.report.bill import PAPER
from benchmarks.report.journal import Journal
from benchmarks.report.plan import QUICK, TABLE_1, Asked
from benchmarks.report.publish import publish
from benchmarks.report.records import encoded
from benchmarks.report.results import Results
from benchmarks.report.samples import write_sample
from benchmarks.report.sections import document
from benchmarks.report.subjects import SUBJECTS
from tests.benchmarks.measured import PLAN, doctored, good_lines, measured

ASKED = Asked(profile=QUICK, plan=PLAN, prices=PAPER, idle_s=60.0)
FIGURES = ("figure-1-bill", "figure-3-clients", "figure-4-memory", "figure-5-other-model", "roofline")


class Page(HTMLParser):
    """What a page refers to, and its identifiers."""

    def __init__(self, text):
        super().__init__()
        self.sources, self.ids, self.text = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.sources += [found[name] for name in ("src", "href", "xlink:href") if found.get(name)]
        self.ids += [found["id"]] if "id" in found else []

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The pages of good results, with a sample of one engine: the folder, the HTML and the Markdown."""
    root = tmp_path_factory.mktemp("report")
    sample = write_sample(root / "results" / "samples", "rtvoice", np.sin(np.arange(24_000) / 9).astype(np.float32))
    lines = doctored(
        "serve/rtvoice/0",
        measured=encoded(measured(next(cell for cell in PLAN if cell.name == "serve/rtvoice/0"))) | {"sample": sample},
    )
    publish(Results(lines), ASKED, root / "results", root / "docs" / "benchmarks.md")
    html = (root / "results" / "report.html").read_text("utf-8")
    return root, html, (root / "docs" / "benchmarks.md").read_text("utf-8")


def test_the_page_needs_nothing_beside_it(published):
    _, html, _ = published
    page = Page(html)
    assert all(source.startswith(("#", "data:")) for source in page.sources)
    assert "url(http" not in html
    assert "@import" not in html
    assert sum(source.startswith("data:audio/") for source in page.sources) == 1


def test_drawings_on_one_page_keep_their_names_apart(published):
    _, html, _ = published
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert {source[1:] for source in page.sources if source.startswith("#")} <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(page.ids)


def test_every_figure_is_drawn(published):
    root, html, markdown = published
    for name in FIGURES:
        ElementTree.parse(root / "results" / f"{name}.svg")  # noqa: S314 - ours
        assert f"(../results/{name}.svg)" in markdown
    assert html.count("<svg") == len(FIGURES)


def test_every_engine_and_doubt_is_on_both_pages(published):
    _, html, markdown = published
    text = Page(html).text
    for name in TABLE_1:
        assert SUBJECTS[name].label in text
        assert SUBJECTS[name].label in markdown
    for said in ("smaller model", "pocket-tts is not measured", "6 of the paper's 6 ratios are met", "A & B <C>"):
        assert said in text
        assert said.replace("<", "&lt;") in markdown


def test_a_doctored_result_is_flagged_on_the_page(tmp_path):
    lines = doctored("serve/pytorch-eager/0", measured=None, error="EngineFailed: <gone>")
    publish(Results(lines), ASKED, tmp_path, tmp_path / "benchmarks.md")
    assert "serve/pytorch-eager/0 failed: EngineFailed: <gone>" in Page((tmp_path / "report.html").read_text()).text


def test_figures_name_the_lines_they_come_from():
    lines = good_lines()
    table = next(block for block in document(Results(lines), ASKED).blocks if getattr(block, "strong", ()))
    assert [row[0].removesuffix(" (!)") for row in table.rows] == [SUBJECTS[name].label for name in TABLE_1]
    for name, row in zip(TABLE_1, table.rows, strict=True):
        named = {lines[int(number) - 1].cell for number in row[-1].split(", ")}
        expected = {cell.name for cell in PLAN if cell.subject == name and cell.kind in ("serve", "lifecycle")}
        assert named == expected


def test_markdown_tables_are_tables(published):
    _, _, markdown = published
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    assert sum(token.type == "table_open" for token in tokens) == 9
    assert not any("| ---" in token.content for token in tokens if token.type == "inline")


def test_of_nothing_there_is_a_report_that_says_so(tmp_path):
    publish(Results([]), ASKED, tmp_path, tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "not measured: serve/pytorch-eager/0" in text
    assert "Figure" not in text


def test_the_same_lines_make_the_same_report():
    assert document(Results(good_lines()), ASKED) == document(Results(good_lines()), ASKED)


@pytest.mark.parametrize("name", ["pytorch-eager", "openvino-sized", "piper", "rtvoice"])
def test_a_report_can_do_without_any_engine(name):
    lines = [line for line in good_lines() if line.subject != name]
    assert document(Results(lines), ASKED).pictures


def test_the_report_is_written_anew_without_measuring(tmp_path, capsys):
    journal = Journal(tmp_path / "quick.jsonl")
    for line in good_lines():
        journal.append(line)
    arguments = ["--quick", "--report-only", "--results", str(tmp_path), "--docs", str(tmp_path / "b.md")]
    assert main([*arguments, "--price-cpu", "1"]) == 0
    assert str(tmp_path / "report.html") in capsys.readouterr().out
    assert "Prices: 1 USD a CPU-second" in (tmp_path / "b.md").read_text()
