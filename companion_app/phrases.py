"""The few fixed sentences Companion says without a model, in the language of the question."""

import re
from typing import Literal

Phrase = Literal["nothing_found", "quoted", "greeting"]

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)
# Frequent function words that hardly occur in the other languages listed.
_WORDS = {
    "de": "der die das und ist nicht ich wir was wann wo wer wie habe hat mit für den dem ein eine war mein meine",
    "es": "el los las qué cuándo dónde quién cómo es mi mis con por para del una un cuál fue hice tengo y en",
    "fr": "le les des qu quand où qui comment est mon ma mes avec pour une dans quel quelle était ai je nous et",
    "pt": "o os as quando onde quem como é meu minha com para do da um uma qual foi não eu em e",
    "it": "il gli che quando dove chi come è mio mia con per del della una quale era ho sono e di",
    "sv": "och är inte jag vad när var vem hur har med för den det en ett min mina",
    "en": "the what when where who how is are was did do does my i with for of a an in to and which we have",
}
_SETS = {language: frozenset(words.split()) for language, words in _WORDS.items()}

_NAMES = {
    "en": "English",
    "de": "German",
    "es": "Spanish",
    "fr": "French",
    "pt": "Portuguese",
    "it": "Italian",
    "sv": "Swedish",
    "zh": "Chinese",
    "ja": "Japanese",
    "ko": "Korean",
    "ru": "Russian",
}

_TEXTS: dict[Phrase, dict[str, str]] = {
    "nothing_found": {
        "en": "Your notes don't say.",
        "de": "Deine Notizen sagen dazu nichts.",
        "es": "Tus notas no dicen nada de eso.",
        "fr": "Tes notes n'en disent rien.",
        "pt": "As tuas notas não dizem nada sobre isso.",
        "it": "Le tue note non ne dicono nulla.",
        "sv": "Dina anteckningar säger inget om det.",
        "zh": "你的笔记里没有提到。",
        "ja": "あなたのノートには書かれていません。",
        "ko": "노트에는 그런 내용이 없습니다.",
        "ru": "В твоих заметках об этом ничего нет.",
    },
    "quoted": {
        "en": "This is what your notes say:",
        "de": "Das sagen deine Notizen:",
        "es": "Esto dicen tus notas:",
        "fr": "Voici ce que disent tes notes :",
        "pt": "Isto é o que dizem as tuas notas:",
        "it": "Ecco cosa dicono le tue note:",
        "sv": "Det här säger dina anteckningar:",
        "zh": "你的笔记是这样写的：",
        "ja": "ノートにはこう書かれています：",
        "ko": "노트에는 이렇게 적혀 있습니다:",
        "ru": "Вот что говорят твои заметки:",
    },
    "greeting": {
        "en": "I'm here. Ask me anything about your notes.",
        "de": "Ich bin da. Frag mich etwas zu deinen Notizen.",
        "es": "Aquí estoy. Pregúntame lo que quieras sobre tus notas.",
        "fr": "Je suis là. Pose-moi une question sur tes notes.",
        "pt": "Estou aqui. Pergunta-me o que quiseres sobre as tuas notas.",
        "it": "Eccomi. Chiedimi qualcosa sulle tue note.",
        "sv": "Jag är här. Fråga mig något om dina anteckningar.",
        "zh": "我在。关于你的笔记，随便问。",
        "ja": "はい、ここにいます。ノートについて何でも聞いてください。",
        "ko": "여기 있어요. 노트에 대해 무엇이든 물어보세요.",
        "ru": "Я здесь. Спроси что-нибудь о своих заметках.",
    },
}


def language_of(text: str) -> str:
    """Two-letter code of the likely language; "en" where nothing speaks for another."""
    for code, script in _SCRIPTS:
        if script.search(text):
            return code
    words = re.findall(r"[^\W\d_]+", text.casefold())
    scores = {code: sum(word in known for word in words) for code, known in _SETS.items()}
    best = max(scores, key=lambda code: (scores[code], code == "en"))
    return best if scores[best] else "en"


def language_name(text: str) -> str:
    """English name of the likely language."""
    return _NAMES[language_of(text)]


def say(phrase: Phrase, like: str) -> str:
    """A fixed sentence in the language of `like`."""
    texts = _TEXTS[phrase]
    return texts.get(language_of(like), texts["en"])


def is_abstention(reply: str) -> bool:
    """True when a reply says, in any of our languages, that the notes do not tell."""
    opening = reply.strip().casefold()
    return any(opening.startswith(text.casefold().rstrip(".。")) for text in _TEXTS["nothing_found"].values())
