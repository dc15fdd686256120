"""What a question does not want: `-word`, "except …", "but not …", and the same in other languages.

"Why did I not go" excludes nothing, "a week without coffee" is about coffee, and "was I not in Lisbon?" asks about
Lisbon: a negation counts only where it cannot belong to the verb.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from companion_assets.retrieval import operator_words as words
from companion_assets.retrieval.dates import date_spans
from companion_assets.retrieval.quotes import Quote, Span, tag_at, within

_MINUS = re.compile(r"(?<![^\s(（])-(?=[\"“„«「#\[]|(?:tag|in|folder):\S|[^\W\d_]{2})")
_ELLIPSIS = re.compile(r"(?<!\w)(?:and|or|und|oder|et|ou|y|o|e|bzw\.?)\s+\Z", re.IGNORECASE)
_OPERATORS = re.compile(r"(?:\s*+(?:-?\"[^\"]*+\"|(?:-?\#|-[^\s-]|\w++:)\S*+))*+\s*+[?.!]?\s*+")
_MINUS_WORD = re.compile(r"(?:tag|in|folder):\S+|[^\s,;?!()\"“”„«»]+")
_MOST_KEYWORDS = 8  # words; a longer text is a sentence
_LONGEST_ELLIPSIS = 12  # characters before a minus
_MOST = 50  # exclusions of a question; more stand only in a pasted text
_EXCEPT = re.compile(rf"(?<!\w)(?:{words.EXCEPT})(?!\w)\s*", re.IGNORECASE)
_WITHOUT_NAMING = re.compile(rf"(?<!\w)(?:{words.WITHOUT})\s+(?:(?:{words.NAMING})\s+|(?=\#))", re.IGNORECASE)
_LIST_WITHOUT = re.compile(
    rf"\A\W*(?:{words.LISTING})\s(?:(?!(?:{words.VERBS})\b)[\w'’-]+\s+){{1,4}}(?P<without>(?:{words.WITHOUT})\s+)",
    re.IGNORECASE,
)
_BUT_NOT = re.compile(
    rf"(?:[,;(–—]\s*|(?<!\w)(?:{words.BUT})\s+)(?P<not>{words.NOT})\s+(?!(?:{words.NOT_OBJECTS})\b)"
    rf"(?:(?P<near>{words.NEAR})\s+|(?P<towards>{words.TOWARDS})\s+)?",
    re.IGNORECASE,
)
_NOUN_NOT = re.compile(rf"(?<=\w)\s+not\s+(?!(?:{words.NOT_OBJECTS})\b)(?P<near>{words.NEAR})\s+", re.IGNORECASE)
_VERB = re.compile(rf"(?<!\w)(?:{words.VERBS}|\w+n['’]t)(?!\w)", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.?!()]")
_SMALL = re.compile(rf"(?:(?:{words.THE}|dass|that|when|if)\s+)+", re.IGNORECASE)
_NO_OBJECT = re.compile(r"(?:that|when|if|where|dass|wenn|wo|que|quand|quando|cuando|si|se)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_][\w'’.-]*(?<![.'’-])")
_STOP = re.compile(
    rf"(?:{words.IN}|{words.THE}|{words.NEAR}|{words.TOWARDS}|{words.BUT}|{words.VERBS}|and|or|und|oder|y|o|e|et|ou|which|who)",
    re.IGNORECASE,
)
_DAYS_LED = re.compile(
    rf"\s*+(?:,\s*+|(?:(?:and|or|nor|und|oder|y|o|ni|et|ou|e|&)\s++)?"
    rf"(?:(?:{words.IN}|{words.THE}|{words.NEAR}|{words.TOWARDS}|during|während|durante|pendant)\s++)*+)",
    re.IGNORECASE,
)
_LONGEST_CLAUSE = 200  # characters
_MOST_WORDS = 3  # of something written small
_NEXT_NAME = re.compile(r"\s*(?:,|\b(?:and|or|nor|und|oder|y|o|ni|et|ou|e|nem|né)\b)\s*(?=[^\W\d_])", re.IGNORECASE)
_ENDS_CLAUSE = re.compile(r"\s*(?:[,;.?!)]|\Z)")
_VERBAL = re.compile(r"\w+(?:ing|ed|ly)", re.IGNORECASE)
_UNSPACED = (
    re.compile(r"除(?:了|去)?(?P<what>[^，。？！,?!]{1,20}?)(?:以外|之外|外)(?![^，。？！,?!]*[还還也又])[，,]?"),
    re.compile(rf"{words.EXCLUDING_UNSPACED}(?P<what>[^，。？！,?!的\s]{{1,12}})(?:的)?"),
    re.compile(r"(?P<what>[^\s、。，？?!！のはがをにでと]{1,15})(?:以外|を除(?:いて|いた|く|き))(?:の|で|に)?"),
    re.compile(r"(?P<what>[^\s、。，？?!！はがをに]{1,15}?)(?:では|じゃ)なくて?"),
    re.compile(r"(?P<what>[^\s,?!]{1,15}?)(?:을|를)?\s*(?:제외하고|제외한|빼고|말고)"),
)  # fmt: skip


def exclusions(question: str, quoted: Sequence[Quote], taken: Sequence[Span]) -> list[tuple[str, Span]]:
    """What is not wanted, as written, each with the span of the whole expression; in order, none overlapping.

    Args:
        question: As written.
        quoted: Its quoted phrases: what is written in them says nothing about the search, but they may be excluded.
        taken: Spans that are something else.
    """
    found: list[tuple[str, Span]] = []
    used = list(taken)
    for rule in (_by_minus, _by_except, _by_without, _by_not, _unspaced):
        for what, span in islice(rule(question, quoted), _MOST):
            inside = [(quote.start, quote.end) for quote in quoted if quote.end != span[1]]
            if not within(span[0], [*used, *inside]) and not any(span[0] <= start < span[1] for start, _ in used):
                found.append((what, span))
                used.append(span)
    return sorted(found, key=lambda pair: pair[1])


def excluded_days(question: str, quoted: Sequence[Quote], today: dt.date) -> list[Span]:
    """Where days are not wanted: "except in May", "but not last week"; each with the words that exclude it.

    They are no exclusions: a note seldom spells its day, and "3" of "except 3 May" stands in many.
    """
    inside = [(quote.start, quote.end) for quote in quoted]
    found = []
    for start, at in islice(_before_days(question), _MOST):
        end = at if within(start, inside) else _end_of_days(question, at, today)
        if end > at:
            found.append((start, end))
    return found


def _before_days(question: str) -> Iterator[Span]:
    """Words that exclude: where they begin, and where a day may follow."""
    for match in _EXCEPT.finditer(question):
        yield match.span()
    for match in _BUT_NOT.finditer(question):
        yield match.start(), match.end("not")
    for match in _nouns_not(question):
        yield match.start(), match.start("near")


def _end_of_days(question: str, at: int, today: dt.date) -> int:
    """Where the days end that stand at a place and follow each other; the place itself if there are none."""
    end = at
    for span in date_spans(question[at : at + _LONGEST_CLAUSE], today):
        if not _DAYS_LED.fullmatch(question, end, at + span.start):
            break
        end = at + span.end
    return end


def _by_minus(question: str, quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    is_keywords = "?" not in question and "？" not in question and len(question.split()) <= _MOST_KEYWORDS
    for match in _MINUS.finditer(question, 0 if is_keywords else _operators_at_the_end(question)):
        if _ELLIPSIS.search(question, max(0, match.start() - _LONGEST_ELLIPSIS), match.start()):
            continue  # "Vor- und -nachteile"
        quote = next((quote for quote in quoted if quote.start == match.end()), None)
        if quote:
            yield quote.text, (match.start(), quote.end)
        elif word := _MINUS_WORD.match(question, match.end()):
            yield word[0].strip(".:"), (match.start(), word.end())


def _operators_at_the_end(question: str) -> int:
    """From where a sentence holds operators only; not what `tar -xzf` does."""
    end = 0
    for match in _MINUS.finditer(question):
        operators = _OPERATORS.match(question, match.start()) if match.start() >= end else None
        end = operators.end() if operators else end
        if operators and end == len(question):
            return match.start()
    return len(question)


def _by_except(question: str, quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    for match in _EXCEPT.finditer(question):
        yield from _objects(question, match.start(), match.end(), quoted)


def _by_without(question: str, quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    for match in _WITHOUT_NAMING.finditer(question):
        yield from _objects(question, match.start(), match.end(), quoted)
    if listing := _LIST_WITHOUT.match(question):
        yield from _objects(question, listing.start("without"), listing.end(), quoted)


def _by_not(question: str, quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    for match in _BUT_NOT.finditer(question):
        objects = list(_objects(question, match.start(), match.end(), quoted))
        if objects and (match["near"] or _is_a_thing(question, match, objects[0][1])):
            yield from objects
    for match in _nouns_not(question):
        yield from _objects(question, match.start(), match.end(), quoted)


def _nouns_not(question: str) -> Iterator[re.Match[str]]:
    """Each "not in …" behind a noun, where no verb stands before that "not" could belong to."""
    for match in _NOUN_NOT.finditer(question):
        clause = _CLAUSE.split(question[max(0, match.start() - _LONGEST_CLAUSE) : match.start()])[-1]
        if not _VERB.search(clause):
            yield match


def _unspaced(question: str, _quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    for pattern in _UNSPACED:
        for match in pattern.finditer(question):
            yield match["what"].strip('“”"「」 #'), match.span()


def _is_a_thing(question: str, match: re.Match[str], span: Span) -> bool:
    """Whether "not" without a preposition is followed by a thing, not by a verb: "tea, not coffee"."""
    start = match.end()
    if question[start : start + 1] in ("#", "[", *'"“„«「') or question[start : start + 1].isupper():
        return True
    text = question[start : span[1]]
    alone = " " not in text and bool(_ENDS_CLAUSE.match(question, span[1]))
    return match["not"].lower() == "not" and not match["towards"] and alone and not _VERBAL.fullmatch(text)


def _objects(question: str, start: int, at: int, quoted: Sequence[Quote]) -> Iterator[tuple[str, Span]]:
    """What stands at `at`, and the names that are listed after it; `start` is where the expression begins."""
    if _NO_OBJECT.match(question, at):
        return
    small = _SMALL.match(question, at)
    found = _object_at(question, small.end() if small else at, quoted)
    while found:
        what, end = found
        yield what, (start, end)
        after = _NEXT_NAME.match(question, end)
        start = end
        found = _object_at(question, after.end(), quoted) if after and question[after.end()].isupper() else None


def _object_at(question: str, at: int, quoted: Sequence[Quote]) -> tuple[str, int] | None:
    for quote in quoted:
        if quote.start == at:
            return quote.text, quote.end
    if end := tag_at(question, at):
        return question[at:end], end
    if question.startswith("[[", at) and (closing := question.find("]]", at)) > 0:
        return question[at + 2 : closing], closing + 2
    words_found = list(_words_at(question, at))
    return (question[at : words_found[-1]], words_found[-1]) if words_found else None


def _words_at(question: str, at: int) -> Iterator[int]:
    """Ends of the words that belong together here: words with capitals, or a few written small."""
    first = _WORD.match(question, at)
    if first is None or _STOP.fullmatch(first[0]):
        return
    yield first.end()
    capital, end, count = first[0][0].isupper(), first.end(), 1
    while word := _WORD.match(question, end + 1):
        fits = word[0][0].isupper() == capital and (capital or count < _MOST_WORDS) and not _STOP.fullmatch(word[0])
        if question[end] not in " -" or not fits:
            return
        yield word.end()
        end, count = word.end(), count + 1
