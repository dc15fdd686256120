"""A note is found by other forms of its words, in whatever language it is written."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from companion_assets.contracts.paths import DataPaths
from companion_assets.stores import index as index_module
from companion_assets.stores import terms as terms_module
from companion_assets.stores.folding import fold
from companion_assets.stores.index import ChunkIndex
from companion_assets.stores.index_writer import open_writer
from companion_assets.stores.languages import language_of
from companion_assets.stores.name_keys import name_key
from companion_assets.stores.predicates import containing
from companion_assets.stores.search_text import as_phrase, asked, indexed
from companion_assets.stores.stems import stem
from companion_assets.stores.terms import words
from tests.stores.samples import SPEC, chunk, question, rows

# Language → what a note says, and a question in other words or forms.
NOTES = {
    "german": ("Heute habe ich drei Häuser in der Vorstadt besichtigt.", "In welcher Vorstadt war das Haus?"),
    "spanish": ("Lucía canta en el coro; las canciones son gallegas.", "¿Qué canción gallega cantó Lucía?"),
    "french": (
        "Nous avons visité deux châteaux au bord de la rivière.",
        "Quel chateau a-t-on visité près des rivières ?",
    ),
    "portuguese": (
        "Comprei dois relógios antigos na feira e não funcionam.",
        "Qual relógio antigo comprei nas feiras?",
    ),
    "italian": ("Abbiamo comprato quattro sedie di legno al mercato.", "Dove ho preso la sedia, in quali mercati?"),
    "dutch": ("Wij hebben twee nieuwe fietsen gekocht bij de winkel.", "Waar heb ik de nieuwe fiets gekocht?"),
    "swedish": ("Farmor berättade om båtarna som hon seglade med.", "Vilken båt seglade farmor?"),
    "danish": ("Vi købte to røde cykler og kørte ud til søen.", "Hvornår købte jeg den røde cykel?"),
    "finnish": ("Lääkäri sanoi että polvi tarvitsee lepoa neljä viikkoa.", "Kuinka monta viikkoa polven pitää levätä?"),
    "polish": ("Babcia upiekła szarlotkę z jabłkami z ogrodu.", "Z jakich jabłek babcia piekła szarlotki?"),
    "czech": ("Babička upekla koláč ze švestek ze zahrady.", "Z jaké švestky byly koláče babičky?"),
    "hungarian": (
        "Tegnap az orvos felírt egy gyógyszert, és nem volt drága.",
        "Milyen gyógyszereket írt fel az orvosom?",
    ),
    "romanian": ("Medicul mi-a prescris pastile pentru alergie.", "Ce pastilă au prescris medicii?"),
    "turkish": ("Dün İstanbul'da iki eski kitapçıya gittik.", "ISTANBUL'DAKİ kitapçıların adı ne?"),
    "russian": ("Вчера мы с Леной купили красные велосипеды.", "Какой красный велосипед я купил?"),
    "greek": ("Χθες αγοράσαμε δύο κόκκινα ποδήλατα στη λίμνη.", "Ποιο κόκκινο ποδήλατο αγόρασα;"),
    "arabic": ("ذهبتُ اليوم مع أختي إلى المكتبة واشترينا ثلاثة كُتُب.", "أي كتب اشتريت من المكتبات؟"),
    "persian": ("دیروز کتاب‌های تازه را در قفسه گذاشتم.", "این كتاب تازه کجا است؟"),
    "hebrew": ("שָׁתַלְנוּ עֵץ לִימוֹן בַּגִּינָה.", "איפה שתלנו לימון?"),
    "hindi": ("डॉक्टर ने कहा कि घुटने को चार हफ़्ते आराम चाहिए।", "घुटनों को कितने हफ्ते आराम चाहिए?"),
    "vietnamese": ("Hôm nay tôi đi Đà Nẵng với chị gái và ăn bún.", "an bun o Da Nang voi ai"),
    "chinese": ("周末骑自行车去水库，路上轮胎被扎破了两次。", "骑车的时候轮胎破了几次？"),
    "japanese": ("引っ越しの見積もりは十二万円だった。", "引越しの見積りはいくらでしたか"),
    "korean": ("오늘 학교에서 동생이 다쳤다. 집에 갔다.", "학교는 어땠지"),
    "thai": ("แมวของฉันป่วย หมอฉีดยาให้สองเข็ม", "หมอฉีดยาแมวกี่เข็ม"),
    "lao": ("ແມວຂອງຂ້ອຍນອນຢູ່ກ້ອງຕຽງ", "ແມວນອນຢູ່ໃສ"),
    "khmer": ("ឆ្មារបស់ខ្ញុំដេកក្រោមគ្រែ", "ឆ្មាដេកនៅឯណា"),
    "burmese": ("ကြောင်က ကုတင်အောက်မှာ အိပ်နေတယ်", "ကြောင်ဘယ်မှာအိပ်လဲ"),
    "english": ("The plumber mended the leaking taps in Anna's kitchen.", "Who was mending my tap that leaks?"),
}
MORE = {
    "kana.md": "リンゴを三箱もらったので、ジャムを作った。猫がいる。",
    "han.md": "研究生命科学的研究生在京都東京都之间往返，喝茶。",
    "code.md": "The parser is C++ and C#, the site was .NET; see v1.2-beta and WTU-4471-K, paid 4,200 by e-mail 😀.",
    "c.md": "C is a letter, a net has knots, and the sharp edge is nowhere.",
    "mixed.md": "今天把两个containers搬到新服务器，настроил серверы.",
    "people.md": "Jean-Luc Picard wrote to J.R.R. Tolkien of a state-of-the-art engine.",
    "width.md": "ＡＢＣホテル ﾎﾃﾙ １２３号室",
    "persian.md": "کتاب‌های جدید را در قفسه گذاشتم، شماره ۴۲.",
    "kept.md": "Ёлка стояла в углу до Чайковского.",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    paths = DataPaths(tmp_path_factory.mktemp("scripts"))
    texts = {f"{language}.md": text for language, (text, _) in NOTES.items()} | MORE
    chunks = [chunk(path, text, title="x") for path, text in texts.items()]
    with open_writer(paths, SPEC, question) as writer:
        writer.replace_notes(rows(*chunks), {one.source_file for one in chunks})
        writer.optimise()
        writer.publish()
    return ChunkIndex.open(paths)


def _found(index: ChunkIndex, text: str) -> list[str]:
    return [hit.path for hit in index.text_leg(text, 50)]


@pytest.mark.parametrize("language", NOTES)
def test_other_forms_of_the_words_find_the_note_first(index: ChunkIndex, language: str) -> None:
    assert _found(index, NOTES[language][1])[:1] == [f"{language}.md"]


@pytest.mark.parametrize("language", sorted(NOTES.keys() - {"lao", "khmer", "burmese"}))
def test_a_language_is_known_by_its_small_words_and_letters(language: str) -> None:
    assert language_of(words(" ".join(NOTES[language]))) == language


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("りんご", "kana.md"),
        ("ﾘﾝｺﾞ", "kana.md"),
        ("猫", "kana.md"),
        ("茶", "han.md"),
        ("京都", "han.md"),
        ("生命", "han.md"),
        ("集", ""),
        ("abcホテル", "width.md"),
        ("123", "width.md"),
        ("C++", "code.md"),
        ("c#", "code.md"),
        (".NET", "code.md"),
        ("v1.2", "code.md"),
        ("wtu4471k", "code.md"),
        ("4200", "code.md"),
        ("4.200", "code.md"),
        ("email", "code.md"),
        ("😀", "code.md"),
        ("Anna", "english.md"),
        ("كتابهاي ۴۲", "persian.md"),
        ("елка", "kept.md"),
        ("집", "korean.md"),
        ("container服务器", "mixed.md"),
        ("my container", "mixed.md"),
        ("сервер", "mixed.md"),
    ],
)
def test_a_word_is_found(index: ChunkIndex, text: str, path: str) -> None:
    assert _found(index, text)[:1] == ([path] if path else [])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_two_neighbouring_signs_of_a_note_find_it(index: ChunkIndex, data: st.DataObject) -> None:
    path, text = data.draw(st.sampled_from([("chinese.md", NOTES["chinese"][0]), ("han.md", MORE["han.md"])]))
    run = data.draw(st.sampled_from([run for run in re.findall(r"[\u4e00-\u9fff]+", text) if len(run) > 1]))
    start = data.draw(st.integers(0, len(run) - 2))
    assert path in _found(index, run[start : start + 2])


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_whatever_is_typed_the_words_of_a_text_find_it_and_nothing_else_is_made_of_them(text: str) -> None:
    terms = [term for word in words(text) for term in word.terms]
    assert indexed(text).split() == indexed(text).split(" ") or not terms
    assert set(asked(text).split()) & set(indexed(text).split()) or not terms
    assert all(term and not set(term) & set(' "~*^:(){}\0') for term in terms)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert fold(text.upper()) == fold(fold(text).upper())


def test_a_phrase_stands_in_what_is_indexed() -> None:
    text = "The parser is C++ and C#; 数据库备份方案。 Émile's e-mail"
    for phrase in ("parser is C++", "and c#", "数据库", "备份方案", "emile's E-Mail", "库"):
        assert f" {as_phrase(phrase)} " in f" {indexed(text)} "
    for phrase in ("parser C++", "数据备份", "e-mail emile"):
        assert f" {as_phrase(phrase)} " not in f" {indexed(text)} "
    assert as_phrase("?!") == ""


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("We met Jean-Luc Picard today.", "Jean-Luc Picard"),
        ("Read J.R.R. Tolkien again.", "J.R.R. Tolkien"),
        ("Read J. R. R. Tolkien again.", "J.R.R. Tolkien"),
        ("Anna-Lena Meyer called.", "Anna-Lena Meyer"),
        ("A state-of-the-art system, they said.", "art system"),
        ("They paid 4,200 euros by e-mail.", "4,200 euros by e-mail"),
        ("They paid 4,200 euros by e-mail.", "4200"),
        ("They paid 4,200 euros by e-mail.", "email"),
    ],
)
def test_a_word_with_joints_does_not_break_a_phrase(text: str, phrase: str) -> None:
    for wanted in (phrase, name_key(phrase)):
        assert f" {as_phrase(wanted)} " in f" {indexed(text)} "


def test_words_with_joints_are_no_phrase_of_what_they_are_put_together_to() -> None:
    held = f" {indexed('Jean-Luc paid 4,200 to Anna-Lena by e-mail')} "
    for phrase in ("jeanluc paid", "jeanluc annalena", "jeanluc 4200", "annalena email", "mail jeanluc"):
        assert f" {as_phrase(phrase)} " not in held


@pytest.mark.parametrize("joint", ["-", ".", "_"])
def test_encoded_data_is_cut_and_not_kept_in_memory(joint: str) -> None:
    data = joint.join(["Zm9vYmFy"] * 5000)
    for sign in ("", "."):
        terms_module._known.cache_clear()
        found = list(words(f"{sign}{data} end"))
        assert terms_module._known.cache_info().currsize == 1, "the last word alone"
        assert max(len(part) for word in found for part in (*word.terms, word.spelled, word.whole)) <= 40


def test_a_question_is_looked_up_by_its_stems_in_its_own_language() -> None:
    assert asked("Wann habe ich die Häuser besichtigt?").split() == ["hauser", "besichtigt", "~haus", "~besichtigt"]
    assert asked("什么时候去北京路").split() == ["候去", "去北", "北京", "京路", "~候", "~去", "~北", "~京", "~路"]
    assert "~haus" in asked("Häuser").split()
    assert asked("who are you").split()[:3] == ["who", "are", "you"]
    assert asked("?! \0") == ""


@pytest.mark.parametrize(
    ("phrase", "paths"),
    [
        ("C++ and c#", ["code.md"]),
        ("Jean-Luc Picard", ["people.md"]),
        ("J.R.R. Tolkien", ["people.md"]),
        ("the art engine", ["people.md"]),
        ("++", []),
        ("京都之间", ["han.md"]),
        ("茶", ["han.md"]),
        ("京都东京", []),
        ("Đà Nẵng", ["vietnamese.md"]),
        ("the", ["c.md", "code.md", "english.md", "people.md"]),
        ("หมอฉีด", ["thai.md"]),
        ("كتب", ["arabic.md"]),
        ("'); --", []),
    ],
)
def test_a_phrase_finds_where_it_stands(index: ChunkIndex, phrase: str, paths: list[str]) -> None:
    for predicate in (index.holding(phrase), containing(phrase)):
        assert sorted(one.source_file for one in index._chunks(predicate)) == paths


def test_a_phrase_in_very_many_passages_is_found_too(index: ChunkIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = index.holding("the")
    monkeypatch.setattr(index_module, "_LISTED", 2)
    assert index.holding("the") == containing("the") != listed


def test_threads_do_not_disturb_each_other() -> None:
    many = [
        f"{prefix}{ending}" for prefix in ("walk", "talk", "paint", "garden") for ending in ("ing", "ed", "s", "er")
    ]
    texts = [" ".join(many[start:] + many[:start]) + f" the {start}" for start in range(len(many))] * 8
    alone = [indexed(text) for text in texts]
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: (stem.cache_clear(), indexed(text))[1], texts)) == alone
