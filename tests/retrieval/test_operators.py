"""What a question says about the search itself; and what is only a sentence."""

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion_assets.contracts.searching import SearchFilters
from companion_assets.retrieval.operators import read_operators
from companion_assets.stores.note_graph import NoteGraph
from tests.retrieval.graphs import graph_of
from tests.stores.samples import note

TODAY = dt.date(2026, 11, 30)
TAGS = ("work", "arbeit", "trabajo", "仕事", "工作", "Project/Alpha")
PATHS = ("Journal/2026/a.md", "Trips/Lisbon.md", "Projekte/Haus/x.md", "日记/a.md", "仕事/b.md", "Meine Reisen/c.md")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> NoteGraph:
    return graph_of(tmp_path_factory.mktemp("operators"), *(note(path, tags=TAGS) for path in PATHS))


PHRASES = [
    ('What about "red wine"?', ("red wine",)),
    ("“one” „zwei“ „drei” «quatre» »fünf« 「六」『七』", ("one", "zwei", "drei", "quatre", "fünf", "六", "七")),
    ('他说"你好"了吗', ("你好",)),
    ('a lone " quote', ()),
    ('5" pipe and a 3" pipe', ()),
    ('nothing in "" and " "', ()),
    ('what made me feel "sore and happy."', ("sore and happy",)),
    ("the dog's and the cats' home", ()),
]


@pytest.mark.parametrize(("question", "phrases"), PHRASES, ids=[question for question, _ in PHRASES])
def test_quoted_phrases(graph: NoteGraph, question: str, phrases: tuple[str, ...]) -> None:
    read = read_operators(question, graph, TODAY)
    assert read.phrases == phrases
    assert read.subject == question, "quotes stay"
    assert [question[start + 1 : end - 1].strip(" .") for start, end in read.quoted] == list(phrases)


MENTIONS = [
    ("What about #work and #nothing?", ("work",), ()),
    ("#project/alpha next", ("project/alpha",), ()),
    ("#Project in C# and issue #12", ("Project",), ()),
    ("notes tagged work", ("work",), ()),
    ("notes with the tag #work", ("work",), ()),
    ("mit dem Schlagwort Arbeit", ("Arbeit",), ()),
    ("price tags and a tag line", (), ()),
    ('he wrote "#work in folder Trips"', (), ()),
    ("in my Journal folder about Anna", (), ("Journal",)),
    ("in the folder trips", (), ("Trips",)),
    ("in the folder called Trips", (), ("Trips",)),
    ('in folder "Meine Reisen" and more', (), ("Meine Reisen",)),
    ("in folder Meine Reisen", (), ("Meine Reisen",)),
    ("in meinem Ordner Projekte", (), ("Projekte",)),
    ("im Projekte-Ordner", (), ("Projekte",)),
    ("en la carpeta Trips", (), ("Trips",)),
    ("dans le dossier Trips", (), ("Trips",)),
    ("nella cartella Trips", (), ("Trips",)),
    ("na pasta Trips", (), ("Trips",)),
    ("在日记文件夹里", (), ("日记",)),
    ("仕事フォルダで会議", (), ("仕事",)),
    ("in folder Journal/2026 about Anna", (), ("Journal/2026",)),
    ("anything in my Journal about Anna", (), ("Journal",)),
    ("was steht in Projekte/Haus?", (), ("Projekte/Haus",)),
    ("在日记里找李梅", (), ("日记",)),
    ("在日记本上", (), ()),
    ("the folder with tax papers", (), ()),
    ("my trips in my journal", (), ()),
]


@pytest.mark.parametrize(("question", "tags", "folders"), MENTIONS, ids=[question for question, _, _ in MENTIONS])
def test_tags_and_folders_are_mentioned(
    graph: NoteGraph, question: str, tags: tuple[str, ...], folders: tuple[str, ...]
) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.tags, read.folders, read.filters, read.subject) == (tags, folders, SearchFilters(), question)


