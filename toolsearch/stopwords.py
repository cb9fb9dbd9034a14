"""Words that say nothing about which tool is wanted, by language. Written for requests to software.

The English list is large on purpose: besides the grammar words it holds what every request is made of ("I want
you to help me find..."), because such words would match helpers and examples all over a catalog.
"""

from __future__ import annotations

from typing import Final

_ENGLISH = """
a about above across actually after again against all almost along already also although always am among an and
another any anybody anyone anything are aren around as ask asked asking at away back be because been before being
below between both but by came can cannot come could couldn d did didn do does doesn doing don done down during each
either else enough etc even ever every everybody everyone everything exactly few find finding for from further get
gets getting give given gives giving go goes going gonna got had hadn has hasn have haven having he help helpful
helping helps hello her here hers herself hey hi him himself his how however i if in instead interested into is isn it
its itself just keep kind kindly knew know knowing known knows let lets like liked likes ll look looked looking looks
lot m made make makes making many may maybe me mean might mine more most much must my myself need needed needing needs
neither never no nor not nothing now o of off often oh ok okay on once one ones only onto or other others otherwise
ought our ours ourselves out over own perhaps please possible possibly pretty probably provide provided provides
providing quite rather re really regarding s said same say says see seem seems shall shan she should shouldn show
showing shows since so some somebody somehow someone something still such sure t tell telling tells than thank thanks
that the their theirs them themselves then there therefore these they thing things think this those though through
thus till to together too toward towards tried try trying unless until up upon us use used useful user uses using
usually utilize various ve very via wanna want wanted wanting wants was wasn way we well went were weren what whatever
when whenever where whether which while who whoever whole whom whose why will willing wish with within without won
wonder wondering would wouldn yes yet you your yours yourself yourselves able tool tools function functions api
"""

_GERMAN = """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei bin bis bitte bist da dabei damit
danach dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch dort du
durch ein eine einem einen einer eines er es etwas euch für gegen gibt gib habe haben hat hatte hier ich ihm ihn ihnen
ihr ihre ihren im in ist ja jede jeden jeder jetzt kann kannst können könnte könnten man mal mehr mein meine meinem
meinen meiner mich mir mit möchte möchten muss müssen nach nicht nichts noch nur oder ohne sehr sein seine seinen sich
sie sind so soll sollen sowie über um und uns unser unsere unter vom von vor war was wenn wer werden wie will wir wird
wo wollen würde zu zum zur zwischen
"""

_SPANISH = """
a al algo algún alguna algunos ante así aún cada como cómo con cual cuál cuales cuando cuándo cuanto cuánto de del
desde donde dónde dos e el él ella ellas ellos en entre era es esa ese eso esta está están este esto estos favor fue
ha hacer hacia han has hasta hay haz he la las le les lo los me mi mí mis mucho muy más necesito no nos nosotros
nuestra nuestro o otra otro para pero poder podría por porque puede puedes puedo que qué quien quiero quisiera se ser
si sí sin sobre son soy su sus también tanto te tengo tiene tienes todo todos tu tus un una unas uno unos usted y ya
yo
"""

_FRENCH = """
à ai aider as au aucun aussi autre autres aux avec avez avoir c ce cela ces cet cette ceux chaque comme comment d dans
de depuis des dire donc donne dont du elle elles en entre es est et être eu eux fait faire faut il ils j je l la le
les leur leurs lui m ma mais me même mes moi mon n ne nos notre nous on ou où par pas peut peux plus pour pourquoi
pouvez puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si son sont sous suis sur t ta te
tes toi ton tous tout toute toutes très tu un une veux voir vos votre voudrais vous y
"""

_PORTUGUESE = """
a à ao aos às algum alguma as até com como cada da das de dela dele desde do dos e é ela elas ele eles em entre era
essa esse esta está estão este eu favor foi há isso isto já lhe mais mas me mesmo meu meus minha minhas muito na nas
não nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos pode poderia por porque posso preciso qual
quais quando que quem quero se sem ser seu seus só sobre são sua suas também te tem tenho ter teu todos tudo tu um uma
umas uns você vocês
"""

_ITALIAN = """
a ad agli ai al alla alle allo anche avere c che chi ci cioè come con cosa cui da dagli dai dal dalla dalle de degli
dei del dell della delle dello di dove e è ed era essere essi fa fare favore gli ha hai hanno ho i il in io l la le
lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle no noi non nostra nostro o ogni per
perché però più posso possiamo potrei può puoi qual quale quali quando quanto quello questa queste questi questo qui
se sei senza si sia siamo sono su sua sue sugli sui sul sulla suo suoi tra tu tua tuo tutti tutto un una uno vi voglio
vorrei
"""

_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всё всех вы где да для до его ее её если есть ещё еще
же за здесь и из или им их к как какая какие какой ко когда которая которые который кто ли либо лучше мне можно мой
моя мы на над надо наш не него нет нужно нужен нужна но ну о об один однако он она они оно от очень по под пожалуйста
после потом при про с свой своего себя сейчас со так также такой там те тем то тоже только том тот ты у уже хочу чего
чем через что чтобы эта эти это этого этой этот я
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
"""Stop words by ISO 639-1 code, lower case, with their accents."""
