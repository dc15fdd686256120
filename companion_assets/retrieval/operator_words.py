"""The words by which a question demands, excludes or orders, in the languages of those who ask.

Alternatives of regular expressions, for text as it was written (any letter case). A word that means something else
as often (`besides`, `first`, `last`) is missing, or stands only in the company that settles it.
"""

# Small words that may stand between "only" and what it demands: in my / from the / …
IN = r"in|on|at|from|within|under|im|aus|unter|bei|en|de|del|dans|dentro|em|no|na|nos|nas|nel|nella|nei|da|do|di"
THE = (
    r"the|my|our|a|an|all|notes?|entries|passages|those|den|dem|der|die|das|des|meine?[mnrs]?|unsere?[mnrs]?|notizen|einträgen?"
    r"|el|la|los|las|mi|mis|nuestr[oa]s?|notas?|le|les|l|mon|ma|mes|nos|o|os|as|meus?|minhas?|il|lo|gli|mio|mia|miei|note"
)
FOLDER = (
    r"folders?|director(?:y|ies)|ordner[sn]?|verzeichnis(?:se)?|carpetas?|dossiers?|répertoires?|cartell[ae]|pastas?"
    r"|mappen?|папк\w+"
)
FOLDER_UNSPACED = r"文件夹|文件夾|資料夾|资料夹|目录|目錄|フォルダー?|폴더"
TAG = (
    r"tags?|tagged|hashtags?|schlagw[oö]rt(?:er)?|getaggt|etiquetas?|etiquetad[oa]s?"
    r"|étiquettes?|étiqueté[es]*|mots?-clés?"
)
CALLED = r"called|named|with|as|namens|mit|als|llamad[oa]|con|como|nommé|avec|chamad[oa]|com|chiamat[oa]"
ONLY = (
    r"only|solely|exclusively|nur|ausschlie(?:ß|ss)lich|solo|sólo|solamente|únicamente|unicamente|uniquement"
    r"|seulement|exclusivement|apenas|somente|só|soltanto|exclusivamente|esclusivamente"
)
ONLY_UNSPACED = r"只在|只从|只從|只看|只搜索|只找|仅在|仅限|僅在|仅从"
ONLY_UNSPACED_AFTER = r"だけ|のみ|만"

# After these follows what is not wanted.
EXCEPT = (
    r"except(?:ing)?(?:\s+for)?|excluding|other\s+than|apart\s+from|aside\s+from|not\s+counting"
    r"|außer|ausgenommen|abgesehen\s+von|mit\s+ausnahme\s+(?:von|der|des)"
    r"|excepto|exceptuando|excluyendo|aparte\s+de|sauf|excepté|hormis|à\s+part|à\s+l['’]exception\s+d[eu]"
    r"|exceto|excetuando|à\s+exceção\s+d[eao]|tranne|eccetto|ad\s+eccezione\s+d(?:i|el|ella)"
)
WITHOUT = r"without|ohne|sin|sans|sem|senza"
NAMING = (
    r"mention(?:ing|s)?(?:\s+of)?|naming|the\s+words?|erwähnung\s+von|das\s+wort|mencionar|la\s+palabra"
    r"|mentionner|le\s+mot|mencionar|a\s+palavra|menzionare|la\s+parola"
)
# A request for a list: then "without" says what shall not be in it. "A week without coffee" is about coffee.
LISTING = (
    r"list|show|find|give|search|which|zeige?|finde?|suche?|liste|nenne|welche[rnms]?|muestra(?:me)?|busca|lista|dame"
    r"|encuentra|qué|cuáles|montre|cherche|trouve|donne|quel(?:le)?s?|mostra(?:mi)?|cerca|trova|elenca|quali"
    r"|mostre|procure|encontre|liste|quais"
)
BUT = r"but|aber|pero|mais|mas|ma"
NOT = r"not|nicht|no|pas|não|nao|non"
NEAR = (
    r"in|at|from|with|about|on|for|by|mit|bei|von|aus|über|auf|zu|en|de|con|sobre|por|para|dans|avec|à|chez|sur|pour"
    r"|em|com|no|na|di|da|su|per|a"
)
TOWARDS = r"to|nach|zum|zur|vers|hacia|hasta|para|verso"
# Before a "not" that belongs to the verb, not to what follows.
VERBS = (
    r"i|you|he|she|it|we|they|do|does|did|am|is|are|was|were|be|been|being|have|has|had|can|could|will|would|shall|should"
    r"|may|might|must|why|if|or|whether|when|what|ought|need|there|this|that|and|also|still|just|so|than|as|to|certainly"
)
# After a "not" that means something else.
NOT_OBJECTS = (
    r"sure|yet|now|only|just|really|that|so|much|many|all|always|even|enough|too|because|to|any|anymore|at|again|true|right"
    r"|wahr|mehr|nur|immer|ganz|sicher|später|later|really|exactly|until|before|ever|in\s+(?:the\s+end|time|fact|general)"
    r"|at\s+(?:all|once|home)|on\s+(?:time|purpose)|for\s+(?:long|sale|me|us)"
)
EXCLUDING_UNSPACED = r"(?:不包括|不包含|不含|不要)"

