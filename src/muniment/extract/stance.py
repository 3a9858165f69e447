"""How words are meant: asked, supposed, hedged, somebody else's, denied, or plainly said.

Judged from words and marks alone, in the sentence that holds the span and, for quotation marks, in its paragraph.
Errors go to the safe side: what is flagged waits for a person, and nothing is lost. English is covered well;
German, French, Spanish, Italian, Dutch, Chinese, Japanese and Korean by their commonest words and marks.

Time and memory are bounded by a fixed window, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final

WINDOW: Final = 1000
"""Characters looked at on each side of a span. A sentence that reaches further is judged by this part of it."""

LONG: Final = 20_000
"""Characters of a span that are judged; of a longer one the first and the last half of that."""


@dataclass(frozen=True, slots=True)
class Stance:
    """How words are meant. All false: said plainly.

    `first_person` is I, me, my, mine, myself. We and our do not count: they speak of a company or a family, which is
    often just what the claim is about.
    """

    question: bool = False
    hypothetical: bool = False
    hedged: bool = False
    reported: bool = False
    denied: bool = False
    first_person: bool = False

    @property
    def waits_for(self) -> str | None:
        """Why the words are no plain statement, in a few words; None when they are one."""
        for flag, reason in (
            (self.question, "the words are a question"),
            (self.denied, "the words are denied"),
            (self.hypothetical, "the words are a supposition"),
            (self.reported, "the words are somebody else's, quoted"),
            (self.hedged, "the words are hedged"),
        ):
            if flag:
                return reason
        return None


# Phrases by what they do and by language. A space stands for any white space, ' for any apostrophe; a phrase is found
# as whole words, in any case. Chinese, Japanese and Korean phrases are found anywhere.
PHRASES: Final[Mapping[str, Mapping[str, str]]] = {
    "hypothetical": {
        "en": "if | what if | suppose | supposing | assuming | assume we | imagine | hypothetically | let's say "
        "| unless | would | were we to | had we | had i",
        "de": "wenn | falls | angenommen | würde | würden | würdest | wäre | wären | hätte | hätten | sofern",
        "fr": "si je | si tu | si on | si nous | si vous | si elle | si elles | si ils | s'il | s'ils | si le | si la "
        "| si les | supposons | à supposer | en supposant | imaginons | au cas où",
        "es": "si yo | si tú | si él | si ella | si nosotros | si firmamos | si firmáramos | si el | si los | si las "
        "| si fuera | si no | supongamos | suponiendo | en caso de que",
        "it": "se io | se tu | se noi | se lui | se lei | se fosse | se firmassimo | se il | se la | se i "
        "| supponiamo | supponendo | nel caso in cui | ammesso che",
        "nl": "indien | stel dat | stel we | gesteld dat | zou | zouden | mits | tenzij",
        "zh": "如果 | 要是 | 假如 | 假设 | 倘若",
        "ja": "もし | 仮に",
        "ko": "만약 | 만일",
    },
    # Polite forms, which ask for something real. They are taken out before "hypothetical" and "hedged" are looked for.
    "polite": {
        "en": "would like | would prefer | would rather | would love | would appreciate | would be glad "
        "| would be happy | would be grateful | would you like | let me know if | if possible | if you please "
        "| if you don't mind | if i may | if anything | if not | as if by | iff | if and only if | supposed to",
        "de": "würde gern | würde gerne | würde lieber | hätte gern | hätte gerne | hätte lieber | wenn möglich "
        "| falls möglich",
        "nl": "zou graag | zou liever",
    },
    "hedged": {
        "en": "i think | i believe | i guess | i suppose | i assume | i thought | i reckon | i suspect | i doubt "
        "| i wonder | i'd say | i would say | i don't think | i do not think | i don't know | i do not know "
        "| i'm guessing | i am guessing | i imagine | maybe | perhaps | probably | possibly | presumably | apparently "
        "| seemingly | supposedly | allegedly | likely | unlikely | might've | might not | mightn't | could be "
        "| may be | may have | may not | may well | not sure | not certain | not entirely sure | unsure | uncertain "
        "| it seems | seems like | seems to | appears to | as far as i know | as far as i remember | afaik | iirc "
        "| if i remember | if i recall | something like | more or less | or so i hear | no idea",
        "de": "vielleicht | wahrscheinlich | vermutlich | möglicherweise | eventuell | ich glaube | ich denke "
        "| ich vermute | ich meine | ich schätze | nicht sicher | wohl | könnte | anscheinend | angeblich "
        "| soweit ich weiß",
        "fr": "peut-être | probablement | sans doute | je crois | je pense | je suppose | il me semble | pas sûr "
        "| pas sûre | pas certain | éventuellement | apparemment | il se peut",
        "es": "quizás | quizá | tal vez | probablemente | posiblemente | a lo mejor | creo que | pienso que "
        "| supongo que | no estoy seguro | no estoy segura | puede que | puede ser | me parece",
        "it": "forse | probabilmente | magari | può darsi | credo che | credo di | penso che | suppongo "
        "| non sono sicuro "
        "| non sono sicura | mi sembra | mi pare | a quanto pare",
        "nl": "misschien | waarschijnlijk | mogelijk | wellicht | vermoedelijk | ik denk | ik geloof | ik vermoed "
        "| niet zeker | blijkbaar",
        "zh": "也许 | 可能 | 大概 | 或许 | 我觉得 | 我想是 | 我猜 | 好像 | 不确定 | 似乎 | 恐怕",
        "ja": "かもしれ | かも知れ | たぶん | 多分 | おそらく | と思う | と思います | でしょう | だろう | らしい "
        "| ようです",
        "ko": "아마 | 어쩌면 | 것 같아 | 것 같습니다 | 것 같다 | 것 같은데 | 지도 모르 | 혹시 | 글쎄",
    },
    "reported": {
        "en": "according to | was told | were told | i heard | i've heard | rumour has it | rumor has it "
        "| they say | people say | some say | is said to | are said to | i read that",
        "de": "laut | zufolge | sagte | sagt | sagten | behauptet | behauptete | meinte | schrieb | angeblich "
        "| ich habe gehört",
        "fr": "selon | d'après | a dit que | dit que | disait que | affirme que | prétend que | a écrit que",
        "es": "según | dijo que | dice que | decía que | afirma que | escribió que | me dijeron | dicen que",
        "it": "secondo lui | secondo lei | ha detto che | dice che | diceva che | afferma che "
        "| ha scritto che | dicono che",
        "nl": "volgens | zei dat | zegt dat | beweert dat | schreef dat",
        "zh": "据说 | 听说 | 他说 | 她说 | 他们说 | 据报道",
        "ja": "によると | によれば | と言っていた | と言っていました | と言いました | と聞いた | だそうです",
        "ko": "에 따르면 | 라고 말했 | 다고 말했 | 라고 했 | 다고 했 | 다고 들었 | 다고 한다",
    },
    "denied": {
        "en": "not true that | isn't true | is not true | not true at all | untrue | it is false | it's false "
        "| is false that | that's false | that is false | that's wrong | that is wrong | that's a lie "
        "| not the case that "
        "| isn't the case | it's not that | it is not that | never said | didn't say | did not say | haven't said "
        "| never claimed | didn't claim | did not claim | never told | never wrote | nobody said | no one said "
        "| contrary to | i deny | denies | denied | is wrong that | not correct that | isn't correct",
        "de": "nicht wahr dass | nicht wahr, dass | stimmt nicht | nie gesagt | nicht gesagt | niemals gesagt "
        "| bestreite | bestreitet | falsch, dass",
        "fr": "pas vrai que | n'est pas vrai | jamais dit | n'ai pas dit | faux que | nie que",
        "es": "no es verdad | no es cierto | nunca dije | no dije | es falso que | niega que",
        "it": "non è vero | mai detto | non ho detto | è falso che | nega che",
        "nl": "niet waar dat | niet waar is | nooit gezegd | niet gezegd | klopt niet",
        "zh": "不是真的 | 从没说过 | 从来没说 | 没有说过 | 并不是",
        "ja": "本当ではない | 言っていない | 言ってない | というわけではない | 嘘です",
        "ko": "사실이 아니 | 말한 적 없 | 말한 적이 없",
    },
    "first_person": {
        "en": "me | my | mine | myself | i'm | i've | i'd | i'll",
        "de": "ich | mich | mir | mein | meine | meinen | meinem | meiner | meines",
        "fr": "je | j'ai | j'aime | j'habite | moi | m'appelle",
        "es": "yo | mío | me llamo | conmigo",
        "it": "io | mi chiamo",
        "nl": "ik | mij | mijn",
        "ja": "私 | わたし | 僕 | 俺",
        "ko": "나는 | 저는 | 제가 | 내가 | 나의 | 저의",
    },
}
_SCRIPTS: Final = frozenset({"zh", "ja", "ko"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _found(flag: str, *more: str) -> re.Pattern[str]:
    words: list[str] = []
    anywhere: list[str] = []
    for language, phrases in PHRASES[flag].items():
        for phrase in phrases.split("|"):
            pattern = r"\s{1,4}".join(re.escape(word) for word in phrase.split()).replace("'", "['’]")
            if pattern == "もし":
                pattern = "(?<!か)もし"  # not inside かもしれない
            (anywhere if language in _SCRIPTS else words).append(pattern)
    words.sort(key=len, reverse=True)
    parts = [rf"(?<![\w'’./@])(?:{'|'.join(words)})(?!\w)", *anywhere, *more]
    return re.compile("|".join(parts), re.IGNORECASE)


_HYPOTHETICAL = _found("hypothetical")
_POLITE = _found("polite")
# "might" and "may" are also a noun and a month: they hedge between a word that can be their subject and a verb.
_HEDGED = _found(
    "hedged",
    r"(?<!\bthe )(?<!\bhis )(?<!\bher )(?<!\bits )(?<!\bmy )(?<!\bour )(?<!\byour )(?<!\btheir )(?<!\ball )(?<!ary )"
    r"(?<!\bof )(?<!\bwith )(?<!ic )(?<!val )\bmight(?=\s(?!of\b|and\b|is\b|was\b|or\b|in\b)[a-z])",
    r"(?<!\bin )(?<!\bof )(?<!\byou )(?<!\bthis )(?<!\bnext )(?<!\blast )(?<!\bsince )(?<!\buntil )(?<!\bby )"
    r"(?<=[a-z] )(?-i:may)(?=\s(?!and\b|or\b|of\b|at\b|in\b|on\b|the\b|to\b|we\b|i\b)[a-z])",
)
_OTHERS_SAY = (
    r"(?<![\w'’])(?!(?:i|we|that|having|as)\s)[\w.'’-]{1,40}\s(?:(?:once|also|just|has|had|have|always|later)\s)?"
    r"(?:(?:said|says|told|insists|insisted|thinks|believes|believed|claimed)(?!\s(?:hello|hi|thanks|goodbye|yes|no)\b)"
    r"|(?:claims|reported|reports|wrote|writes|mentioned|mentions|stated|states|announced|argues|argued|thought|heard"
    r"|confirmed|suggested|suggests)(?=\s(?:me\s)?that\b|:|\s[\"“„«]))(?!\w)"
)
_REPORTED = _found("reported", _OTHERS_SAY, r"[他她]们?说|[さんは]\S{0,3}と(?:言|話)")
_DENIED = _found("denied")
_FIRST = _found("first_person", r"(?<![\w'’/.])I(?![\w/.])|(?<![\w'’/.])I(?=\.\s*$)", "我(?!们|們)")
# Straight before the span: "is not [allowed]", "I do not like [tea]"; but "not only", "don't forget".
_NEGATED = re.compile(
    r"(?:(?:\b(?:not|never|cannot|nicht|nie|kein|keine|keinen|niet|geen|nunca|jamais|jamás)|n['’]t|\bno\s+longer)"
    r"(?:\s+(?:yet|really|be|been|to|ever|a|an|the))?"
    r"|\b(?:do|does|did)(?:\s+not|n['’]t)\s+(?!only\b|forget\b|just\b|hesitate\b|worry\b|miss\b|fail\b)[a-z]{1,20}"
    r"(?:\s+(?:to|at|in|on|for|the|a|an))?"
    r"|不|没有|没)\s*$",
    re.IGNORECASE,
)

_MARKED = re.compile(r"[?？؟](?:[?？!！…]|\s[?？])*[\s\"'”’»«“」』)\]*_~}]*$|^\W*¿")
# Asked without a mark: inverted in English, a particle at the end in Chinese, Japanese and Korean.
_ASKED = re.compile(
    r"^\W*(?:(?:and|but|so|hi|hey|ok|please)[\s,]+)?(?:"
    r"(?:is|are|was|were|does|did|am|isn['’]t|aren['’]t|doesn['’]t|didn['’]t|wasn['’]t)\s+"
    r"(?:i|you|he|she|it|we|they|there|this|that|these|those|the|my|your|our|his|her|their|anyone|anybody|[A-Z]\w+)\b"
    r"|(?:do|can|could|will|would|should|have|has|may|shall|don['’]t|can['’]t|won['’]t|wouldn['’]t|couldn['’]t"
    r"|shouldn['’]t|haven['’]t|hasn['’]t)\s+(?:i|you|he|she|we|they|anyone|anybody)\b"
    r"|(?:can|could|will|would|should|has|don['’]t|can['’]t|won['’]t|wouldn['’]t|couldn['’]t)\s+(?:it|this|there)\b"
    r"|(?:what|who|whom|where|why|how|when|which|whose)\s*(?:['’]s\b|['’]re\b"
    r"|\s(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have)\b(?!\smore\b))"
    r"|how\s+(?:many|much|long|old|often|far|about|come)\b"
    r"|(?:do you know|can you tell|tell me|i wonder)\s+(?:if|whether|what|who|where|when|why|how)\b)"
    r"|(?:[吗嗎么呢]|(?:です|ます|でした|ました|だろう|でしょう|ません|の)か|습니까|ㅂ니까|입니까|합니까|니까|나요|인가요|을까요?)"
    r"[\s。.!！？?~～]*$",
    re.IGNORECASE,
)

_BOUNDARY = re.compile(r"(?:\.{1,3}|…|[!?؟]+[!?.؟]*)[\"'”’»«“」』)\]*_]{0,4}(?=\s|$)|[。！？｡]+[\"'”’»」』）)]{0,4}|\n")
_BEFORE_DOT = re.compile(r"[^\s(\[\"“„«/]{1,12}$")
_LIST_LINE = re.compile(r"[ \t]*(?:[-*+•–>#|]|\d{1,3}[.)]\s|[A-Za-z][.)]\s)")
_TITLES = _words(
    "dr mr mrs ms prof st mt rev hon gen col capt sgt lt sr sra srta m mm mme mlle sig dott dhr mevr hr fr frl ing vs "
    "e.g i.e eg ie cf viz approx ca no nr nos art fig p pp vol ed eds bzw z.b u.a d.h bspw ggf evtl usw b.v p.ej bijv "
    "d.w.z al"
)
_MAYBE_LAST = _words(
    "inc ltd co corp etc jr a.m p.m u.s u.k ph.d dept est jan feb mar apr jun jul aug sep sept oct nov dec"
)
_MONTH_AHEAD = re.compile(r"\s(?:Jan|Feb|M[aä]r|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[kc]t|Nov|De[zc]|[a-zäöü])", re.UNICODE)
_ADDRESS = re.compile(r"(?<!\w)[a-z]{2,10}://\S++", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t\r]{0,80}+\n")
_QUOTES = re.compile('["„“”‚‘’«»「」『』《》〈〉]')
_SINGLE_OPEN = re.compile(r"(?:^|[\s(:,])'(?=[^\W\d])[^']*+(?:(?<=\w)'(?=\w)[^']*+)*+$")
_SINGLE_CLOSED = re.compile(r"(?<=[\w.!?,])'(?!\w)")
_PAIRS = {"„": "“”", "‚": "‘’", "「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "»": "«", "《": "》", "〈": "〉"}


def sentence_at(content: str, start: int, end: int) -> tuple[int, int]:
    """The characters of the sentence or sentences that hold [start, end), without white space at either end.

    At most `WINDOW` characters beyond the span. A range outside of the content is cut to it; never raises.
    """
    start = max(0, min(start, len(content)))
    end = max(start, min(end, len(content)))
    while start < end and content[start].isspace():
        start += 1
    while start < end and content[end - 1].isspace():
        end -= 1
    first = _begin(content, start)
    last = min(len(content), end + WINDOW)
    last = next((stop for stop in _stops(content, max(start, end - 16), last) if stop >= end), last)
    return _trimmed(content, first, last)


def _begin(content: str, start: int) -> int:
    """The last end of a sentence before `start`: in the nearer part of the window first."""
    for reach in (WINDOW // 5, WINDOW):
        first = found = max(0, start - reach)
        for stop in _stops(content, first, start):
            found = stop
        if found > first:
            return found
    return first


def sentences(content: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The sentences of content[start:end), in order; headings and list lines are sentences of their own."""
    end = len(content) if end is None else end
    first = start
    for stop in _stops(content, start, end):
        a, b = _trimmed(content, first, stop)
        if a < b:
            yield a, b
        first = stop
    a, b = _trimmed(content, first, end)
    if a < b:
        yield a, b


