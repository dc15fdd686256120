"""Function words of languages: they tell which language a text is in, and say nothing of what it is about."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache

from companion_assets.stores.folding import fold
from companion_assets.stores.terms import Word, words

# Words that are plain nouns in another of these languages (war, man, son, sea, era, todo …) are missing on purpose:
# where they are function words they are common, and weigh little anyway.
_OF_ANY_QUESTION = {
    "english": """
        a about after again all also am an and any are as at be because been before being but by can could did
        do does doing done for from get got had has have having he her here hers him his how i if in into is
        it its just kind know let like made make many me more most much must my no nor not now of off on once
        one only or other our out over own please said same say says shall she should so some still such tell
        than that the their them then there these they thing things this those through to too under until up
        us very was we were what when where which while who whom whose why will with would you your
    """,
    "german": """
        aber alle als auch auf aus bei bis bist da dann das dass dein dem den der des diese diesem diesen
        dieser doch du durch ein eine einem einen einer eines er es habe haben hatte hatten ich ihm ihn ihr
        ihre im ist ja kann kein keine mein meine meinem meinen meiner mich mir mit nach nicht noch nur ob
        oder ohne sehr sein seine sich sie sind uber um und uns unser vom von vor wann waren warum weil welche
        welchem welchen welcher welches wem wen wenn wer werden wie wieder wir wird wo wohin woher wurde
        wurden zu zum zur
    """,
    "spanish": """
        algo antes aqui asi aunque cada como cual cuales cuando cuanto cuantos de del desde donde ella ellas
        ellos en entre eran eres esa ese eso esta estaba este esto fue fueron habia han hasta la las le les
        los mas mi mucho muy nada ni nos nosotros nuestra nuestro o para pero por porque que quien quienes se
        ser si sido sobre su sus tambien te tiene tener tu un una uno unos y ya yo
    """,
    "french": """
        au aux avait avec avez avons ce ces cet cette combien comment dans dois doit donc dont elle elles est
        et etait ete etre eu il ils j je l leur leurs lui mais meme mes moi ne notre nous ont ou par pas
        pendant pourquoi qu quand quel quelle quelles quels qui quoi sa sans ses sont sur tes toi tous tout
        tres une vos votre vous
    """,
    "portuguese": """
        ao aos com da dela dele e ela ele eles em essa esse estava eu foi foram isso isto ja mais mas meu meus
        minha minhas muito na nao nas nem num numa onde os ou pela pelo qual quais quem sao seu seus sua suas
        tem tenho ter tinha tive um uma voce
    """,
    "italian": """
        anche che chi ci cosa cui dai dal dalla degli dei della delle di erano gli ha hai hanno ho io lo loro
        mia mie miei mio negli nei nel nella non perche piu quale quali quando quanto quella quelle quello
        questa queste questo sei sono stato sua sue sugli sul sulla suo tra
    """,
}
# Taken for function words only in a question of this very language.
_OF_OWN_QUESTIONS = {
    "english": "may might shall were since upon",
    "german": """
        bin war am an ab die so was man hat hast wollte sollte konnte musste dazu dabei dort hier hatte fur in beim
        viel viele mehr soll sollten laut etwas dir dich euch ihnen ihrem ihren seinem seinen seiner unsere unserem
        unseren unserer dieses jede jeder jedes jedem wieviel wessen hab gibt gab ins ans gegen seit wegen wahrend
        schon mal denn wozu womit woran wofur woruber worum
    """,
    "spanish": """
        el lo al con sin me es era son eramos cuanta cuantas mis tus ha he hay hemos fuimos estamos e u cuya cuyo
        hubo tuve tuvo estan estuve nuestros nuestras esos esas aquel aquella fui hacer hizo hice
    """,
    "french": """
        le la les un de des du en on ma mon ta ton son que si se y a ai as sous ca avais avions sommes suis etais
        pour t n d s m fait faire faut chez vers depuis cela ceci celle celui ceux fut furent ete nos vos ces aussi
    """,
    "portuguese": """
        o a os as um uma de do dos das no por para que se me foi era como quando com porque sobre quanto temos fomos
        estou esta estavam este estes estas nosso nossa nossos nossas ate entre sem fui ha havia onde fiz fez fazer
        quantos quantas quanta estao
    """,
    "italian": """
        il la le i un uno una e o a da in con su per se mi si era come dove che al del alla abbiamo avevo aveva
        avevamo siamo ero stata nostro nostra nostri nostre fa fare fatto alle agli sia ed quest
    """,
    "dutch": """
        aan al als bij dat de den der deze die dit door een en er ook op of over te tot uit van voor was wat we wel
        wie hoe ik je jij hij zij haar hem het hun in is maar me met mij mijn moet naar niet nog nu om ons onze waar
        waarom wanneer welke werd worden zijn zou zijn heb hebben heeft had hadden ben bent hebt zullen zal kan kon
        konden wil wilde geen veel hen daar hier
    """,
    "swedish": """
        alla att av blev bli da de dem den denna det dig din du efter ej eller en er ett for fran han har hade
        hon hur i inte ja jag kan man med men mig min mina mitt mot mycket nar nagon nagot ni nu och om oss pa
        sa sig sin ska skulle som till under upp ut vad var vara vem vi vid vilken vilket varfor ar at
    """,
    "danish": """
        af alle at blev blive da de dem den denne der deres det dig din du efter eller en er et for fra ham
        han har havde hende her hos hun hva hvad hvem hvilken hvor hvordan hvorfor hvornar i ikke ind ja jeg
        kan man med meg men mig min mine mit mot mye nar nei noe noen og om op opp over pa sa seg sig sin skal
        som til ud um under ut vaere var vi vil ville
    """,
    "finnish": """
        ei ja oli olen on ole olla ovat se siina sen sita han hanen mina minun minulla minulle sina sinun mita
        mika missa milloin miksi miten kuka kenen kuin kun jos mutta myos vain tai etta joka jotka nyt sitten
        taas viela kanssa tama taman tuo meidan olivat
    """,
    "polish": """
        ale bo by byl byla bylo byly co czy dla do gdzie gdy go i ile ich ja jak jaki jaka jakie jako jej jego
        jest jestem juz kiedy kto ktora ktore ktory ma mam mi mialem mnie mnia moj moja moje na nie o od ona
        one oni oraz po pod przed przez przy sa sie tak tam te tego ten to tu tylko w we z za ze
    """,
    "czech": """
        a aby ale ani az bez bude by byl byla bylo byly byt co coz do ho i ja jak jake jako je jeho jej jeji
        jen jeste ji jiz jsem jsi jsme jsou k kam kde kdo kdy kdyz ke kolik ktera ktere ktery ma mam mezi mi
        mne moje moji muj na nad nebo neni o od po pod podle pro proc proti s se si sve ta tak take tam te ten
        to tom tu u uz v ve vsak z za ze
    """,
    "hungarian": """
        a az es egy hogy nem is volt van voltak vagy de ha meg mar csak ez ezt azt mi mit ki kit hol hova
        honnan mikor miert hany milyen melyik en te o mi ti ok nekem neki engem minden mint akkor itt ott majd
        most lesz lett
    """,
    "romanian": """
        a ai al am ar are as au ca cand cat cate ce cel cea cei cele cine cu cum da dar de despre din dupa ea
        ei el ele este eu fi fost iar il im in intr isi la lui ma mai mea mei mele meu mi ne nici nu o or pe
        pentru prin sa sau se si spre sunt te un una unde unei unui va
    """,
    "turkish": """
        acaba ama ben bana beni benim bir bu bunu cok da daha de degil diye gibi hangi hem her hic icin ile
        ise kac kadar ki kim kime mi mu ne neden nasil nerede nereye ne ya o olan olarak oldu on onun sen
        sonra su var ve veya vardi ya yok zaman
    """,
    "indonesian": """
        ada adalah akan aku apa atau bagaimana berapa bisa dalam dan dari dengan di dia di ini itu juga kapan
        karena ke kepada kita kami lagi mana mereka oleh pada saat saya sudah siapa telah tidak untuk yang
    """,
    "vietnamese": """
        la va cua co khong cho cac nhung mot duoc trong nay do voi den tu khi nao gi ai o dau bao nhieu tai
        sao toi minh ban da se dang thi ma rang cung nhu ve ra vao
    """,
    "russian": """
        а без был была были было быть в вам вас во вот все всего вы где да для до его ее если еще же за и из
        или им их к как какая какие какои какую когда который которая кто куда ли лет мне мои моя мое меня
        может мы на над нам нас не него нее нет ни них но о об он она они оно от откуда очень по под почему
        при с сам свои со сколько так там тебе тем то тоже только ты у уже чего чем что чтобы эта эти это этот
        я
    """,
    "greek": """
        αλλα απο αυτα αυτη αυτο αυτος για γιατι δεν εγω ειναι εκει ενα ενας ειχα ειχε εχω εχει ηταν η θα και
        κατα μας με μου μια μετα μην να ο οι ολα οπως οταν οτι ποιος ποια ποιο ποσο ποτε που πως πριν σας σε
        στη στην στις στο στον στους στα τα τη την της τι τις το τον του τους των ως
    """,
    "arabic": """
        في من الي علي عن ما ماذا متي اين كيف لماذا كم هل هو هي هم انا انت نحن هذا هذه ذلك تلك التي الذي كان
        كانت لم لن لا او ثم قد مع بعد قبل عند كل بين اي و ان لي له لها
    """,
    "persian": """
        و در به از که این است را با برای آن یک من تو او ما شما چه کی کجا چرا چگونه چند بود هست شد شده کرد می هم تا یا
        اما پیش بعد
    """,
    "hebrew": """
        של את על עם אל מה מי מתי איפה איך למה כמה האם זה זו זאת אני אתה את הוא היא אנחנו הם היה היתה לא כן או
        גם כי אם אבל רק עוד כל לי לו לה שלי שלו שלה אשר
    """,
    "hindi": """
        का के की को से में पर ने है हैं था थी थे हो और या कि जो यह वह ये वे मैं मेरा मेरी मेरे मुझे हम हमारा
        आप तुम क्या कब कहां कौन क्यों कैसे कितना कितने कितनी किस किसने नहीं भी तो ही एक इस उस लिए साथ
    """,
    "chinese": """
        什么 什麼 什么时候 什麼時候 我的 你的 他的 她的 我们 我們 他们 他們 怎么 怎麼 怎么样 怎麼樣 怎样 怎樣 为什么
        為什麼 哪里 哪裡 哪儿 哪个 哪個 哪天 哪些 几点 几个 多少 多久 是什么 是谁 是誰 是否 了吗 了嗎 吗的 的是 在哪
        我在 我是 是我 了我 我把 有没 没有 沒有 这个 這個 那个 那個 一个 一個 一次 关于 關於 不是 如何 里的 上的 时的
        之后 之前
    """,
    "japanese": """
        です でした ます ました ません ですか ますか ましたか たか ので のは のが のに では とは には から まで って
        ている いた ある あった あり たの いつ どこ だれ なに なん なぜ どう どの した して した たち 私の 私は 私が
        何を 何で 何時 何か 何本 何回 何人 誰が 誰と 誰に どんな どちら もの こと 教えて この その あの ください よう
        れた れる しい について のこと という でしょう をし んで いくら いくつ
    """,
    "korean": """
        에서 으로 에게 까지 부터 니까 습니다 었습 했습 입니다 언제 어디 어디에 무엇 뭐가 뭐였 누구 누가 어떻게 얼마
        얼마나 왜요 나요 인가 가요 은데 는데 였지 었지 했지 있었 었나 했나 나는 내가 나의 우리 그리고 하는 하고 했던
        던가 무슨 어떤 몇시 제가 저의
    """,
    "thai": "เมื่อไหร่ เมื่อไร ที่ไหน อะไร ใคร ทำไม อย่างไร ยังไง เท่าไหร่ เท่าไร ของฉัน ของผม และ ที่ ว่า ได้ ไหม",
}
_UNSPACED = ("chinese", "japanese", "korean", "thai")

# Letters that few other languages have.
_LETTERS = {
    "german": "ß", "spanish": "ñ", "french": "œù", "portuguese": "ãõ", "polish": "ąęłńśźż", "czech": "ěřů",
    "hungarian": "őű", "romanian": "ățș", "turkish": "ğış", "swedish": "å", "danish": "åæø",
    "vietnamese": "ăđơư", "persian": "پچژگ",
}  # fmt: skip
_LETTER_SHARE = 0.5  # of what a function word counts
_SURE = 1.0
_AHEAD = 1.2


@cache
def function_words(language: str) -> frozenset[str]:
    """What a question in this language may leave out, folded; of "" the words that are nouns in no other of the six."""
    own = " ".join(listed[language] for listed in (_OF_ANY_QUESTION, _OF_OWN_QUESTIONS) if language in listed)
    return frozenset(fold(own or " ".join(_OF_ANY_QUESTION.values())).split())


@cache
def filler_pairs() -> frozenset[str]:
    """What a question may leave out of runs of signs without spaces: pairs, as `terms` cuts them."""
    return frozenset(pair for language in _UNSPACED for pair in _cut(_OF_OWN_QUESTIONS[language]))


def language_of(found: Iterable[Word]) -> str:
    """The language of a text, as snowball names it, or "" if neither function words nor letters say.

    What several languages share counts for each of them a part.
    """
    votes: defaultdict[str, float] = defaultdict(float)
    shares, letters = _shares_of_terms(), _shares_of_letters()
    for word in found:
        for term in word.terms:
            for language, share in shares.get(term, ()):
                votes[language] += share
        if not word.spelled.isascii():
            for letter in letters.keys() & set(word.spelled):
                for language, share in letters[letter]:
                    votes[language] += share * _LETTER_SHARE
    first = max(sorted(votes), key=votes.__getitem__, default="")
    others = max((vote for language, vote in votes.items() if language != first), default=0.0)
    return first if votes[first] >= max(_SURE, _AHEAD * others) else ""


@cache
def _shares_of_terms() -> dict[str, list[tuple[str, float]]]:
    listed = (_OF_ANY_QUESTION, _OF_OWN_QUESTIONS)
    return _shares((term, name) for part in listed for name, written in part.items() for term in _cut(written))


@cache
def _shares_of_letters() -> dict[str, list[tuple[str, float]]]:
    return _shares((letter, name) for name, letters in _LETTERS.items() for letter in letters)


def _shares(pairs: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, float]]]:
    speakers: defaultdict[str, set[str]] = defaultdict(set)
    for sign, language in pairs:
        speakers[sign].add(language)
    return {sign: [(name, 1 / len(names)) for name in sorted(names)] for sign, names in speakers.items()}


def _cut(written: str) -> set[str]:
    return {term for word in words(written) for term in word.terms}