DEMANDS = [
    ("tag:work plans", SearchFilters(tags=("work",)), "plans"),
    ("tag:#work tag:x/y plans", SearchFilters(tags=("work", "x/y")), "plans"),
    ("in:Journal wine", SearchFilters(folder="Journal"), "wine"),
    ("wine in:journal/2026", SearchFilters(folder="Journal/2026"), "wine"),
    ('in:"Meine Reisen" Wein', SearchFilters(folder="Meine Reisen"), "Wein"),
    ("folder:Journal/** wine", SearchFilters(folder="Journal/**"), "wine"),
    ("after:2024-01-05 wine", SearchFilters(after=dt.date(2024, 1, 5)), "wine"),
    (
        "wine after:2023 before:2024-02",
        SearchFilters(after=dt.date(2023, 1, 1), before=dt.date(2024, 2, 29)),
        "wine",
    ),
    ("What did I write only in #work?", SearchFilters(tags=("work",)), "What did I write?"),
    ("only in my notes tagged work: the plan", SearchFilters(tags=("work",)), "the plan"),
    ("only in Journal: what about Anna", SearchFilters(folder="Journal"), "what about Anna"),
    ("What happened only in my journal folder last week?", SearchFilters(folder="Journal"), "What happened last week?"),
    ("Was habe ich nur in #arbeit geschrieben?", SearchFilters(tags=("arbeit",)), "Was habe ich geschrieben?"),
    ("nur im Ordner Projekte, Haus", SearchFilters(folder="Projekte"), "Haus"),
    ("Haus, nur im Projekte-Ordner", SearchFilters(folder="Projekte"), "Haus"),
    ("¿Qué comí? solo en #trabajo", SearchFilters(tags=("trabajo",)), "¿Qué comí?"),
    ("uniquement dans le dossier Trips : le vin", SearchFilters(folder="Trips"), "le vin"),
    ("soltanto nella cartella Trips il vino", SearchFilters(folder="Trips"), "il vino"),
    ("apenas na pasta Trips o vinho", SearchFilters(folder="Trips"), "o vinho"),
    ("只在#工作里找会议", SearchFilters(tags=("工作",)), "找会议"),
    ("只在日记里找李梅", SearchFilters(folder="日记"), "找李梅"),
    ("仕事フォルダだけで会議を探して", SearchFilters(folder="仕事"), "会議を探して"),
    ("#仕事だけで会議", SearchFilters(tags=("仕事",)), "会議"),
]


@pytest.mark.parametrize(("question", "filters", "subject"), DEMANDS, ids=[question for question, _, _ in DEMANDS])
def test_clear_words_demand(graph: NoteGraph, question: str, filters: SearchFilters, subject: str) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.filters, read.subject) == (filters, subject)


@pytest.mark.parametrize(
    "question",
    [
        "not only in #work but everywhere",
        "I was only in Lisbon in March",
        "am I happy only on trips",
        "in:Nowhere wine",
        "in: tag: after: before:",
        "after:soon before:2024-13 after:0000",
        "after: 2024-01-01",
        "https://example.org/in:Journal",
        'the words "tag:work only in #work"',
        "Was I the only one in the folder?",
        "nicht nur im Ordner Projekte",
    ],
)
def test_other_words_do_not(graph: NoteGraph, question: str) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.filters, read.subject) == (SearchFilters(), question)


