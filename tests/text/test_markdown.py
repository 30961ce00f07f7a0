"""Markdown: marks are not said, words are, and each keeps its place."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rtvoice.text.markup import MarkdownReader, Stretch
from rtvoice.text.segment import Segment
from tests.text.marking import left_of, parts_of
from tests.text.segmenting import texts

SAID = [
    # emphasis
    ("*one* **two** ***three*** _four_ __five__ ~~six~~", "one two three four five six"),
    ("un*believ*able and **un**believable", "unbelievable and unbelievable"),
    ("snake_case and __init__ and 2*3*4 and 2 * 3 and 5**2", "snake_case and init and 2*3*4 and 2 * 3 and 5**2"),
    ("**5**kg and *7*th", "5kg and 7th"),
    ("x*y*z but *x* y", "x*y*z but x y"),
    ("<details><summary>More</summary>Hidden</details>", "More, Hidden"),
    ("这是**重点**。", "这是重点。"),
    ("price* ~5 a ~ b", "price ~5 a ~ b"),
    ("Fill in ____ here.", "Fill in here."),
    ("**Bold one. Bold two.** Plain.", "Bold one. Bold two. Plain."),
    # links
    ('Read [the *guide*](https://x.example/g "Title") first.', "Read the guide first."),
    ("See [a][1], [b][], and ![a cat](cat.png).", "See a, b, and a cat."),
    ("[f(x)](https://en.example/F_(x)) and [x](</a b>)", "f(x) and x"),
    ("Go to <https://a.example/x_y> or <kim@a.example>.", "Go to https://a.example/x_y or kim@a.example."),
    ("Bare https://a.example/x_y*z and www.a.example/_b_.", "Bare https://a.example/x_y*z and www.a.example/_b_."),
    ("[1]: https://a.example\nText[^1] here.[2] End [sic].\n\n[^1]: A note.", "Text here. End [sic]. A note."),
    # code
    ("Run `make test` and ``a`b`` now.", "Run make test and ab now."),
    ("Stray ` tick.", "Stray tick."),
    ("`*a* [b](c)`", "*a* [b](c)"),
    # escapes and entities
    (r"\*not\* \# 1\. x", "*not* # 1. x"),
    ("a &amp; b &lt;c&gt; &#233; &nosuch; AT&T", "a & b <c> é &nosuch; AT&T"),
    # HTML
    ('<b>Bold</b> <span class="a">text</span><br/>next <!-- a. b --> end', "Bold text, next end"),
    ("Line one<br>line two<p>three", "Line one, line two, three"),
    ("Dear <your name>, vector<int> 5 < 6", "Dear your name, vector int 5 < 6"),
    # lines
    ("# One\n## Two ##\n### Three!\nText", "One. Two. Three! Text"),
    ("Title\n=====\nText\n\n---\n\nMore\n***\n", "Title Text More"),
    ("- a\n* b\n+ c\n• d\n- [ ] e\n- [x] f\n", "a. b. c. d. e. f."),
    ("1. a\n2) b!\n   a) c\n", "1, a. 2, b! a, c."),
    ("**1. Open**\n## 2. Close\n", "1, Open. 2, Close."),
    ("> quoted\n> > twice\n> - item\n", "quoted twice item."),
    ("| a | b |\n|:--|--:|\n| `1` | **2** |\n| x. |\n", "a, b. 1, 2. x."),
    ("**Label**\ntext", "Label. text"),
    ("two  \nlines\\\nmore", "two, lines, more"),
    ("- yes - no\n", "yes - no."),
    # formulas
    ("so $E = mc^2$ holds", "so E equals m c squared holds"),
    ("It is $5.00$ or *US$ 6* or $7", "It is $5.00$ or US$ 6 or $7"),
    ("- 1. a\n- **b** c\n", "1, a. b c."),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_said(text, said):
    assert left_of(text) == said


@pytest.mark.parametrize(("text", "said"), SAID)
def test_said_alike_when_marks_are_cut_between_deltas(text, said):
    assert left_of(text) == left_of(list(text))


def test_fenced_code_is_a_notice_or_nothing():
    text = "Run:\n```python\nprint('a. B')\n# c\n```\nDone."
    assert left_of(text) == "Run: Code block. Done."
    assert left_of(text, code="skip") == "Run: Done."
    assert left_of(text, language="de") == "Run: Codeblock. Done."
    assert left_of(text, language="sw") == "Run: Done."
    assert left_of("~~~\na ``` b\n~~~\nDone.") == "Code block. Done."
    assert left_of("````\n```\ninner\n```\n````\nDone.") == "Code block. Done."
    assert left_of("```\n" + "x = 1\n" * 500 + "```\nDone.") == "Code block. Done."
    assert left_of("```\nnever closed. Yes. No") == "Code block."


def test_a_notice_stands_for_the_line_that_opens_the_code():
    parts, rules = parts_of("Run:\n```python\nx\n```\n")
    notice = parts[1]
    assert isinstance(notice, Stretch)
    assert notice.text.text.strip() == "Code block."
    assert notice.text.origin(0, 11) == (5, 15)
    assert "fenced code" in rules


def test_comments_reach_over_segments():
    assert left_of("See <!-- " + "a long comment, with stops. " * 60 + "--> this.") == "See this."
    assert left_of("One <!-- two --> three <!-- four. Five") == "One three"
    assert left_of("```\n<!-- no comment\n```\nDone.") == "Code block. Done."


def test_block_marks_count_at_the_beginning_of_a_line_only():
    reader = MarkdownReader(language="en-us", control=False, code="notice")

    def said(text: str, begins_line: bool) -> str:
        (part,) = reader.read(Segment(text, 0, len(text)), begins_line=begins_line).parts
        assert isinstance(part, Stretch)
        return part.text.text

    assert said("# 5 is it", begins_line=False) == "# 5 is it"
    assert said("# 5 is it", begins_line=True) == "5 is it"
    assert said("so.\n- item", begins_line=False) == "so.\nitem"


def test_rules_are_named():
    _, rules = parts_of("# *A* [b](c) `d`\n- e\n> f\n\n| g |\n|---|\n\nh<br>&amp;[^1] $x^2$ <!-- i -->")
    assert set(rules) == {
        "heading",
        "emphasis",
        "link",
        "code span",
        "list item",
        "quotation",
        "table row",
        "rule or definition",
        "HTML tag",
        "entity",
        "footnote mark",
        "formula",
        "comment",
    }


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts())
def test_every_character_left_keeps_its_place(text):
    parts, _ = parts_of(text)
    before = 0
    for part in parts:
        if isinstance(part, Stretch):
            for at in range(len(part.text)):
                start, end = part.text.origin(at, at + 1)
                assert 0 <= start <= end <= len(text)
                if part.text.text[at].isalpha() and end == start + 1 and text[start] == part.text.text[at]:
                    assert start >= before  # what is copied keeps its order
                    before = start


INLINE = st.sampled_from(
    ["word", "other words", "*soft*", "**loud**", "_low_", "`code here`", "[label](http://x.example/y)", "plain, text"]
)
LINE = st.lists(INLINE, min_size=1, max_size=5).map(" ".join)
BLOCK = st.one_of(
    LINE.map(lambda line: f"{line}.\n\n"),
    LINE.map(lambda line: f"## {line}\n\n"),
    st.lists(LINE, min_size=1, max_size=3).map(lambda lines: "".join(f"- {line}\n" for line in lines) + "\n"),
    LINE.map(lambda line: f"> {line}\n\n"),
    st.just("---\n\n"),
    LINE.map(lambda line: f"```\n{line}\n```\n\n"),
    LINE.map(lambda line: f"<!-- {line} -->\n\n"),
    st.tuples(LINE, LINE).map(lambda cells: f"| {cells[0]} | {cells[1]} |\n|---|---|\n| a | b |\n\n"),
)


def words_by_commonmark(document: str) -> list[str]:
    """The words of a document's prose, as markdown-it reads it."""
    tokens = MarkdownIt("commonmark").enable("table").parse(document)
    said = [
        child.content
        for token in tokens
        if token.type == "inline"
        for child in token.children or ()
        if child.type in ("text", "code_inline")
    ]
    return re.findall(r"\w+", " ".join(said))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(BLOCK, min_size=1, max_size=6).map("".join))
def test_the_words_are_those_a_commonmark_parser_finds(document):
    assert re.findall(r"\w+", left_of(document, code="skip")) == words_by_commonmark(document)
