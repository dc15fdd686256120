"""A text is in the language of most of it, whatever script a name in it has."""

import pytest

from companion_assets.stores.tongue import main_tongue, tongue_of


@pytest.mark.parametrize(
    ("text", "tongue"),
    [
        ("Where did I eat 寿司 with Anna last week?", "english"),
        ("Who is 김 Minsu?", "english"),
        ("What does 木 mean in my notes?", "english"),
        ("Wo war ich mit 李梅?", "german"),
        ("房东叫什么名字?", "chinese"),
        ("李梅的WeChat是什么", "chinese"),
        ("Annaさんの電話番号は?", "japanese"),
        ("ひらがな", "japanese"),
        ("Anna의 전화번호가 뭐야?", "korean"),
        ("2024 – 12", ""),
    ],
)
def test_tongue_of(text: str, tongue: str) -> None:
    assert tongue_of(text) == tongue


def test_most_texts_decide() -> None:
    assert main_tongue(["Where was I with 李梅?", "What is it?", "房东叫什么名字?", "12"]) == "english"