def stance_of(content: str, start: int, end: int) -> Stance:
    """How the words at [start, end) are meant, judged from the sentences that hold them. Never raises."""
    start = max(0, min(start, len(content)))
    end = max(start, min(end, len(content)))
    if end - start > LONG:
        head, tail = _judge(content, start, start + LONG // 2), _judge(content, end - LONG // 2, end)
        return Stance(*(getattr(head, flag.name) or getattr(tail, flag.name) for flag in fields(Stance)))
    return _judge(content, start, end)


def _judge(content: str, start: int, end: int) -> Stance:
    first, last = sentence_at(content, start, end)
    said = _ADDRESS.sub(" ", content[first:last])
    plain = _POLITE.sub(" ", said)
    before = content[max(first, start - 60) : max(first, start)]
    return Stance(
        question=any(_is_question(content[a:b]) for a, b in sentences(content, first, last)),
        hypothetical=_HYPOTHETICAL.search(plain) is not None,
        hedged=_HEDGED.search(plain) is not None,
        reported=_in_quotation(content, start, end) or _REPORTED.search(said) is not None,
        denied=_DENIED.search(said) is not None or _NEGATED.search(before) is not None,
        first_person=_FIRST.search(said) is not None,
    )


def _is_question(sentence: str) -> bool:
    tail = sentence[-64:]
    return (
        _MARKED.search(tail) is not None
        or _ASKED.search(sentence[:120]) is not None
        or _ASKED.search(tail[-24:]) is not None
    )


def _trimmed(content: str, first: int, last: int) -> tuple[int, int]:
    while first < last and content[first].isspace():
        first += 1
    while first < last and content[last - 1].isspace():
        last -= 1
    return first, last


def _stops(content: str, first: int, last: int) -> Iterator[int]:
    """Where sentences end between the two places, each as the place behind the last mark."""
    for match in _BOUNDARY.finditer(content, first, last):
        if match.end() < last or last == len(content) or match[0][0] in "\n。！？｡" or content[last].isspace():
            ends = _line_ends(content, match.start()) if match[0] == "\n" else _mark_ends(content, match)
            if ends:
                yield match.end()


def _mark_ends(content: str, match: re.Match[str]) -> bool:
    mark = match[0]
    after = content[match.end() : match.end() + 3].lstrip()[:1]
    if mark[-1] in "\"'”’»«“」』)]*_" and mark[0] in ".!?…":
        return not after.islower()  # "Really?" he said
    if mark in {"…", "..", "..."}:
        return not after.islower()
    if mark != ".":
        return True
    start = match.start()
    word = _BEFORE_DOT.search(content[max(0, start - 13) : start])
    token = word[0].casefold() if word else ""
    if token in _TITLES or (len(token) == 1 and token.isalpha() and token != "i"):
        return False
    if token in _MAYBE_LAST:
        return after.isupper()
    if token.isdigit() and len(token) <= 3:
        line = (
            content.rfind("\n", max(0, start - 12), start) + 1 if "\n" in content[max(0, start - 12) : start] else None
        )
        begins = line is not None or start <= 12
        alone = not content[line if line is not None else 0 : start - len(token)].strip() if begins else False
        return not alone and _MONTH_AHEAD.match(content, match.end()) is None
    return True


def _line_ends(content: str, newline: int) -> bool:
    """Whether a line break ends a sentence. It does not where a long line was only wrapped."""
    line = content[max(0, newline - 80) : newline].rpartition("\n")[2].rstrip()
    begin = newline - len(line)
    after = content[newline + 1 : newline + 80].partition("\n")[0]
    if not line or not after.strip() or _LIST_LINE.match(after):
        return True
    if len(line) < 80 and line.lstrip()[:1] in ("#", "|") and begin >= 0:
        return True
    if line[-1] in ",;":
        return False
    if len(line) >= 60:
        return False
    return not (len(line) >= 40 and after.lstrip()[:1].islower())


def _in_quotation(content: str, start: int, end: int) -> bool:
    line = content.rfind("\n", max(0, start - WINDOW), start) + 1
    if content[line : line + 4].lstrip()[:1] == ">" and (line or start <= WINDOW):
        return True
    paragraph = max(0, start - 2 * WINDOW)
    for blank in _BLANK_LINE.finditer(content, paragraph, start):
        paragraph = blank.end()
    open_marks: list[str] = []
    for found in _QUOTES.finditer(content, paragraph, min(start + 1, len(content))):
        if found.start() < start or _opens(content, start):
            _follow(content, found.start(), found[0], open_marks)
    if any(mark not in "《〈" for mark in open_marks):
        # A span that begins with the mark and goes on behind its partner is a statement with a quoted word in it.
        return not _closed_inside(content, start, end)
    return _in_single_quotes(content, start, end)


def _follow(content: str, place: int, mark: str, open_marks: list[str]) -> None:
    if open_marks and mark in _PAIRS.get(open_marks[-1], '"' if open_marks[-1] == '"' else ""):
        if not (mark == "’" and content[place + 1 : place + 2].isalnum()):  # ‘I don’t’: an apostrophe
            open_marks.pop()
    elif mark == '"':
        if _opens(content, place):
            open_marks.append(mark)
    elif mark in _PAIRS:
        open_marks.append(mark)


def _opens(content: str, place: int) -> bool:
    before, after = content[place - 1 : place], content[place + 1 : place + 2]
    straight = (not before or before.isspace() or before in "([{:—–-,>=") and bool(after) and not after.isspace()
    return straight if content[place] == '"' else content[place] in _PAIRS


def _closed_inside(content: str, start: int, end: int) -> bool:
    opening = content[start : start + 1]
    closing = _PAIRS.get(opening, '"' if opening == '"' else "")
    if not closing:
        return False
    partner = next((place for place in range(start + 1, min(end, start + WINDOW)) if content[place] in closing), None)
    return partner is not None and any(c.isalnum() for c in content[partner + 1 : end][:WINDOW])


def _in_single_quotes(content: str, start: int, end: int) -> bool:
    """'So'; an apostrophe is none: it stands behind a letter, or no partner follows."""
    before = content[max(0, start - 300) : start + 1].rpartition("\n")[2]
    if "'" not in before or _SINGLE_OPEN.search(before) is None:
        return False
    after = content[max(start, end - 1) : end + 300].partition("\n")[0]
    return _SINGLE_CLOSED.search(after) is not None
