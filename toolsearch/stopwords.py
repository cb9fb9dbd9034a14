"""Words that say nothing about which tool is meant, per language. Written folded: small letters, no accents.

The English list is large on purpose: requests to a model are full of polite and helping words, and leaving
them out is worth several points of ranking quality. The other lists also serve to guess a text's language.
"""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a about above across after again against all almost along already also although always am among an and another any
anybody anyone anything anyway are aren around as ask asked asking at away back be became because been before began
behind being below between both but by call called came can cannot could couldn d did didn do does doesn doing don done
down during each either else enough especially etc even ever every everybody everyone everything exactly example few find
for from further gave get gets getting give given gives giving go goes going gone got had hadn has hasn have haven having
he hello help helped helping helps her here hers herself hey hi him himself his how however i if in instead into is isn
it its itself just keep kind kindly know known knows let lets like likes ll look looked looking looks lot m made make
makes making many may maybe me mean might mine more most mostly much must my myself need needed needing needs neither
never next no nobody none nor not nothing now of off often oh ok okay on once one ones only onto or other others our ours
ourselves out over own per perhaps please possible possibly provide provided provides providing put quite rather re
really s said same say see seem seems shall she should shouldn show showed showing shown shows since so some somebody
someone something soon still such sure t take taken takes taking tell telling tells than thank thanks that the their
theirs them themselves then there these they thing things think this those though through thus to together too took
toward try trying turn u under until up upon us use used useful user uses using usually ve very via want wanted wanting
wants was wasn way we well were weren what whatever when where whether which while who whole whom whose why will with
within without won wonder wondering would wouldn yes yet you your yours yourself
"""
_GERMAN = """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte brauche da
damit dann das dass dein deine dem den denn der des die dies diese diesem diesen dieser dieses dir doch dort du durch ein
eine einem einen einer eines er es etwas euch fur gib gibt haben habe hat hier hilf ich ihm ihn ihnen ihr ihre im in ist
ja jede jeden jeder jetzt kann kannst kein keine konnen konnte konntest man mehr mein meine meinem meinen meiner mich mir
mit mochte muss nach nicht noch nun nur ob oder ohne schon sehr sei sein seine sich sie sind so soll sollen sollte uber um
und uns unser unsere unter vom von vor war was welche welchen welcher wenn wer werden wie wieder will wir wird wo wurde zu
zum zur zwischen
"""
_SPANISH = """
a al algo algun alguna ante antes aqui asi aun ayuda ayudame con como cual cuales cuando cuanto cuantos de del desde donde
dos el ella ellos en entre era es esa ese eso esta estan estar estas este esto estos fue ha haber hace hacer hasta hay la
las le les lo los mas me mi mis mucho muy nada necesito ni no nos nuestra nuestro o os otra otro para pero poco podria
podrias por porque puede puedes puedo que quien quiero quisiera se sea ser si sin sobre solo son su sus tambien te tengo
tiene todo todos tu tus un una uno unos y ya yo
"""
_FRENCH = """
a afin ai aide ainsi alors apres au aucun aussi autre aux avant avec avoir ayant besoin bien c ce cela ces cet cette chaque
combien comme comment d dans de depuis des dois donc du elle elles en encore entre est et etait etre eu faire fait faut ici
il ils j je jusqu l la le les leur leurs lui ma mais me meme mes moi mon n ne nos notre nous on ont ou par pas peu peut
peux plus pour pourquoi pourrais pourriez qu quand que quel quelle quelles quels qui s sa sans se ses si sil son sont sous
sur ta te tes toi ton tous tout toute toutes tres tu un une veux voudrais vos votre vous y
"""
_PORTUGUESE = """
a ao aos ajuda ajude aquela aquele as ate com como da das de dela dele depois do dos e ela ele eles em entre era essa esse
esta estao estar este eu foi gostaria ha isso isto ja la lhe mais mas me meu meus minha minhas muito na nao nas nem no nos
nossa nosso num numa o onde os ou para pela pelas pelo pelos por porque pode poderia posso preciso qual quais quando que
quem quero se sem ser seu seus so sobre sua suas tambem te tem tenho todo todos tu um uma umas uns voce
"""
_ITALIAN = """
a ad agli ai al alla alle anche ancora avere c che chi ci come con cosa cui da dagli dai dal dalla dalle de degli dei del
della delle di do dobbiamo dopo dove e ed era essere fa fare gli ha hai hanno ho i il in io l la le lei li lo loro lui ma
mi mia mie miei mio molto ne nei nel nella nelle no noi non nostra nostro o ogni per perche piu po poi posso potresti
prima puo puoi qual quale quali quando quanto quella quello questa queste questi questo qui se sei senza si sia sono su
sua sul sulla suo sulle suoi ti tra tu tua tuo tutti tutto un una uno vi voglio vorrei
"""
_RUSSIAN = """
а без бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если есть еще же за и
из или им их к как какая какие какой ко когда кто ли мне мной могу может можно мой моя мы на над надо нам нас наш не него
нее нет ни них но ну нужно о об он она они оно от очень по под пожалуйста помоги помогите при про с свой себя со так также
такой там те тем то того тоже той только том ты у уже хочу чего чем что чтобы эта эти это этого этой этом этот я
"""

STOP_WORDS: Final[dict[str, frozenset[str]]] = {
    "en": frozenset(_ENGLISH.split()),
    "de": frozenset(_GERMAN.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "it": frozenset(_ITALIAN.split()),
    "ru": frozenset(_RUSSIAN.split()),
}
"""language -> folded words"""
