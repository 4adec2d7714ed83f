"""Phrases: how messages say that a block is not their answer.

Owns the vocabulary and the table of signs. One entry of the table is one sign: what it makes of the block, the words of
which at least one is in every sentence that says so, and the pattern. Patterns run on short texts in lower case, and
every repetition in them is bounded. They are compiled when they are first needed, which is seldom: all of them
together would take longer than starting Python.
"""

from __future__ import annotations

from typing import Literal

from remit.lazy import lazy
from remit.quick_tuple import NamedTuple

Aside = Literal["thinking", "quoted", "draft", "example", "earlier", "supposed", "withdrawn", "doubted", "unclear"]
"""Why a block is not the answer.

`doubted`: words below it tell of a failure, which only a completed one denies. `unclear`: the line above leads up to
something and does not call it an answer in any way; then it counts where the issued session id binds it.
"""


def word_set(words: str) -> frozenset[str]:
    """Words that are written with spaces between them."""
    return frozenset(words.split())


# --- building blocks -------------------------------------------------------------------------------------------------

_NOUN = (
    r"(?:return|output|response|answer|result|reply|report|format|json|block|object|version|message|payload|verdict"
    r"|code|data|snippet)s?"
)
_SAY = r"(?:return|send|submit|answer|reply|respond|report|say|output|emit|deliver|hand back|give back|write)"
_SAID = (
    r"(?:returned|replied|answered|responded|reported|said|wrote|sent|produced|printed|gave|claimed|emitted|came back"
    r"|(?:ended|ends|finished|finishes|closed|closes|concluded|concludes) with|says?|returns|replies|answers|sends"
    r"|writes"
    r"|prints|yielded|yields|left|posted|submitted|got|claims|contained|responds?|produces|put|logged"
    r"|emits|supplied|provided|pasted|shared|quoted|cited|suggested|proposed)"
)
_END = (
    r"(?: (?:me|us|back|with|as|this|that|the|following|it|here|so|in|json|return|answer|result|response|exactly|only"
    r"|just|follows|earlier|yesterday|before|today|to|reply|block|object|one|for|task|previously|last|time|a|an|format"
    r"|form|shape|below|up|at|end|agent)){0,5}\W*$"
)
"""The sentence ends soon: what was said is the block itself."""
_HEAD = r"^(?:here(?:'s| is| are) )?(?:this is )?(?:an? |the |my |some |its |their )?(?:[\w-]+ )?"
_TAIL = rf"(?:\W*$|\W+(?:[\w-]+ ){{0,2}}{_NOUN}\b)"
_OTHERS = (
    r"(?:agents?|subagents?|colleague|user|model|assistant|session|run|step|attempt|someone|somebody|they|he|she|you|it"
    r"|tool|curl|api|endpoint|service|function|command|script|job|pipeline|process|test|call|log|bot|human|client"
    r"|customer"
    r"|caller|team|predecessor|message|friend|mate|who|ci|suite|hook|program|page|prompt|[\w-]{2,20}(?:er|or|ist|ant))"
)
_SOURCES = (
    r"(?:files?|logs?|prompt|tickets?|issue|docs?|documentation|instructions?|spec|specification|standard|readme"
    r"|template|contract|guide|guidelines|test|fixture|cache|database|history|transcript|e?mail|page|comment|pr|wiki"
    r"|manual|task|brief|system message|conversation|thread|schema|rules?|memory|clipboard"
    r"|[\w./-]{1,60}\.(?:md|jsonl?|log|txt|ya?ml|py|toml|ts|js))"
)
_SHOWS = (
    r"(?:says?|said|contains?|contained|reads?|shows?|showed|holds?|held|gives?|gave|asks?|wants?|requires?"
    r"|defines?|prescribes?|demands?|specifies|lists?|listed|mentions?|mentioned|records?|recorded|ends?)"
)
_SHOWN = (
    r"(?:examples?|samples?|templates?|skeleton|placeholder|mock|mockup|fixture|illustration|demo|dummy|boilerplate"
    r"|beispiel(?:ausgabe|antwort|rückgabe)?|muster|ejemplo|plantilla|exemple|modèle|esempio|exemplo|modelo)"
)
_ROUGH = (
    r"(?:draft|preliminary|tentative|provisional|wip|unfinished|interim|rough|proposed|planned|unverified|unconfirmed"
    r"|sketch|entwurf|entwürfe|borrador|brouillon|bozza|rascunho)"
)
_UNTRUE = (
    r"(?:wrong|incorrect|invalid|outdated|obsolete|superseded|stale|premature|mistaken|false|untrue|hypothetical"
    r"|fictional|fabricated|fake|made up|inaccurate|broken)"
)
_UNLIKE_WORK = r"(?! (?:prs?|pull|plan|branch|document|release|commit|issue|version of the plan))"
_NOT = (
    r"(?:(?:do|does|did|should|must|can|could|will|would|may|to|shall|am|is) not|cannot|never"
    r"|(?:do|does|did|should|must|ca|could|wo|would|is)n['’]t)"
)


