"""Month and weekday names, January and Monday first; "/" between the forms of one name.

From Unicode CLDR by way of Babel, which a test holds this against. They stand here because Babel takes 4 ms a language
at each start of a command and 36 MB of disk for what is a page of words.
"""

MONTHS = {
    "en": (
        "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct "
        "november/nov december/dec"
    ),
    "de": (
        "januar/jan februar/feb märz/mär april/apr mai juni/jun juli/jul august/aug september/sep/sept "
        "oktober/okt november/nov dezember/dez"
    ),
    "es": (
        "enero/ene febrero/feb marzo/mar abril/abr mayo/may junio/jun julio/jul agosto/ago septiembre/sept "
        "octubre/oct noviembre/nov diciembre/dic"
    ),
    "fr": (
        "janvier/janv février/févr mars avril/avr mai juin juillet/juil août septembre/sept octobre/oct "
        "novembre/nov décembre/déc"
    ),
    "pt": (
        "janeiro/jan fevereiro/fev março/mar abril/abr maio/mai junho/jun julho/jul agosto/ago setembro outubro "
        "novembro/nov dezembro/dez"
    ),
    "it": (
        "gennaio/gen febbraio/feb marzo/mar aprile/apr maggio/mag giugno/giu luglio/lug agosto/ago settembre "
        "ottobre/ott novembre/nov dicembre/dic"
    ),
    "nl": (
        "januari/jan februari/feb maart/mrt april/apr mei juni/jun juli/jul augustus/aug september/sep "
        "oktober/okt november/nov december/dec"
    ),
    "sv": (
        "januari/jan februari/feb mars april/apr maj juni juli augusti/aug september/sep oktober/okt november/nov "
        "december/dec"
    ),
    "da": (
        "januar/jan februar/feb marts/mar april/apr maj juni/jun juli/jul august/aug september/sep oktober/okt "
        "november/nov december/dec"
    ),
    "nb": "januar februar mars april mai juni juli august september oktober november desember",
    "pl": (
        "styczeń/stycznia luty/lutego/lut marzec/marca/mar kwiecień/kwietnia/kwi maj/maja czerwiec/czerwca/cze "
        "lipiec/lipca sierpień/sierpnia wrzesień/września/wrz październik/października/paź listopad/listopada "
        "grudzień/grudnia/gru"
    ),
    "ru": (
        "январь/января/янв февраль/февраля/февр март/марта/мар апрель/апреля/апр май/мая июнь/июня/июн "
        "июль/июля/июл август/августа/авг сентябрь/сентября/сент октябрь/октября/окт ноябрь/ноября/нояб "
        "декабрь/декабря/дек"
    ),
    "uk": (
        "січень/січня лютий/лютого березень/березня квітень/квітня травень/травня червень/червня липень/липня "
        "серпень/серпня вересень/вересня жовтень/жовтня листопад/листопада грудень/грудня"
    ),
    "cs": (
        "leden/ledna únor/února březen/března duben/dubna květen/května červen/června červenec/července "
        "srpen/srpna září říjen/října listopad/listopadu prosinec/prosince"
    ),
    "fi": (
        "tammikuu/tammikuuta helmikuu/helmikuuta maaliskuu/maaliskuuta huhtikuu/huhtikuuta toukokuu/toukokuuta "
        "kesäkuu/kesäkuuta heinäkuu/heinäkuuta elokuu/elokuuta syyskuu/syyskuuta lokakuu/lokakuuta "
        "marraskuu/marraskuuta joulukuu/joulukuuta"
    ),
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "ro": "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "tr": "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "hu": "január február március április május június július augusztus szeptember október november december",
    "el": (
        "ιανουάριος/ιανουαρίου φεβρουάριος/φεβρουαρίου μάρτιος/μαρτίου απρίλιος/απριλίου μάιος/μαΐου "
        "ιούνιος/ιουνίου ιούλιος/ιουλίου αύγουστος/αυγούστου σεπτέμβριος/σεπτεμβρίου οκτώβριος/οκτωβρίου "
        "νοέμβριος/νοεμβρίου δεκέμβριος/δεκεμβρίου"
    ),
    "id": "januari februari maret april mei juni juli agustus september oktober november desember",
    "th": "มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม",
}

# Those that are also common words, names of people or of planets, folded: they count behind a word such as "in".
_DOUBTFUL = (
    "may march april june august mai mars mei maj maja mayo juni juli julio julho abril avril augustus marca maio "
    "mart nisan ekim ocak eylul maret marts luty mayis maig marc"
)
DOUBTFUL = frozenset(_DOUBTFUL.split())

WEEKDAYS = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "es": "lunes martes miércoles jueves viernes sábado domingo",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "pt": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "nl": "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "sv": "måndag tisdag onsdag torsdag fredag lördag söndag",
    "pl": "poniedziałek wtorek środa czwartek piątek sobota niedziela",
    "ru": "понедельник вторник среда четверг пятница суббота воскресенье",
}
