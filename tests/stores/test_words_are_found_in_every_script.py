import unicodedata

import pytest

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.search_text import fold, subject
from tests.stores.samples import SPEC, chunk, question, rows, vector

TEXTS = {
    "zh.md": "即适者生存。我今天去医院检查身体健康状况，请在ERP审批系统里提交。数据库备份方案。",
    "ja.md": "東京都の美術館でバックアップを取る。",
    "ko.md": "회의록 정리",
    "ru.md": "красный проспект и Фёдор",
    "fr.md": "La crème brûlée et le résumé",
    "de.md": "München, Straße, Grüße. Häuser",
    "fold.md": "Ünïcödé ﬁne ＦＵＬＬ Ⅳ",
    "th.md": "สวัสดีครับ ประเทศไทย",
    "hi.md": "नमस्ते दुनिया",
    "en.md": 'They said "waldo" fits a 36" vanity. C++ & C# -x state-of-the-art O\'Brien 3.14',
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    paths = DataPaths(tmp_path_factory.mktemp("words"))
    chunks = [chunk(path, text) for path, text in TEXTS.items()]
    chunks.append(
        chunk(
            "named.md",
            "nothing",
            title="Zürich trip",
            aliases=("Helvetia",),
            heading_path=("Matterhorn",),
            tags=("alps/hike",),
        )
    )
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
        writer.optimise()
        writer.publish()
    return ChunkIndex.open(paths)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("适者生存", "zh.md"),
        ("健康", "zh.md"),
        ("ERP审批", "zh.md"),
        ("数据库", "zh.md"),
        ("備份 备份", "zh.md"),
        ("東京", "ja.md"),
        ("バックアップ", "ja.md"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "ja.md"),
        ("회의록", "ko.md"),
        (unicodedata.normalize("NFD", "회의록"), "ko.md"),
        ("КРАСНЫЙ", "ru.md"),
        ("Проспект", "ru.md"),
        ("федор", "ru.md"),
        ("resume", "fr.md"),
        ("CREME brulee", "fr.md"),
        (unicodedata.normalize("NFD", "crème"), "fr.md"),
        ("munchen", "de.md"),
        ("strasse", "de.md"),
        ("GRÜSSE", "de.md"),
        ("unicode", "fold.md"),
        ("full", "fold.md"),
        ("fine", "fold.md"),
        ("ประเทศไทย", "th.md"),
        ("दुनिया", "hi.md"),
        ('who is "waldo"?', "en.md"),
        ('36" vanity', "en.md"),
        ("state of the art", "en.md"),
        ("o'brien", "en.md"),
        ("zurich", "named.md"),
        ("helvetia", "named.md"),
        ("matterhorn", "named.md"),
        ("#alps", "named.md"),
    ],
)
def test_the_note_is_first(index: ChunkIndex, text: str, path: str) -> None:
    hits = index.text_leg(text, 5)
    assert hits
    assert hits[0].path == path
    assert hits[0].keyword is not None
    assert hits[0].keyword > 0


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "'",
        "",
        " ",
        "\0",
        "🙂",
        "{}",
        "[(",
        "a:b~^*?",
        "AND OR NOT",
        "+-",
        "C++ & C# -x",
        "\\",
        "\ud83d",
        "😀" * 500,
        "%_",
    ],
)
def test_no_text_is_a_fault(index: ChunkIndex, text: str) -> None:
    assert isinstance(index.text_leg(text, 5), list)
    assert isinstance(index.text_leg(text, 5, "source_file = 'en.md'", vector=vector("q")), list)


def test_operators_are_plain_words(index: ChunkIndex) -> None:
    for text in ("waldo AND nosuchword", "waldo -vanity", "nosuch:waldo", '"waldo nosuchword"', "waldo*", "(waldo"):
        assert [hit.path for hit in index.text_leg(text, 5)] == ["en.md"]


def test_a_pasted_page_is_answered(index: ChunkIndex) -> None:
    page = " ".join(f"word{i}" for i in range(20_000)) + " waldo"
    assert [hit.path for hit in index.text_leg(page, 5)] == ["en.md"]


def test_hits_carry_their_cosine_when_the_question_is_embedded(index: ChunkIndex) -> None:
    asked = vector(TEXTS["ru.md"])
    (hit,) = index.text_leg("красный", 5, vector=asked)
    assert hit.similarity == pytest.approx(1.0, abs=1e-5)
    dense = {hit.path: hit.similarity for hit in index.vector_leg(asked, 50)}
    assert index.text_leg("waldo", 5, vector=asked)[0].similarity == pytest.approx(dense["en.md"], abs=1e-5)
    assert index.text_leg("waldo", 5)[0].similarity is None


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        ("What was wrong with my wrist, and who found it out?", "wrong wrist, found"),
        ("What's Mia's shoe size?", "mia's shoe size?"),
        ("What did Will say in May?", "will may?"),
        ("Wann habe ich Frau Krüger getroffen?", "frau kruger getroffen?"),
        ("¿Qué dijo el doctor?", "dijo el doctor?"),
        ("Où est l'atelier d'Inès ?", "l'atelier d'ines"),
        ("who are you", "who are you"),
        ("我的密码是什么", "我的密码是什么"),
        ("I", "i"),
        ("", ""),
        ("a\0b", "b"),
        ("?! … --", ""),
        ("दुनिया कहाँ है", "दुनिया"),
    ],
)
def test_a_question_is_reduced_to_what_it_is_about(asked: str, searched: str) -> None:
    assert subject(asked) == searched


def test_folding_is_stable() -> None:
    for text in [*TEXTS.values(), "İstanbul ǅ ẞ ﷺ"]:
        assert fold(fold(text)) == fold(text)
