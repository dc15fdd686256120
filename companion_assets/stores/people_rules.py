"""Which notes are people: those that lie in a folder named for people, or say so by a tag or a property.

Obsidian knows no people. These are the habits of those who keep them, in the languages of their vaults.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from companion_assets.stores.name_keys import Unit, file_key, name_key, units

_PEOPLE_WORDS = """
    people person persons contact contacts human humans
    personen menschen mensch leute kontakt kontakte
    persona personas gente contacto contactos
    personne personnes gens persone contatto contatti
    pessoa pessoas contato contatos
    mensen contacten personer manniskor mennesker kontakter henkilot ihmiset
    osoba osoby ludzie kontakty lide люди человек контакты персоны kisiler insanlar
    人物 人 人员 人員 联系人 聯絡人 人脉 人脈 連絡先 사람 사람들 인물 연락처
"""
# Properties that say what a note is, and properties that name people.
_KIND_WORDS = "type kind class fileclass category categories typ art tipo categoria categorie 类型 類型 分类 種類"
_NAMING_WORDS = """
    people person persons with attendee attendees participant participants guest guests contact contacts
    personen mit teilnehmer teilnehmende teilnehmerinnen gaste
    personas con participantes asistentes personnes avec participants
    persone partecipanti pessoas com 人物 参与者 参加者 参会人 出席者 참석자
"""
_TITLE_WORDS = """
    mr mrs ms miss mx sir dr prof professor aunt auntie uncle grandma grandpa granny
    herr frau tante onkel oma opa senor senora senorita don dona sr sra srta tio tia abuela abuelo
    monsieur madame mademoiselle mme mlle maitre oncle signor signora signorina maestro maestra zia zio nonna nonno
    senhor senhora professora mevrouw meneer fru
"""
_PARTICLE_WORDS = "von van de der den del della di da do dos das du la le el al bin ibn ter ten zu zur y e und and"
_PEOPLE, _KINDS, _NAMING = (frozenset(text.split()) for text in (_PEOPLE_WORDS, _KIND_WORDS, _NAMING_WORDS))
_TITLES, _PARTICLES = frozenset(_TITLE_WORDS.split()), frozenset(_PARTICLE_WORDS.split())
_LINKED = re.compile(r"\[\[([^\[\]|#]+)")
_LONGEST_NAME = 60  # characters
_MOST_WORDS = 4


def is_person(path: str, title: str, tags: Iterable[str], properties: Mapping[str, Any]) -> bool:
    """Whether a note is a person's. A name has no digits, and the overview in `People/People.md` is nobody."""
    if any(character.isdigit() for character in title) or name_key(title) in _PEOPLE:
        return False
    if any(_names_people(folder) for folder in path.split("/")[:-1]):
        return True
    # A tag may also say whom a note is about, as `people/family` on "Christening in December".
    if any(name_key(part) in _PEOPLE for tag in tags for part in tag.split("/")) and _is_shaped_like_a_name(title):
        return True
    kinds = (value for key, value in properties.items() if name_key(key) in _KINDS)
    return any(file_key(text.strip("[] ")) in _PEOPLE for value in kinds for text in _texts(value))


def people_in(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """The people that a note's properties name (`people: [Anna, "[[Tom]]"]`), as written."""
    found: dict[str, None] = {}
    for key, value in properties.items():
        if name_key(key) not in _NAMING:
            continue
        for text in _texts(value):
            linked = _LINKED.findall(text)
            names = linked or ([] if "/" in text or text.strip()[:1].islower() else [text])  # `with: nobody`
            found |= {name.strip(): None for name in names if 0 < len(name.strip()) <= _LONGEST_NAME}
    return tuple(found)


def names_within(title: str) -> tuple[str, ...]:
    """Keys of the words of a person's name by which they are called alone, given name first; none of a lone word.

    "Frau Krüger" is called Krüger, and "Anna from work" Anna.
    """
    words = units(title)
    small = next((at for at, word in enumerate(words) if _is_small(title, word)), len(words))
    called = [word for word in words[:small] if word.text not in _PARTICLES and word.text not in _TITLES]
    return tuple(word.text for word in called if word.spaced and len(word.text) > 1) if len(words) > 1 else ()


def _is_shaped_like_a_name(title: str) -> bool:
    words = units(title)
    return len(words) <= _MOST_WORDS and not any(_is_small(title, word) for word in words)


def _is_small(title: str, word: Unit) -> bool:
    return title[word.start].islower() and word.text not in _PARTICLES


def _names_people(folder: str) -> bool:
    """Also as `20 People` or `👤 People`."""
    words = [word.text for word in units(folder) if not word.text.isdigit()]
    return "".join(words) in _PEOPLE


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