WITHOUT = [
    ("dinner -wine -#work", ("wine", "#work"), "dinner"),
    ('dinner in May? -"red wine"', ("red wine",), "dinner in May?"),
    ("trips not in Lisbon", ("Lisbon",), "trips"),
    ("Which trips, not in New York, did I enjoy?", ("New York",), "Which trips, did I enjoy?"),
    ("restaurants but not in Lisbon or Porto", ("Lisbon", "Porto"), "restaurants"),
    ("notes on wine, not #work", ("#work",), "notes on wine"),
    ("tea, not coffee?", ("coffee",), "tea?"),
    ('notes not about "red wine"', ("red wine",), "notes"),
    ("everyone except Anna and Tom at dinner", ("Anna", "Tom"), "everyone at dinner"),
    ("who came other than [[Anna Meyer]]?", ("Anna Meyer",), "who came?"),
    ("wine other than red wine in March", ("red wine",), "wine in March"),
    ("Which recipes without meat did I try?", ("meat",), "Which recipes did I try?"),
    ("find notes without mentioning Anna", ("Anna",), "find notes"),
    ("Wer außer Anna war da?", ("Anna",), "Wer war da?"),
    ("alle Reisen, aber nicht nach Lissabon", ("Lissabon",), "alle Reisen"),
    ("todos los viajes, pero no en Lisboa", ("Lisboa",), "todos los viajes"),
    ("todos excepto Ana", ("Ana",), "todos"),
    ("les voyages, mais pas à Lisbonne", ("Lisbonne",), "les voyages"),
    ("tous les voyages sauf Lisbonne", ("Lisbonne",), "tous les voyages"),
    ("tutti i viaggi tranne Lisbona", ("Lisbona",), "tutti i viaggi"),
    ("todas as viagens exceto Lisboa", ("Lisboa",), "todas as viagens"),
    ("除了李梅以外谁来了？", ("李梅",), "谁来了？"),
    ("不包括葡萄酒的晚餐", ("葡萄酒",), "晚餐"),
    ("リスボン以外の旅行", ("リスボン",), "旅行"),
]


@pytest.mark.parametrize(("question", "without", "subject"), WITHOUT, ids=[question for question, _, _ in WITHOUT])
def test_what_is_not_wanted(graph: NoteGraph, question: str, without: tuple[str, ...], subject: str) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.without, read.subject, read.phrases) == (without, subject, ())
    assert read.silent, "no names are looked for there"


@pytest.mark.parametrize(
    "question",
    [
        "Why did I not go to Lisbon?",
        "Why was I not in Lisbon?",
        "Why was Anna not in Lisbon?",
        "why didn't I call, or not at all",
        "I wanted to, but not yet",
        "not sure what I did",
        "a week without coffee",
        "How did I sleep without the fan?",
        "Warum war ich nicht in Berlin?",
        "eine Woche ohne Kaffee",
        "¿Por qué no fui a Lisboa?",
        "sin embargo fui",
        "Pourquoi ne suis-je pas allé à Lisbonne ?",
        "除了李梅还有谁来了",
        "what does tar -xzf do?",
        "Vor- und -nachteile",
        "- a list\n- of things",
        "well-known e-mail -5 degrees",
        "exceptional notes",
        'he said "trips not in Lisbon"',
        "what is the exception, except that it rained",
    ],
)
def test_a_negation_of_the_verb_excludes_nothing(graph: NoteGraph, question: str) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.without, read.subject) == ((), question)


ORDERS = {
    "newest": [
        "When did I last see Anna?", "When did Yin Hao last call?", "the last time in Lisbon", "my latest blood test",
        "most recent run", "my last entry", "Wann war ich zuletzt in Lissabon?", "das letzte Mal in Porto",
        "der neueste Eintrag", "¿Cuándo fue la última vez?", "la dernière fois à Paris", "ultima volta a Roma",
        "a última vez em Lisboa", "上次见到李梅是什么时候", "最后一次去台北", "最後に会ったのはいつ",
        "마지막으로 언제 만났어",
    ],
    "oldest": [
        "the first time I met Tom", "When did I first meet Tom?", "the earliest note on wine", "my oldest entry",
        "das erste Mal in Porto", "la primera vez", "la première fois", "la prima volta", "a primeira vez",
        "第一次去台北", "初めて会ったのはいつ",
    ],
    "": [
        "What did I do last week?", "last March", "letzte Woche", "la semaine dernière", "la semana pasada", "上周",
        "What is her last name?", "at last", "What did I do first?", "first aid", "the first chapter", "my oldest son",
        'the phrase "last time"', "the first and the last time", "the last day of May", "first of May", "",
    ],
}  # fmt: skip
ORDERED = [(question, order) for order, questions in ORDERS.items() for question in questions]


