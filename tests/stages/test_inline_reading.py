"""Tags, links, block ids, tasks and headings in the text of a note."""

import pytest

from companion_assets.stages.markdown import note_title, resolve_links
from companion_assets.stores.link_resolver import LinkResolver

from .note_material import address, note_of


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#a/b/c #A/B/c #a/", ("a/b/c", "a")),
        ("#1984 #y1984 #日本/メモ #-", ("y1984", "日本/メモ", "-")),
        ("**#bold** ==#marked==, *#slanted*", ("bold", "marked", "slanted")),
        ("x#no (#no) \\#no &#35; /#no '#no", ()),
        ("#tag's #one#two #end.", ("tag", "one", "end")),
        ("#👨‍👩‍👧 #a\u200bb", ("👨‍👩‍👧", "a")),
        ("`#no` ``#no ` #no`` $#no$ $a #no$ $$ #no $$ <a b=' #no'> <!-- #no -->", ()),
        ("$5 and #yes and $6", ("yes",)),
        ("` #yes", ("yes",)),
        ("x <!-- #yes", ("yes",)),
        ("<!-- #no\n\n#no", ()),
        ("see <https://x.org/ #yes", ("yes",)),
        ("[a](<b #no> ' #no') [[x #no|y #no]] https://x.org/#no", ()),
        ("$$\n#no\n\n#no\n$$ #yes", ("yes",)),
        ("```\n#no\n```\n~~~\n#no\n~~~\n\n    #no\n\n#yes", ("yes",)),
        ("- a\n\n      #no\n\n  #yes", ("yes",)),
        ("> ```\n> #no\n> ```\n> #yes", ("yes",)),
        ("<div>\n#no\n</div>\n\n<b>#no #yes</b>", ("yes",)),
        ("[^1]: #yes", ("yes",)),
        ("```mermaid\n%% #no\n```\n%%\n#yes\n```\n#no\n```\n%%", ("yes",)),
        ("##no\n\n#yes", ("yes",)),
    ],
)
def test_what_is_a_tag_and_what_hides_one(text: str, tags: tuple[str, ...]) -> None:
    assert note_of(text).tags == tags


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[a#b#c]]", [("a#b#c", "a > b > c")]),
        ("[[a#^id|x]] [[#h]] [[#^id]]", [("a#^id", "x"), ("#h", "h"), ("#^id", "^id")]),
        ("[[a|b|c]] [[a\\|b]] [[ a | b ]]", [("a", "b|c"), ("a", "b"), ("a", "b")]),
        ("[[a]b]] [[[c]]] [[https://x.org]]", [("a]b", None), ("c", None), ("https://x.org", None)]),
        ("[[]] [[ ]] [[|x]] [[#]] [[a\n]] \\[[a]] `[[a]]` [a]", []),
        ("[x](a%20b.md#c%20d) [y](<a b.md> 'title')", [("a b.md#c d", "x"), ("a b.md", "y")]),
        ("[x](a_(b).md) [y](a\\)b.md)", [("a_(b).md", "x"), ("a)b.md", "y")]),
        ("[x](a%23b.md) [y](#h) [z](n.md#^id)", [("a#b.md", "x"), ("#h", "y"), ("n.md#^id", "z")]),
        ("[x](https://a.b/c.md) [y](mailto:a@b) [z](obsidian://open) [w](//h/x) [v](data:x) [u]() [t](a b.md)", []),
        ("[one `](no)` two](yes.md)", [("yes.md", "one `](no)` two")]),
        ("[![alt](pic.png)](note.md)", [("note.md", "![alt](pic.png)"), ("pic.png", "alt")]),
        ("[^1]: [[a]]\n\n[r]: b.md", [("a", None)]),
        ("<b>[[a]]</b> **[[b]]** ~~[c](d.md)~~", [("a", None), ("b", None), ("d.md", "c")]),
        ("| x | y |\n|---|---|\n| [[a\\|b]] | `[[no]]` |", [("a", "b")]),
    ],
)  # fmt: skip
def test_links_with_their_display(text: str, links: list[tuple[str, str | None]]) -> None:
    assert [(address(link), link.display) for link in note_of(text).links] == links


@pytest.mark.parametrize(
    ("text", "embed"),
    [
        ("![[a.png|300]]", ("a.png", "300", None)),
        ("![[a.png|alt|300x20]]", ("a.png", "300x20", "alt")),
        ("![[a.png|alt]]", ("a.png", None, "alt")),
        ("![alt|100](a.png)", ("a.png", "100", "alt")),
        ("![](a.png)", ("a.png", None, None)),
    ],
)
def test_embeds_with_size_and_display(text: str, embed: tuple[str, str | None, str | None]) -> None:
    (link,) = note_of(text).links
    assert (link.target, link.size, link.display) == embed
    assert link.embed


def test_lines_are_those_of_the_file() -> None:
    note = note_of("---\na: 1\n---\n# H\n\ntext\n[[a]] and\n[b](b.md)\n\n> - [ ] do [[c]]\n\n| t |\n|---|\n| [[d]] |\n")
    assert [(link.target, link.line) for link in note.links] == [("a", 7), ("b.md", 8), ("c", 10), ("d", 14)]
    assert [heading.line for heading in note.headings] == [4]
    assert [task.line for task in note.tasks] == [10]