class Sign(NamedTuple):
    """One way to say that a block is not the answer."""

    aside: Aside
    words: frozenset[str]
    """At least one of them is in every sentence that the pattern matches; empty: the sentence is short anyway."""
    pattern: str


def _sign(aside: Aside, words: str, pattern: str) -> Sign:
    return Sign(aside, word_set(words), pattern)


# --- above the block -------------------------------------------------------------------------------------------------

SAYING = (
    "return send submit answer reply respond report say output emit deliver hand give write returned replied "
    "answered responded reported said wrote sent produced printed gave claimed emitted came ended finished says "
    "returns replies answers sends writes prints yielded yields left posted submitted concluded concludes "
    "closed closes ends finishes got claims contained responds produces put logged emits supplied provided "
    "pasted shared quoted cited suggested proposed"
)
_SHOWN_WORDS = (
    "example examples sample samples template templates skeleton placeholder mock mocks mockup fixture fixtures "
    "demo dummy illustration boilerplate beispiel beispielausgabe beispielantwort muster ejemplo plantilla "
    "exemple modèle esempio exemplo modelo"
)
INTRODUCING = (
    # Denied: "This is what I should not return", "Wrong answer", "Instead of".
    _sign(
        "withdrawn",
        "not cannot never don't doesn't didn't shouldn't mustn't can't couldn't won't wouldn't isn't don’t "
        "doesn’t didn’t shouldn’t mustn’t can’t couldn’t won’t wouldn’t isn’t",
        rf"\b{_NOT} (?:(?:yet|actually|honestly|really|be|just|ever|simply|have|going to|even|truthfully) ){{0,3}}"
        rf"(?:use|used|treat|treated|trust|accept|parse|copy|{_SAY}|{_SAID}|sent)\b"
        rf"|\bnot (?:{_SAY}(?:ed)? (?:this|these|the following)|an? (?:real|actual|valid) )"
        rf"|\bnot (?:mine|my (?:own )?{_NOUN})\b|\b(?:what|how) not to\b|\bdo not (?:treat|use|take|read)\b",
    ),
    _sign(
        "withdrawn",
        "wrong incorrect bad false invalid rejected refused malformed fake broken mistaken untrue fabricated",
        rf"^(?:[\w-]+ ){{0,4}}(?:wrong|incorrect|bad|false|invalid|rejected|refused|malformed|fake|broken|mistaken"
        rf"|untrue"
        rf"|fabricated)(?:\W*$| (?:[\w-]+ )?{_NOUN}\b| to {_SAY}\b)",
    ),
    _sign("withdrawn", "instead rather unlike opposed", r"^(?:instead of|rather than|unlike|as opposed to)\b"),
    _sign(
        "withdrawn",
        "ignore disregard discard ignoriere ignorieren ignora ignorez",
        rf"^(?!.*\babove\b).*\b(?:ignore|disregard|discard|ignorieren?|ignora|ignorez)\b"
        rf"(?:\W*$|(?: [\w-]+){{0,3}} (?:{_NOUN}|this|following|below)\b)",
    ),
    _sign(
        "withdrawn",
        "nicht no pas non não не",
        r"\bnicht(?: so)? (?:antworten|zurückgeben|senden|verwenden|benutzen|übernehmen)|\bno (?:usar|enviar"
        r"|devolver)\b"
        r"|\bne pas (?:utiliser|envoyer|renvoyer)\b|\bnon (?:usare|inviare)\b|\bnão (?:usar|enviar)\b"
        r"|не (?:использ|отправл|возвращ)",
    ),
    # Supposed: what would, could or will be sent, not what is.
    _sign(
        "supposed",
        "would could might 's wäre würde sería serait",
        rf"\b(?:would|could|might)(?:n['’]t)?(?: [\w-]+){{0,3}}? (?:{_SAY}|look|read|have (?:\w+ )?{_SAID}|have been)\b"
        rf"|\b(?:would|might|could|may)(?: then)? be{_END}|\b\w+['’]d (?:\w+ ){{0,2}}{_SAY}\b"
        r"|\bich würde\b|\b(?:so|das) (?:würde|wäre)\b|\bsería\b|\bserait\b",
    ),
    _sign(
        "supposed",
        "will i'll i’ll we'll we’ll shall going can plan",
        rf"^(?!.*\bnow\b)(?=.*(?:\bwill\b|['’]ll\b|\bshall\b|\bgoing to\b|\bcan\b|\bplan to\b))"
        rf".*\b(?:once|when|after|as soon as|if|unless|until|later|then|tomorrow|eventually|before)\b.*\b{_SAY}\b"
        rf"|^(?!.*\bnow\b).*(?:\bwill\b|['’]ll\b|\bgoing to\b)(?: [\w-]+){{0,3}} {_SAY}\b.*"
        r"\b(?:once|when|after|as soon as|if|unless|until|later|tomorrow|eventually)\b",
    ),
    _sign(
        "supposed",
        "plan intend hope expect aim want wanted planned hoping planning intending",
        rf"\b(?:plan|intend|hope|expect|aim|want|wanted|planned|hoping|planning|intending) to (?:{_SAY}|finish|end"
        rf"|close|conclude)\b",
    ),
    _sign(
        "quoted",
        "counterexample counterexamples transcript data dump snapshot",
        r"^(?:[\w-]+ ){0,2}(?:counter-?examples?|transcript|test data|dump|snapshot)\W*$",
    ),
    _sign("withdrawn", "refuse refused tempted avoid", r"\b(?:refuse[ds]?|tempted) to\b|\bavoid\b"),
    _sign(
        "quoted",
        "was is were are",
        rf"\b(?:was|were|is|are) (?:found |written |stored )?in (?:the|an?|my|your) {_SOURCES}\b",
    ),
    _sign("quoted", "from", r"\bfrom (?:the |an? |another )?(?:[\w-]+ ){0,2}(?:(?:sub)?agent|job|pipeline)\b"),
    _sign("quoted", "what", r"\bwhat (?:the|an?|my) [\w-]+ (?:accepts|wants|expects|allows|sees)\b"),
    _sign(
        "example",
        "candidate mocked stale cached option alternative variant",
        r"^(?:the |an? |my )?(?:candidate|mocked|stale|cached|option|alternative|variant)\b",
    ),
    _sign("quoted", "before", r"\bof (?:the |an? )(?:[\w-]+ ){0,2}(?:run|attempt|session|agent|step) before\b"),
    _sign("supposed", "if unless until", r"^(?:if|unless|until)\b(?! you (?:want|need|prefer|like|wish)\b)"),
    _sign(
        "supposed",
        "imagine suppose supposing assume assuming pretend pretending hypothetical hypothetically let's theory "
        "ideally let’s had optimistic best-case best scenario",
        r"\b(?:imagine|suppose|supposing|assume|assuming|pretend|pretending|hypothetical|hypothetically|in theory"
        r"|ideally|best[ -]case|scenario)\b|\blet['’]s say\b|^had (?:i|it|the|this|all|everything)\b",
    ),
    # Somebody else's: said by others, found somewhere, asked for.
    _sign(
        "quoted",
        "user human system tool observation function developer customer client",
        r"^\W?(?:user|human|system|tool|observation|function|developer|customer|client)\W?(?: \([^)]{0,20}\))?[:>]",
    ),
    _sign(
        "quoted",
        "test tests suite assertion fixture",
        r"\b(?:tests?|suite|assertion|fixture)\b(?: \w+)? (?:expects?|wants?|asserts?|checks)\b",
    ),
    _sign("quoted", "$ % >>>", r"^(?:\$|%|>>>) (?!.*<<)"),
    _sign(
        "quoted",
        "content contents input inputs prompt instructions request log logs transcript history copying pasting "
        "repeating echoing citing restating excerpt background appendix",
        r"^(?:the |my |your )?(?:full )?(?:contents?|excerpt) (?:of|from)\b|^(?:copying|pasting|repeating|echoing"
        r"|citing|restating)\b"
        r"|^(?:the |my |your |original )?(?:inputs?|prompt|instructions?|request|logs?|transcript|history|background"
        r"|appendix)\W*$",
    ),
    _sign(
        "quoted",
        "documented described defined specified prescribed shown seen stated quoted written",
        r"^as (?:documented|described|defined|specified|prescribed|shown|seen|stated|quoted|written) (?:in|by|at"
        r"|on) [^,]{1,80}$",
    ),
    _sign(
        "quoted",
        "tool function command terminal shell console program script api server endpoint stdout stderr log logs "
        "curl http search hook ci observation webhook database cache transcript history raw",
        r"^(?:the |a )?(?:(?:raw|last|full) )?(?:tool|function|command|terminal|shell|console|program|script|api|server"
        r"|endpoint|stdout|stderr|logs?|curl|http|search|hook|ci|observation|webhook|database|cache|transcript|history)"
        rf"(?: (?:call|run|line|entry|excerpt|file|step)){{0,2}}(?: {_NOUN}\b(?: (?:of|from|for|was|is)\b.*)?)?\W*$",
    ),
    _sign(
        "quoted",
        SAYING,
        rf"^(?!(?:following|per|using|based|in the (?:format|form"
        rf"|shape))\b).*\b{_OTHERS}\b(?: [\w'’`./()-]+){{0,4}} {_SAID}{_END}",
    ),
    _sign(
        "quoted",
        "returned sent written produced given reported provided received copied pasted taken quoted generated "
        "posted submitted made logged answer reply",
        r"\b(?:returned|sent|written|produced|given|reported|provided|received|copied|pasted|taken|quoted|generated"
        r"|posted|submitted|made|logged|answer|reply) (?:\w+ )?(?:by|from) (?!me\b|myself\b|hand\b)",
    ),
    _sign(
        "quoted",
        "got received found saw see read given told opened loaded fetched copied pasted recall remember noticed",
        r"\bi (?:have |had |just |also |was |am )?(?:got|received|found|saw|see|read|given|told|opened|loaded|fetched"
        r"|copied|pasted|recall|remember|noticed)(?: back)? "
        rf"(?:this|that|it|these|the following|what|in|from|an? (?:\w+ )?{_NOUN}|the (?:\w+ ){{0,2}}{_NOUN})\b",
    ),
    _sign(
        "quoted",
        "says say said contains contain contained reads read shows show showed holds held gives gave asks ask "
        "wants requires require defines prescribes demands specifies lists listed mentions mentioned records "
        "recorded ends end",
        rf"^(?!(?:following|per|using|based|as (?:the|my|your)|in the (?:format|form|shape))\b)(?!.*\b(?:i wrote"
        rf"|i saved"
        rf"|now)\b).*\b{_SOURCES}`?(?: [\w'’`./-]+){{0,4}} {_SHOWS}{_END}",
    ),
    _sign(
        "quoted",
        "asked told instructed requested wanted wants expected supposed required meant",
        rf"^(?!.*\bnow\b).*\b(?:asked|told|instructed|requested|wanted|wants|expected|supposed|required|meant)"
        rf"(?: (?:me|us|it|agents?|you|for))? to (?:\w+ )?{_SAY}{_END}",
    ),
    _sign(
        "quoted",
        "previous earlier other standard doc docs documentation log logs file files prompt ticket issue spec "
        "specification readme template history cache transcript instructions contract guide conversation "
        "example examples manual wiki memory internet web database archive",
        r"\bfrom (?:the |an? |another |some |your |its |their |our )?(?:[\w-]+ ){0,2}(?:previous|earlier|other|standard"
        r"|docs?|documentation|logs?|files?|prompt|ticket|issue|spec|specification|readme|template|history|cache"
        r"|transcript|instructions|contract|guide|conversation|examples?|manual|wiki|memory|internet|web|database"
        r"|archive)\b",
    ),
    _sign(
        "quoted",
        "'s",
        rf"\b(?:(?:previous|other|last|first|another|earlier) [\w-]+"
        rf"|(?!the |this )[\w-]+ (?:sub)?agent|(?!agent['’]){_OTHERS})(?<!it)(?<!session)(?<!run)(?<!job)['’]s?"
        rf" (?:[\w-]+ ){{0,2}}{_NOUN}(?: (?:was|is|for|from|on|to)\b.*)?\W*$",
    ),
    _sign(
        "example",
        "quote quoted quoting quotation verbatim unmodified",
        r"\b(?:quot(?:e|ed|ing|ation)|verbatim|unmodified)\b",
    ),
    # An example, or what a return is like in general.
    _sign(
        "example",
        f"{_SHOWN_WORDS} schema instance eg zb expected required desired target ideal",
        rf"{_HEAD}(?:{_SHOWN}|schema|示例|例|пример){_TAIL}|\((?:an? )?{_SHOWN}\)\W*$|^\W*ejemplo\b"
        r"|示例|例如|例[:\uff1a]|пример"
        r"|\b(?:for example|for instance|e\.g\.)\W*$|^(?:for example|for instance|e\.g\.|z\. ?b\.|zum beispiel"
        r"|por ejemplo|par exemple|per esempio|por exemplo|например|例えば)"
        r"|^(?:the )?(?:expected|required|desired|target|ideal) (?:format|output|return|shape|result|response"
        r"|answer)\b",
    ),
    _sign(
        "example",
        "must should would has have needs need ought may can shall will",
        r"\b(?:must|should|would|will|has to|have to|needs to|ought to|shall) (?:then )?(?:look like|look"
        r"|have returned|be|return)\W*(?:this|so|as follows)?\W*$"
        r"|\b(?:an?|any|each|every|another|agents?|subagents?|you|they|one|it)(?: [\w-]+){0,2} (?:must|should|has to"
        r"|have to"
        rf"|needs to|need to|ought to|may|can|shall|will) (?:\w+ )?{_SAY}{_END}",
    ),
    _sign(
        "example",
        "look looks like lines",
        r"\b(?:looks?|something|anything) like(?: (?:this|so|that|the following|these))?\W*$|\balong (?:the"
        r"|these) lines\b",
    ),
    _sign(
        "example",
        "illustrative typical generic canonical usual minimal possible reference fictional imaginary",
        rf"\b(?:illustrative|typical|generic|canonical|usual|minimal|possible|reference|fictional"
        rf"|imaginary) (?:[\w-]+ ){{0,2}}{_NOUN}\b",
    ),
    _sign(
        "example", "reference comparison context illustration", r"\bfor (?:reference|comparison|context|illustration)\b"
    ),
    _sign(
        "example",
        "format schema shape structure layout syntax",
        r"^(?:here(?:['’]s| is) |below is |this is |what follows is )?(?:the |an? |our |your |its )?"
        r"(?:(?!in\b|as\b|json\b|my\b)[\w-]+ ){0,2}"
        r"(?:format(?! (?:the|my|it|this|that)\b)|schema|shape|structure|layout|syntax)\b",
    ),
    _sign(
        "example",
        _SHOWN_WORDS,
        rf"^(?!.*\b(?:follow\w*|per|using|accord\w+|based|match\w*|added|wrote|created|updated|fixed|tested)\b)"
        rf".*\b{_SHOWN}s?\b.*:\W*$|\b(?:fixtures?|mocks?|samples?|examples?|templates?)/",
    ),
    # Not finished.
    _sign(
        "draft",
        "draft preliminary tentative provisional wip unfinished interim rough proposed planned unverified "
        "unconfirmed sketch entwurf entwürfe borrador brouillon bozza rascunho final progress tentatively "
        "provisionally preliminarily",
        rf"{_HEAD}(?:{_ROUGH}|草稿|черновик){_TAIL}|草稿|черновик|^(?:tentatively|provisionally|preliminarily)\b"
        rf"|\b(?:an?|my|as|first|ein|einen|un|une|uma?) (?:first |rough |early )?(?:draft|entwurf|borrador|brouillon"
        rf"|rascunho|sketch)\b"
        rf"{_UNLIKE_WORK}"
        r"|\b(?:draft|wip|work in progress|not (?:yet )?(?:the |my )?final(?: yet)?)\)?\W*$|\bnot (?:the |my )?final "
        rf"{_NOUN}\b",
    ),
    _sign(
        "thinking",
        "thinking thought thoughts reasoning scratchpad scratch monologue deliberation brainstorm brainstorming "
        "note notes think hm hmm hmmm gedanken überlegung überlegungen",
        r"^(?:my |some |internal |inner |out )?(?:thinking|thoughts?|reasoning|scratchpad|scratch|scratch space"
        r"|monologue"
        r"|chain of thought|deliberation|brainstorm(?:ing)?|notes? to self|let me think|thinking out loud|hm+|gedanken"
        r"|überlegung(?:en)?)\W*$",
    ),
    # The agent's own, from before.
    _sign(
        "earlier",
        "previous earlier prior old original superseded outdated last first former",
        rf"{_HEAD}(?:previous|earlier|prior|old|original|superseded|outdated|former)(?: [\w-]+)? {_NOUN}\b"
        rf"|\bfrom (?:the )?last\b|\bfirst (?:attempt|try|version|draft)\b",
    ),
    _sign("earlier", "output", r"^output of (?!this\b)"),
    _sign("earlier", "previously earlier", r"\b(?:previously|earlier) (?:returned|sent|reported)\b"),
)
OWN = (
    rf"(?<!not )(?<!from )\bmy (?:own |actual |final |real |complete |json "
    rf"|structured )*{_NOUN}\b(?<!format)(?<!report)(?! would| could| might| to be)"
    r"|^(?:and )?(?:this is |here is |here's )?mine\b|(?<!not )(?<!than )(?<!before )\bmine\W*$|\bi (?:now |hereby "
    r"|therefore )?return\b|\bi(?:['’]m| am) (?:now )?(?:returning|reporting|sending)\b"
    rf"|\bhere(?:['’]s| is) (?:the|my) (?:[\w-]+ )?(?:return|result|answer)\b(?! (?:of|from|format|the|that|which"
    rf"|an?)\b)"
)
"""The sentence calls the block the agent's own answer; whoever else it speaks of is not who gave it."""
FINAL = r"(?<!not )(?<!yet )(?<!the )(?<!my )\b(?:final|corrected|actual|revised)\b|\bthe final\b(?<!not the final)"
OVERRULED: dict[Aside, tuple[str, ...]] = {
    "draft": (FINAL,),
    "example": (FINAL, OWN),
    "earlier": (FINAL,),
    "quoted": (OWN,),
    "thinking": (),
    "supposed": (),
    "withdrawn": (OWN,),
    "doubted": (),
    "unclear": (),
}
"""What in the same sentence makes a sign mean something else."""
TRIGGERS = frozenset(word for sign in INTRODUCING for word in sign.words)
PLAIN = lazy(r"(?:here(?:'s| is) )?(?:the |my )?(?:final |structured |json )?(?:return|result|output|answer):?$")
"""The introduction that nearly everybody writes."""
PRESENTING = word_set(
    "return returns returning result results output answer answers response reply report reporting json status summary "
    "payload object deliverable verdict delegation handoff submission machine-readable parser here here's here’s "
    "below follows following done finished "
    "finishing completed complete asked requested instructed required requires agreed promised per final finally "
    "mine again process merged passed green went that's that’s orchestrator parent coordinator ergebnis "
    "rückgabe antwort resultado retorno respuesta "
    "resultat resultaat risultato risposta"
)
"""Words with which a line presents an answer."""
HONEST = word_set(
    "structured requested required completed corrected updated finished fixed revised promised agreed formatted "
    "validated "
    "verified checked asked standardized detailed needed combined merged unified signed filled tested indeed delegated"
)
"""Participles that a return is called by. Any other (`simulated`, `expected`) makes it something else than an "
"answer."""
ENGLISH = word_set("the a an is are was were to of this that these i in for with be it what you on at by as me my so")
"""A line without any of them is a label, or in another language: too little to judge it by."""
LEADS = word_set(
    f"{SAYING} this that these following below with as like of is was be to so here saying quoting reads "
    "contained contains showed shows called me us it use trust accept parse json block object result response "
    "message payload format schema shape structure"
)
"""The last word of a sentence that leads up to something, though no colon follows it."""

