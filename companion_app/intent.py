"""What kind of message a person sent, decided without a model."""

import re

_GREETINGS = frozenset(
    word
    for line in (
        "hi hello hey hej hola hallo bonjour salut ciao olá ola servus moin yo bye goodbye tschüss adiós adieu",
        "thanks thank thx danke gracias merci obrigado obrigada grazie tack",
        "good morning evening night afternoon guten morgen abend buenos buenas días tardes noches bonsoir bom dia boa",
        "noite bonne nuit there you so much very companion nice great cool ok okay perfect super",
    )
    for word in line.split()
)
_GREETINGS_UNSPACED = re.compile(r"^(你好|您好|谢谢|早上好|晚安|再见|こんにちは|ありがとう|おはよう|안녕|감사)")


def is_small_talk(message: str) -> bool:
    """True for a greeting, thanks or goodbye that asks nothing: no note could answer it."""
    text = message.strip().casefold()
    if _GREETINGS_UNSPACED.match(text) and len(text) <= 12:
        return True
    words = re.findall(r"[^\W\d_]+", text)
    return bool(words) and len(words) <= 6 and "?" not in text and all(word in _GREETINGS for word in words)