def test_blocks_stand_at_the_end_of_a_line() -> None:
    text = (
        "# H ^h\n\np ^a1\nq ^b-2\n\n- i ^c\n\n^d\n\nno ^e_f, ^g x\n\n`^k`\n\n| t |\n|---|\n| x ^m |\n\n```\nx ^n\n```\n"
    )
    assert note_of(text).blocks == ("h", "a1", "b-2", "c", "d")


def test_headings_of_every_form() -> None:
    text = "# One #\n\nTwo\nlines\n---\n\n####### no\n\n#no\n\n> # no\n\n- # no\n\n```\n# no\n```\n\n#\tTab\n\n# \n"
    assert [(heading.level, heading.text) for heading in note_of(text).headings] == [
        (1, "One"),
        (2, "Two lines"),
        (1, "Tab"),
    ]


def test_tasks_of_every_form() -> None:
    tasks = "- [ ] a ^id\n* [x] b\n+ [-] c\n1. [>] d\n2) [?] e\n- [ ] \n"
    text = tasks + "- [ ]\n- [] no\n- [xx] no\n- [y](no)\n- [[n]] no\n[ ] no\n"
    expected = [(" ", "a"), ("x", "b"), ("-", "c"), (">", "d"), ("?", "e"), (" ", "")]
    assert [(task.mark, task.text) for task in note_of(text).tasks] == expected


def test_a_comment_hides_its_tasks_headings_and_text_but_not_its_links() -> None:
    note = note_of("%% note\n- [ ] hidden\n# Hidden\n[[Seen]] ^no\n%% shown [[Too]] #t\nnext %% gone\nalso %% kept")
    assert (note.tasks, note.headings, note.blocks) == ((), (), ())
    assert [link.target for link in note.links] == ["Seen", "Too"]
    assert note.tags == ("t",)
    assert note.index_lines == ("", "", "", "", "shown [[Too]] #t", "next ", " kept")


def test_a_comment_that_is_never_closed_hides_nothing() -> None:
    note = note_of("%% open\n\n- [ ] seen\n\n100 %% sure")
    assert note.index_lines == ("", "", "", "", "sure")
    assert note_of("%% open\n\n- [ ] seen").tasks[0].text == "seen"


@pytest.mark.parametrize(
    ("line", "searched"),
    [
        ("> [!tip]- Folded *title*", "> Folded *title*"),
        ("> > [!todo] x", "> > x"),
        ("text ^id1", "text"),
        ("^id1", ""),
        ("x <!-- y --> z `<!-- kept -->`", "x  z `<!-- kept -->`"),
        ("| a <!-- b --> |", "| a  |"),
        ("a ![pic](data:image/png;base64,AAAA+/=) b", "a pic b"),
        ('<img src="data:image/svg+xml;utf8,%3Csvg%3E' + "%20" * 30 + '"> and on', '<img src=""> and on'),
        ("key " + "QUJDabc9" * 20 + "== end", "key  end"),
        ("hash " + "0123456789abcdef" * 4, "hash " + "0123456789abcdef" * 4),
        ("word " + "Donaudampfschifffahrt" * 5, "word " + "Donaudampfschifffahrt" * 5),
        ("at /Users/Ann2/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s/t/u/v/w/x/y/z/Docs", None),
        ("- [ ] task **bold** [[link|shown]]", None),
        ("# Heading #tag", None),
    ],
)
def test_the_index_gets_what_a_reader_sees(line: str, searched: str | None) -> None:
    assert note_of(line).index_lines == (line if searched is None else searched,)


def test_drawing_data_stays_out_of_the_index_and_its_text_in() -> None:
    text = (
        "---\nexcalidraw-plugin: parsed\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠==\n# Text Elements\nKitchen ^a1\n"
        '# Drawing\n```json\n{"type":"excalidraw"}\n```\n'
    )
    assert [line for line in note_of(text).index_lines if line] == ["# Text Elements", "Kitchen", "# Drawing"]
    assert '{"type":"excalidraw"}' in note_of(text.replace("excalidraw-plugin", "other")).index_lines


def test_code_and_queries_stay_in_the_index_as_text() -> None:
    text = "```dataview\nTABLE x FROM #p ^k\n> [!no] callout\n```"
    assert "\n".join(note_of(text).index_lines) == text


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/b.c.md", "b.c"), ("B.MD", "B"), ("Cafe\u0301.md", "Café"), ("none", "none"), ("x/.md", ".md")],
)
def test_the_title_is_the_file_name(path: str, title: str) -> None:
    assert note_title(path) == title


def test_links_of_a_note_are_resolved_from_its_place() -> None:
    note = note_of("[[b]] [[#h]] ![[pic.png]] [[none]]", "x/a.md")
    resolved = resolve_links(note, LinkResolver(["x/a.md", "long/b.md", "x/b.md", "img/pic.png"]))
    assert [link.resolved for link in resolved.links] == ["x/b.md", "x/a.md", "img/pic.png", None]