# --- sentences about the block, above or below it --------------------------------------------------------------------

_SUBJECT = (
    rf"(?<!if )(?:this|that|these|those|which|what follows|(?:the |that |this |my )?(?:above|below|following"
    rf"|preceding) (?:{_NOUN}"
    rf"|one)"
    rf"|the (?:above|below|following|preceding)|(?:the |that |this )?(?:\w+ )?{_NOUN}(?: (?:above|below|i (?:sent"
    rf"|gave|showed)))?)"
)
STATEMENT = (
    rf"\b{_SUBJECT}(?: here)?(?: (?:is|was|are|were|isn['’]t|wasn['’]t|should be)|['’]s)"
    r"(?: (?:only|just|merely|purely|simply|still|actually|of course|in fact|therefore|now|meant as)){0,3} (?:"
    rf"(?P<example>(?:an? |the |some )?(?:\w+ )?{_SHOWN}\b{_UNLIKE_WORK}|(?:only )?(?:for|as) (?:an )?illustration)"
    rf"|(?P<draft>(?:an? |my )?(?:\w+ )?{_ROUGH}\b{_UNLIKE_WORK}|(?:work in progress|subject to change"
    rf"|not (?:yet )?(?:my |the )?final))"
    rf"|(?P<withdrawn>{_UNTRUE}\b|not (?:\w+ )?(?:mine|(?:my|an?|the) (?:\w+ )?(?:return|answer|reply|response|output"
    rf"|result)s?|"
    r"yet|correct|right|true|real|meant|intended|valid|what (?:i|happened))\b|a mistake\b|to be ignored\b)"
    rf"|(?P<quoted>(?:what|how) (?:the |an? |my |that )?(?:[\w-]+ ){{0,2}}(?:{_SAID}|came back)\b"
    rf"|(?:the|an?|another) (?:[\w-]+ ){{0,2}}(?:previous|last|other|old|earlier|first"
    rf"|[\w-]+['’]s)(?: [\w-]+){{0,2}} {_NOUN}\b"
    rf"|(?:quoted|copied|taken|pasted|generated|produced|written|sent|returned|made) (?:from|by) (?!me\b|hand\b)"
    rf"|(?:the|an?) (?:\w+ )?{_NOUN} (?:of|from|by) (?:the |an? |another |my )?(?:(?:previous|other|last|earlier"
    rf"|old) [\w-]+"
    rf"|[\w-]+ (?:before|earlier)|(?:sub)?agent|colleague|predecessor)\b)"
    rf"|(?P<supposed>(?:what|how) (?:i|we|it|an agent|the agent|the \w+) (?:would|could|might|should|will|plan)\b"
    rf"|hypothetical)"
    r")"
)
STATED = word_set(
    f"{_SHOWN_WORDS} draft preliminary tentative provisional wip unfinished interim rough proposed planned "
    "unverified unconfirmed sketch entwurf progress change final wrong incorrect invalid outdated obsolete "
    "superseded stale premature mistaken false untrue hypothetical fictional fabricated fake made inaccurate broken "
    "not mistake ignored what how previous last other old earlier first before agent subagent colleague "
    "predecessor quoted copied taken pasted illustration"
)
"""What a sentence can say of the block, besides whose it is."""

