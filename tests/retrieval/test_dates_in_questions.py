import datetime as dt

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st

from companion_assets.contracts.searching import DateSpan
from companion_assets.retrieval.date_names import MONTHS
from companion_assets.retrieval.dates import date_spans

TODAY = dt.date(2026, 3, 18)  # a Wednesday

OPEN_START, OPEN_END = "0001-01-01", "9999-12-31"


def said(question: str) -> list[str]:
    """The spans of a question as `first..last`, one day as itself, with a star for every year."""
    return [written(span) for span in date_spans(question, TODAY)]


def written(span: DateSpan) -> str:
    days = str(span.first) if span.first == span.last else f"{span.first}..{span.last}"
    return days + "*" * span.every_year


def table(text: str) -> list[tuple[str, list[str]]]:
    """Lines of `question -> spans`."""
    lines = (line.split("->") for line in text.strip().splitlines() if line.strip())
    return [(question.strip(), days.split()) for question, days in lines]


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    What did I do on 2025-01-14? -> 2025-01-14
    What happened in 2025-03? -> 2025-03-01..2025-03-31
    Who came on 14 January 2025? -> 2025-01-14
    Who came on January 14th, 2025? -> 2025-01-14
    Wer kam am 14.1.2025? -> 2025-01-14
    What did I plan for 2025-W12? -> 2025-03-17..2025-03-23
    the 3rd of April 2024 -> 2024-04-03
    the twenty-first of March 2024 -> 2024-03-21
    On Friday, 13 March 2026, who called? -> 2026-03-13
    What did I read in 2024? -> 2024-01-01..2024-12-31
    What music did I like in the 90s? -> 1990-01-01..1999-12-31
    Q1 2025 in review -> 2025-01-01..2025-03-31
    the third quarter of 2024 -> 2024-07-01..2024-09-30
    Where was I in summer 2024? -> 2024-06-01..2024-08-31
    What did I get for Christmas 2024? -> 2024-12-24..2024-12-26
    December '24 -> 2024-12-01..2024-12-31
    """),
)
def test_a_date_with_its_year_is_those_days(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    On January 14th, who called? -> 2026-01-14*
    the evening of February 25th -> 2026-02-25*
    What did I do on May 3? -> 2025-05-03*
    In March, what did I cook? -> 2026-03-01..2026-03-31*
    in May, what did I cook? -> 2025-05-01..2025-05-31*
    during the review in early March -> 2026-03-01..2026-03-10*
    in mid-May -> 2025-05-11..2025-05-20*
    late April -> 2025-04-21..2025-04-30*
    at the end of February -> 2026-02-19..2026-02-28*
    the second half of the year -> 2025-07-01..2025-12-31*
    the first week of March -> 2026-03-01..2026-03-07*
    the last Friday in May -> 2025-05-30*
    the first three days of March -> 2026-03-01..2026-03-03*
    the last two weeks of May -> 2025-05-18..2025-05-31*
    the week of March 3rd -> 2026-03-02..2026-03-08*
    the week after Christmas -> 2025-12-27..2026-01-02*
    two days before May 3rd -> 2025-05-01*
    the Friday before Christmas -> 2025-12-19*
    How was Valentine's Day? -> 2026-02-14*
    How was New Year's Eve? -> 2025-12-31*
    who came on 29 February? -> 2024-02-29*
    """),
)
def test_without_a_year_the_latest_that_has_begun_is_taken_and_said_to_be_a_guess(
    question: str, days: list[str]
) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    today -> 2026-03-18
    What did I eat yesterday? -> 2026-03-17
    the day before yesterday -> 2026-03-16
    what is planned for tomorrow -> 2026-03-19
    last night -> 2026-03-17
    last Monday -> 2026-03-16
    on Tuesday -> 2026-03-17
    next Friday -> 2026-03-20
    Friday of last week -> 2026-03-13
    this week -> 2026-03-16..2026-03-22
    last week -> 2026-03-09..2026-03-15
    last weekend -> 2026-03-14..2026-03-15
    last month -> 2026-02-01..2026-02-28
    last year -> 2025-01-01..2025-12-31
    last March -> 2025-03-01..2025-03-31
    this March -> 2026-03-01..2026-03-31
    March last year -> 2025-03-01..2025-03-31
    last summer -> 2025-06-01..2025-08-31
    on the 14th -> 2026-03-14
    the 5th of last month -> 2026-02-05
    early last year -> 2025-01-01..2025-04-30
    late last month -> 2026-02-19..2026-02-28
    3 days ago -> 2026-03-15
    two weeks ago -> 2026-03-02..2026-03-08
    a couple of months ago -> 2026-01-01..2026-01-31
    a year ago -> 2025-01-01..2025-12-31
    a year ago today -> 2025-03-18
    the past 3 months -> 2025-12-18..2026-03-18
    in the last 10 days -> 2026-03-08..2026-03-18
    over the past year -> 2025-03-18..2026-03-18
    in the next two weeks -> 2026-03-18..2026-04-01
    """),
)
def test_relative_dates_are_reckoned_from_today_in_whole_units(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    January 14th and 15th -> 2026-01-14* 2026-01-15*
    on May 13th, May 15th, May 20th, and May 22nd -> 2025-05-13* 2025-05-15* 2025-05-20* 2025-05-22*
    May 13, 15 and 22 -> 2025-05-13* 2025-05-15* 2025-05-22*
    on December 8th and 9th to begin learning -> 2025-12-08* 2025-12-09*
    on October 5th and October 13th, 2025 -> 2025-10-05 2025-10-13
    May 3rd/4th -> 2025-05-03* 2025-05-04*
    3, 5 and 7 March 2025 -> 2025-03-03 2025-03-05 2025-03-07
    in March or April -> 2026-03-01..2026-03-31* 2025-04-01..2025-04-30*
    in 2023 and 2024 -> 2023-01-01..2023-12-31 2024-01-01..2024-12-31
    compare May 2024 with May 2025 -> 2024-05-01..2024-05-31 2025-05-01..2025-05-31
    on 14 January and 3 friends came -> 2026-01-14*
    """),
)
def test_lists_share_month_and_year(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    between 3 and 10 March -> 2026-03-03..2026-03-10*
    (June 2–4) -> 2025-06-02..2025-06-04*
    from June 1st to 2nd -> 2025-06-01..2025-06-02*
    from March to May -> 2026-03-01..2026-05-31*
    from November to February -> 2025-11-01..2026-02-28*
    from November to February 2025 -> 2024-11-01..2025-02-28
    between January and March 2025 -> 2025-01-01..2025-03-31
    from 2020 to 2022 -> 2020-01-01..2022-12-31
    2024-12-31 to 2025-01-01 -> 2024-12-31..2025-01-01
    from 3 May 2024 to 5 June 2024 -> 2024-05-03..2024-06-05
    from Friday to Sunday -> 2026-03-13..2026-03-15
    between Christmas and New Year's Eve -> 2025-12-24..2025-12-31*
    """),
)
def test_a_range_is_one_stretch(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("What have I read since March?", f"2026-03-01..{OPEN_END}"),
        ("since last Monday", f"2026-03-16..{OPEN_END}"),
        ("after 2024-02-01", f"2024-02-02..{OPEN_END}"),
        ("from March on", f"2026-03-01..{OPEN_END}"),
        ("before May 3", f"{OPEN_START}..2025-05-02"),
        ("until yesterday", f"{OPEN_START}..2026-03-17"),
        ("until the end of March 2025", f"{OPEN_START}..2025-03-31"),
        ("seit März", f"2026-03-01..{OPEN_END}"),
        ("vor dem 3. Mai 2024", f"{OPEN_START}..2024-05-02"),
        ("bis Ende April 2024", f"{OPEN_START}..2024-04-30"),
        ("desde marzo", f"2026-03-01..{OPEN_END}"),
        ("avant le 3 mai 2024", f"{OPEN_START}..2024-05-02"),
        ("depois de 3 de maio de 2024", f"2024-05-04..{OPEN_END}"),
        ("da marzo", f"2026-03-01..{OPEN_END}"),
        ("三月以来", f"2026-03-01..{OPEN_END}"),
        ("2024年5月3日之前", f"{OPEN_START}..2024-05-02"),
        ("3月以降", f"2026-03-01..{OPEN_END}"),
        ("2024年5月まで", f"{OPEN_START}..2024-05-31"),
        ("3월 이후", f"2026-03-01..{OPEN_END}"),
    ],
)
def test_an_open_stretch_reaches_to_the_end_of_time(question: str, days: str) -> None:
    assert said(question) == [days]


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    In 2024, what did I do on May 3? -> 2024-05-03
    last year in March -> 2025-03-01..2025-03-31
    on the 2025 trip (June 2–4) in June 2025 -> 2025-06-02..2025-06-04 2025-06-01..2025-06-30
    I first ran in February 2025. Which day in March was the race? -> 2025-02-01..2025-02-28 2025-03-01..2025-03-31
    in 2023 and 2024, what happened in March? -> 2023-01-01..2023-12-31 2024-01-01..2024-12-31 2026-03-01..2026-03-31*
    """),
)
def test_the_only_year_of_a_question_counts_for_its_other_dates(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize(
    ("question", "days"),
    table("""
    Was habe ich letzte Woche gemacht? -> 2026-03-09..2026-03-15
    Wer war am 3. Mai bei uns? -> 2025-05-03*
    Was war zwischen dem 3. und 10. März? -> 2026-03-03..2026-03-10*
    Wo war ich am 3. und 4. Juni 2024? -> 2024-06-03 2024-06-04
    Was geschah vor drei Tagen? -> 2026-03-15
    Was habe ich in den letzten drei Monaten gelesen? -> 2025-12-18..2026-03-18
    Wie war es Anfang Mai? -> 2025-05-01..2025-05-10*
    Wie war es Ende letzten Jahres? -> 2025-09-01..2025-12-31
    Was geschah in der Nacht vom 3. auf den 4. Mai? -> 2025-05-03..2025-05-04*
    Was tat ich vor zwei Jahren im Mai? -> 2024-05-01..2024-05-31
    Was tat ich im März letzten Jahres? -> 2025-03-01..2025-03-31
    Was war in der zweiten Hälfte des Jahres? -> 2025-07-01..2025-12-31*
    Was war im ersten Quartal 2025? -> 2025-01-01..2025-03-31
    Wen traf ich am Montag? -> 2026-03-16
    Was gab es zu Weihnachten? -> 2025-12-24..2025-12-26*
    ¿Qué hice ayer? -> 2026-03-17
    ¿Qué pasó entre el 3 y el 10 de marzo? -> 2026-03-03..2026-03-10*
    ¿Qué hice la semana pasada? -> 2026-03-09..2026-03-15
    ¿Dónde estaba hace dos semanas? -> 2026-03-02..2026-03-08
    ¿Qué leí en mayo del año pasado? -> 2025-05-01..2025-05-31
    ¿Qué leí a principios de marzo? -> 2026-03-01..2026-03-10*
    ¿Quién vino el 14 de enero de 2025? -> 2025-01-14
    ¿Qué hice en los últimos tres meses? -> 2025-12-18..2026-03-18
    ¿Quién vino el 3/5/2024? -> 2024-05-03
    Qu'est-ce que j'ai fait hier ? -> 2026-03-17
    Où étais-je du 3 au 10 mars ? -> 2026-03-03..2026-03-10*
    Où étais-je en mai dernier ? -> 2025-05-01..2025-05-31
    Où étais-je à la fin de l'année ? -> 2025-09-01..2025-12-31*
    Qui est venu le 1er mai ? -> 2025-05-01*
    Qu'ai-je lu il y a trois jours ? -> 2026-03-15
    Qu'ai-je lu la semaine dernière ? -> 2026-03-09..2026-03-15
    Qu'ai-je lu ces trois derniers mois ? -> 2025-12-18..2026-03-18
    Où étais-je l'été dernier ? -> 2025-06-01..2025-08-31
    Qu'ai-je fait à la mi-mai ? -> 2025-05-11..2025-05-20*
    O que fiz ontem? -> 2026-03-17
    O que fiz na semana passada? -> 2026-03-09..2026-03-15
    O que li há três dias? -> 2026-03-15
    O que fiz de 3 a 10 de março? -> 2026-03-03..2026-03-10*
    O que fiz no fim de março de 2025? -> 2025-03-21..2025-03-31
    Cosa ho fatto tre giorni fa? -> 2026-03-15
    Cosa ho letto la settimana scorsa? -> 2026-03-09..2026-03-15
    Cosa ho fatto a marzo? -> 2026-03-01..2026-03-31*
    Cosa ho fatto dal 3 al 10 marzo? -> 2026-03-03..2026-03-10*
    Cosa ho fatto nella seconda metà del 2024? -> 2024-07-01..2024-12-31
    Wat deed ik vorige week? -> 2026-03-09..2026-03-15
    Wat deed ik 3 dagen geleden? -> 2026-03-15
    Wat las ik begin maart? -> 2026-03-01..2026-03-10*
    Vad gjorde jag förra veckan? -> 2026-03-09..2026-03-15
    Vad läste jag för tre dagar sedan? -> 2026-03-15
    Vad gjorde jag i mars? -> 2026-03-01..2026-03-31*
    Co robiłem w zeszłym tygodniu? -> 2026-03-09..2026-03-15
    Co robiłam 3 maja 2024? -> 2024-05-03
    Co robiłam w marcu? -> 2026-03-01..2026-03-31*
    Что я делал вчера? -> 2026-03-17
    Что я делал в марте? -> 2026-03-01..2026-03-31*
    Что я делал в мае прошлого года? -> 2025-05-01..2025-05-31
    Что я делал три дня назад? -> 2026-03-15
    Где я был прошлым летом? -> 2025-06-01..2025-08-31
    去年三月我去了哪里？ -> 2025-03-01..2025-03-31
    上周五我见了谁？ -> 2026-03-13
    三天前我做了什么？ -> 2026-03-15
    上个月我读了什么？ -> 2026-02-01..2026-02-28
    三个月前 -> 2025-12-01..2025-12-31
    过去两周 -> 2026-03-04..2026-03-18
    二〇二五年三月十四日 -> 2025-03-14
    3月3日到10日 -> 2026-03-03..2026-03-10*
    三月初 -> 2026-03-01..2026-03-10*
    去年年底 -> 2025-09-01..2025-12-31
    2024年下半年 -> 2024-07-01..2024-12-31
    2025年第一季度 -> 2025-01-01..2025-03-31
    五月的第一个星期天 -> 2025-05-04*
    去年の3月に何をした？ -> 2025-03-01..2025-03-31
    先週の金曜日に誰に会った？ -> 2026-03-13
    3日前に何を読んだ？ -> 2026-03-15
    3月から5月まで -> 2026-03-01..2026-05-31*
    3月上旬 -> 2026-03-01..2026-03-10*
    今年の前半 -> 2026-01-01..2026-06-30
    去年の今日 -> 2025-03-18
    3月3日と4日 -> 2026-03-03* 2026-03-04*
    令和6年3月14日 -> 2024-03-14
    一昨日 -> 2026-03-16
    ３月１４日 -> 2026-03-14*
    지난주에 뭐 했어? -> 2026-03-09..2026-03-15
    작년 3월에 어디 갔어? -> 2025-03-01..2025-03-31
    3일 전 -> 2026-03-15
    2025년 3월 14일 -> 2025-03-14
    올해 상반기 -> 2026-01-01..2026-06-30
    지난 2주 -> 2026-03-04..2026-03-18
    3월 3일부터 10일까지 -> 2026-03-03..2026-03-10*
    """),
)
def test_questions_are_understood_in_their_language(question: str, days: list[str]) -> None:
    assert said(question) == days


@pytest.mark.parametrize("language", MONTHS)
def test_cldr_names_of_months_are_known(language: str) -> None:
    months = Locale(language).months
    for context in ("format", "stand-alone"):
        for month, name in months[context]["wide"].items():
            assert said(f"14 {name} 2024") == [str(dt.date(2024, month, 14))]


@pytest.mark.parametrize(
    "question",
    """
    May I ask who fixed the sink?
    What may happen if I march on?
    Which of the 2 may help?
    I had to march 20 miles
    Who gave a second opinion?
    wait a second, just a minute
    Does the sun set in the sea?
    el mar estaba bonito, en el mar
    mon ami a mis la table
    I sat on the set in the fall of the wall
    Who came before the Spring Festival?
    version 1.2.3 and Python 3.11 on 10.0.0.1
    Call 555-1234 or +49 30 1234567
    It cost $2024, then 2000 euros
    We rated it 3/5 and are open 24/7 until 12:30
    iPhone 2024, Room 2012, a 2024 Subaru
    my sedan 2019
    What did April say about June?
    Is August at home? Does Julio know Mei?
    in Jan's house, with June's letter
    Jan and I went home. What did Jan say?
    Mars is a planet and we fly to Mars
    Non ci sono mai andato
    Was ist hier los?
    every Monday and each Saturday morning
    On Sundays we rest
    last time, next time, the next day, the next week
    the last week of the trip, the last night of the trip
    What do I think of May?
    the third man, the first of many
    12 out of 15, set 3 of 4, chapter 3, page 14
    in my 30s
    la marca de mi coche
    fine di una storia, la fin du film
    day by day, year in year out
    the Black Friday sale
    一起去吃饭，第一次，三个人，马上，晚上
    每周三
    今後の予定、日本、三人、一番
    이주했다 내 일이 많다
    Tell me about the summer dress
    I read 1984 by Orwell
    what happened in the end, at the beginning
    recently, once, in the past, some day
    letztes Mal, bis bald, seit langem, vor allem
    hace mucho, il y a un problème, fa caldo
    Det här är fint
    the Taihu trip on 30 February
    """.strip().splitlines(),
)
def test_what_only_looks_like_a_date_is_none(question: str) -> None:
    assert said(question.strip()) == []


def test_spans_point_at_their_words() -> None:
    question = "What did Marta do on May 13th, between 3 and 10 June 2024, and since last summer?"
    assert [question[span.start : span.end] for span in date_spans(question, TODAY)] == [
        "May 13th",
        "3 and 10 June 2024",
        "since last summer",
    ]


def test_today_decides_what_relative_dates_mean() -> None:
    (span,) = date_spans("last week", dt.date(2024, 1, 1))
    assert (span.first, span.last) == (dt.date(2023, 12, 25), dt.date(2023, 12, 31))


WORDS = """
may 3 14th 2024 2024-02-30 31. of the last this next week weeks ago vor hace il y a und , - – to from between and since
before until 三 月 日 年 前 去年 上 周五 30 february 29 first half quarter monday christmas 9999 0001-01-01 第 '24
10.3.2025 3/4/2024 year early end of decade 90s W12 12月 一昨日 지난 week-end hier que
"""
PHRASES = st.lists(st.sampled_from(WORDS.split()), max_size=12)


@given(
    text=st.one_of(st.text(), PHRASES.map(" ".join), PHRASES.map("".join)),
    today=st.dates(),
)
def test_any_text_on_any_day_gives_ordered_spans_inside_it(text: str, today: dt.date) -> None:
    end = 0
    for span in date_spans(text, today):
        assert end <= span.start < span.end <= len(text)
        assert span.first <= span.last
        end = span.end