_SOMEBODY = r"(?:i|we|he|she|they|you|it|(?-i:[A-ZÀ-ÖØ-ÞА-Я][\w'’.]*(?:\s+[A-ZÀ-ÖØ-ÞА-Я][\w'’.]*)?))"
# Phrases that ask for the newest, and for the oldest.
NEWEST = (
    r"last\s+time|latest|most\s+recent(?:ly)?|newest"
    rf"|(?:did|have|has|was|were|had)\s+{_SOMEBODY}\s+last(?=\s)"
    r"|last\s+(?:entry|entries|note|mention(?:ed)?|visit(?:ed)?|trip|meeting|appointment|conversation|call|saw|seen|met|heard)"
    r"|letzt(?:es|en|e)\s+mal|zuletzt|neuest(?:e[mnrs]?|ens)|aktuellste[mnrs]?|letzte[mnrs]?\s+(?:eintrag|notiz|besuch|treffen)"
    r"|última\s+vez|ultima\s+vez|más\s+recientes?|mais\s+recentes?|último\s+(?:apunte|registro)|última\s+(?:nota|entrada|visita)"
    r"|dernière\s+fois|plus\s+récemment|plus\s+récente?s?|dernière\s+(?:note|entrée|visite)"
    r"|ultima\s+volta|più\s+recent[ei]|ultima\s+(?:nota|visita)"
)
NEWEST_UNSPACED = r"上次|上一次|最近一次|最后一次|最後一次|最新|最後に|前回|一番新しい|마지막으로|최신|가장 최근"
OLDEST = (
    r"first(?:\s+and\s+(?:the\s+)?last)?\s+time|earliest|oldest\s+(?:entry|entries|note|mention|record|page|one)"
    rf"|(?:did|have|has|was|were|had)\s+{_SOMEBODY}\s+first(?=\s)"
    r"|first\s+(?:entry|note|mention(?:ed)?|visit(?:ed)?|saw|met|heard)"
    r"|erst(?:es|en|e)\s+mal|früheste[mnrs]?|älteste[mnrs]?\s+(?:eintrag|notiz)|erste[mnrs]?\s+(?:eintrag|notiz)"
    r"|primera\s+vez|primeira\s+vez|más\s+antigu[oa]s?|mais\s+antig[oa]s?"
    r"|première\s+fois|plus\s+anciens?|plus\s+anciennes?|prima\s+volta|più\s+(?:antic[oahie]+|vecchi[oae]?)"
)
OLDEST_UNSPACED = r"第一次|首次|最早|初めて|最初に|一番古い|最も古い|처음으로|가장 오래된"
# These ask for what is new only where no day is named: "in March he had lately been ill" is about March.
LATELY = (
    r"lately|these\s+days|nowadays|recently(?=\s*(?:[?.!,]|$))|neulich|kürzlich|in\s+letzter\s+zeit|últimamente|recientemente"
    r"|ultimamente|dernièrement|récemment|recentemente|di\s+recente"
)
LATELY_UNSPACED = r"最近|近来|近來|요즘|최근"