# --- below the block -------------------------------------------------------------------------------------------------

_IT = (
    rf"(?:the above|everything above|(?:the |that |this |my )?(?:\w+ )?{_NOUN}"
    r"|(?:this|that|it)(?= *(?:$|[.,;:!)]|as\b|yet\b)))"
)
TAKEN_BACK = (
    rf"(?m)\b(?:ignore|disregard|discard|scrap|strike|retract|withdraw|forget|do(?: not|n['’]t) (?:use|treat|trust"
    rf"|accept"
    rf"|rely on|parse)"
    rf"|ignorier\w*|ignora|ignorez) (?:please )?{_IT}"
    r"|^\W{0,6}(?:correction|erratum|errata|wait|korrektur|corrección|oops|whoops)(?=[:,.!—\u2013-]| -)"
    r"|^\W{0,6}(?:scratch that|strike that|hold on|oops|whoops|never ?mind|on second thoughts?|hm+\b|i take (?:that"
    r"|it) back)"
    r"|\bretract(?:ing|ed)?\b|\bcorrect myself\b"
    r"|^\W{0,6}(?:end of (?:the )?(?:example|quot|sample|draft|template)|quot(?:ed|ing) from)|^\W{0,6}(?:to"
    r"|will) be (?:sent|confirmed|updated|replaced)"
    r"|\bi(?: will|['’]ll) (?:update|replace|fix|redo|revise|correct) (?:this|that|it|the (?:above|json|return))\b"
    r"|\b(?:json|return|block|object|above)(?: above)? (?:does|did|is|was|has)(?: not|n['’]t)\b"
    r"|\b(?:this|that|it) (?:is|was)n['’]t (?:true|right|correct|real|final|mine|what happened)\b"
    rf"|\bnone of (?:this|that|it) (?:is|was|has|happened|works)\b|^\W{{0,6}}(?:just )?kidding\b"
    rf"|^\W{{0,6}}above\W{{1,3}}(?:\w+ ){{0,2}}{_SHOWN}\b"
    r"|\b(?:real|actual|final) (?:\w+ )?(?:will|to) follow\b|\bnothing (?:is|was) (?:done|tested|written|saved|true)\b"
    r"|\bmade (?:this|that|it|all of (?:this|it)) up\b|^\W{0,6}not my (?:return|answer|result|output)\b"
    r"|\b(?:this|that) (?:is|was) (?:only|just) a test\b"
    r"|\bi (?:have |just )?(?:made a mistake|was mistaken|misspoke|lied|misreported)\b"
    r"|\b(?:shall|should|may|can) i (?:send|return|submit|use|report) (?:this|that|it)\b"
    r"|\bbefore i (?:send|return|submit) (?:this|that|it)\b"
    r"|\bi(?: will|['’]ll| am going to|['’]m going to|['’]d| would| could| might) (?:\w+ )?(?:send|return|submit"
    r"|report) "
    r"(?:this|that|it|the (?:real|actual|final)|a (?:real|final))\b"
)
GOES_ON = r"[.…\s]{0,9}(?:is|was|are|were|because|but|although|though|instead|would|even though) (?!my\b)"
"""In small letters: the sentence that the block stands in goes on below it."""
BUT = (
    r"[\s\"'`)\],;—\u2013-]{0,9}(?:but|although|though|however|yet|which (?:i|we|is|was|seems|looks|cannot|does)"
    r"|and that (?:is|was))\b"
)
FAILURE = (
    r"(?m)^\W{0,6}(?:actually|update|edit|sorry|unfortunately|addendum|caveat)\b[^\n]{0,160}"
    r"(?:\bwrong\b|\bmistake|\bnever (?:ran|run|finish|complet|writ|saved|done|start)|(?:\bnot|n['’]t) (?:actually "
    r"|really |yet |all "
    r"|even ){0,2}"
    r"(?:finish|complet|done|work|true|correct|right|pass|run\b|ran\b)|\bfail(?:s|ed|ing|ure)?\b|\bbroke\b"
    r"|\bincomplete\b)"
    r"|\bi (?:have not|haven['’]t|did not|didn['’]t|never|have yet to|still (?:have|need) to)"
    r"(?: (?:actually|yet|really|fully)){0,2} (?:finish(?:ed)?|completed?|done|start(?:ed)?)\b"
    r"|\b(?:i['’]m|i am|tests? (?:is|are)|suite is|build is) still (?:running|working|waiting|testing|in progress"
    r"|failing)\b"
    r"|^\W{0,6}(?:final |overall |actual |real )?(?:status|outcome)\W{1,6}(?:failed|failure|partial|blocked|error"
    r"|incomplete)\b"
    r"|\bi(?:['’]m| am) not (?:yet )?(?:done|finished)\b|\b(?:tests?|suite|build) (?:is|are) (?:red|running|failing)\b"
    r"|\bi (?:have |did )?(?:haven['’]t |didn['’]t |not |never )(?:yet )?(?:verif(?:y|ied)|test(?:ed)?"
    r"|check(?:ed)?) (?:this|it|any of (?:this"
    r"|it))(?= *(?:[.,;!]|$|yet\b))"
)


VERBLESS = (
    rf"\(?(?:just |only |merely |not |an? |for ){{0,3}}(?:{_SHOWN}|{_ROUGH}|final|mine|real)(?: only"
    rf"| purposes)?[.!)]{{1,2}}(?:\s|$)"
)