@pytest.mark.parametrize(("question", "order"), ORDERED, ids=[question for question, _ in ORDERED])
def test_the_order_is_asked_for(graph: NoteGraph, question: str, order: str) -> None:
    assert read_operators(question, graph, TODAY).order == order


def test_lately_is_a_weaker_word(graph: NoteGraph) -> None:
    read = [
        read_operators(question, graph, TODAY) for question in ("What have I read lately?", "最近读了什么", "in May")
    ]
    assert [(one.order, one.lately) for one in read] == [("", True), ("", True), ("", False)]


PARTS = (
    "\0",
    "'",
    '"',
    "-",
    "only in ",
    "except ",
    "not in ",
    "#",
    "in:",
    ", not ",
    "which a ",
    "[[",
    "除了",
    "a, ",
    "didn't ",
)
HOSTILE = [part * (8000 // len(part)) for part in PARTS]


@pytest.mark.parametrize("question", HOSTILE, ids=range(len(HOSTILE)))
def test_long_nonsense_is_read(graph: NoteGraph, question: str) -> None:
    assert read_operators(question, graph, TODAY).subject


@settings(max_examples=200, deadline=None)
@given(
    question=st.lists(
        st.sampled_from(
            ["only", "in", "#work", "Journal", "folder", '"', "“", "not", ",", "-x", "tag:", "except", "Lisbon", "除了",
             "以外", "只在", "日记", "だけ", "without", "\0", "\ud800", "after:2024", "?", "[[", "]]", "the"]
        ), max_size=12,
    )
)  # fmt: skip
def test_any_mixture_is_read(graph: NoteGraph, question: list[str]) -> None:
    for glue in (" ", ""):
        text = glue.join(question)
        read = read_operators(text, graph, TODAY)
        assert bool(read.subject) == bool(text)
        assert all(0 <= start < end <= len(text) for start, end in (*read.quoted, *read.silent))
        assert all(what in text for what in (*read.phrases, *read.tags, *read.without))


EXCLUDED_DAYS = [
    ("dinners except in May", "dinners"),
    ("dinners except those in May and June", "dinners"),
    ("dinners except in May, June and July with Anna", "dinners with Anna"),
    ("everything except 3 May", "everything"),
    ("dinners except March 2024", "dinners"),
    ("dinners not in March", "dinners"),
    ("dinners in April, but not in March 2024", "dinners in April"),
    ("Abendessen außer im Mai", "Abendessen"),
    ("cenas excepto en mayo", "cenas"),
    ("dîners sauf en mai", "dîners"),
]


@pytest.mark.parametrize(("question", "subject"), EXCLUDED_DAYS)
def test_days_that_are_not_wanted_are_neither_asked_for_nor_words_to_keep_away(
    graph: NoteGraph, question: str, subject: str
) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.subject, read.without) == (subject, ())
    assert read.silent


@pytest.mark.parametrize(
    "question", ["Was I not in Lisbon in March?", "Why did I not go in March?", 'he said "except in May" in June']
)
def test_days_behind_other_negations_are_asked_for(graph: NoteGraph, question: str) -> None:
    read = read_operators(question, graph, TODAY)
    assert (read.subject, read.silent) == (question, ())


def test_operators_at_the_end_of_a_sentence_may_be_quoted(graph: NoteGraph) -> None:
    question = 'why does one two three four five six seven -"a b" -cd?'
    assert read_operators(question, graph, TODAY).without == ("a b", "cd")


def test_many_exclusions_of_a_pasted_text(graph: NoteGraph) -> None:
    read = read_operators("one " + " ".join(f"-ab{number}" for number in range(2000)), graph, TODAY)
    assert read.without[:2] == ("ab0", "ab1")
    assert len(read.without) < 100
