"""The kinds of facts, by the rooms that tell them, and the words of each."""

from enum import Enum, unique
from string import Formatter
from typing import Self

from localrag.language import N_


@unique
class FactKind(Enum):
    """What a fact says; the value is its words, with the names of the fields in braces.

    The name, in small letters, is the code that is stored: a kind that was ever stored keeps its
    name, and stays in the table.
    """

    # What an earlier version stored as a sentence.
    SAID = N_("{words}")
    # What earlier versions told of quotations.
    WORD_NOT_QUOTED = N_("{word} stands nowhere in what is quoted")

    # retrieval: why a hit was chosen.
    NAMED = N_("named: {other}")
    FILLS_IN = N_("fills in {other}")
    FILLED_IN_BY = N_("filled in by {other}")
    REFERS_TO = N_("refers to {other}")
    REFERRED_TO_BY = N_("referred to by {other}")
    APPLIES = N_("applies mutatis mutandis {other}")
    APPLIED_BY = N_("applied mutatis mutandis by {other}")
    DEFINES = N_("defines {other}")
    PUNISHES = N_("punishes a breach of {other}")
    NAMED_IN = N_("named in {other}")
    PLACE_OF_OPTION = N_("the provision whose place the option is")

    # retrieval: what a search left out or switched off.
    LAW_OF_DAY = N_("the law as of {day}; other states of it are passed over")
    TEXT_OLD = N_(
        "the text of {laws} in this corpus is more than {months} months older than {day}; later "
        "amendments may be missing"
    )
    TEXT_LATER = N_(
        "the corpus has no text of {laws} as of {day}; what is shown is in force from the day in "
        "brackets"
    )
    TEXTS_OLD = N_(
        "{old:,} of {laws:,} laws have a text that is more than {months} months older than {day}, "
        "the oldest is {law} of {date}; later amendments may be missing"
    )
    STATES_HELD = N_(
        "this corpus has these texts of {law}: {days}; what was between and after them is not known"
    )
    LAST_STATE = N_(
        "the last text of {law} in this corpus is of {date}; whether it changed by {day} is not "
        "known"
    )
    DAY_ASKED = N_("read as asked of the law as of {day} ({words})")
    PERIOD_ASKED = N_("read as asked of the law as of {day} ({words}: its last day, or today)")
    DAY_OF_THE_CASE = N_("{words} is taken for a day of the case: shown is the law as of {day}")
    DAY_GIVEN = N_("the question says {words}, but the day that was given goes before it: {day}")
    NO_SUCH_DAY = N_(
        "{words}: no calendar has such a day; what is shown is the law as of {day}, and --as-of "
        "names another day"
    )
    FORMER_STATE_ASKED = N_(
        "{words}: another state of the law, whose day is not said; what is shown is the law as "
        "of {day}, and --as-of names another day"
    )
    CITED_NOT_QUOTED = N_(
        "of the provisions that the question cites, {n:,} more are not quoted (localrag show)"
    )
    CONTENTS_ELSEWHERE = N_(
        "the whole law was asked for: localrag show {law} gives its table of contents"
    )
    NO_SUCH_LAW = N_("the corpus has no law called {name}")
    LAW_OF_MATTER = N_("{matter} is a matter of {law}, which the corpus does not have")
    LAW_NEAR = N_("{name} is no law of the corpus: is {near} meant?")
    NOT_FILLED_IN = N_(
        "nothing in the corpus fills in what {provision} leaves to an order ({instrument})"
    )
    AMBIGUOUS = N_("{citation} can mean {n:,} provisions")
    DEFINED_IN_SEVERAL = N_("several laws define {term}: {laws}")
    NOT_DEFINED = N_("no provision of the corpus defines {term}")
    LEXICAL_OFF = N_("search by words is switched off (retrieval.lexical)")
    DENSE_OFF = N_("search by meaning is switched off ({setting})")
    NO_EMBEDDER = N_(
        "the corpus has vectors, but there is no embedder for it, or several and none set "
        "(embedding.model): searched by words only"
    )
    NO_VECTORS = N_(
        "the corpus has no vectors yet: searched by words only; make them with "
        "localrag index --corpus {corpus}"
    )
    OTHER_VECTORS = N_(
        "the vectors of the corpus do not fit the model {model}: searched by words only; make "
        "them anew with localrag index --corpus {corpus}"
    )
    WORDS_FOR_MEANING = N_("no vectors or no model for them: BM25 stands in for search by meaning")
    LAYERS_BEHIND = N_(
        "the corpus or its layers have changed since the layers were indexed; what is gone is "
        "passed over (localrag prepare)"
    )
    METADATA_BEHIND = N_(
        "the corpus has changed since a model sorted its documents: what came later is not "
        "found by what the model tells (localrag prepare --layers metadata)"
    )
    FILTERS_LEAVE = N_(
        "of the corpus the filters leave {n:,} articles, passages or triples (--where)"
    )
    FILTERS_LEAVE_NOTHING = N_("nothing in the corpus is all of this: {filters}")
    FILTERS_WOULD_LEAVE = N_("there would be something with one of these changed to: {values}")
    NO_RERANKER = N_("no model for reranking: the hits keep the order in which they were found")
    NOT_RERANKED = N_(
        "not reranked: the texts need {needed:,} tokens, the model reads {available:,}"
    )
    NO_SUBJECT = N_("no subject of the corpus is named {name!r}")
    MORE_SUBJECTS = N_("{name!r} names {n:,} more subjects, which were not looked at")
    FIRST_TRIPLES = N_("only the first {n:,} triples of {name!r} were looked at")

    LOOKED_UP = N_("looked up as well: {said} → {phrases}")

    # statutes: why a citation leads to no provision.
    NO_SUCH_PROVISION = N_("{citation}: the law has no such provision")
    ONLY_IN_SUPPLEMENT = N_(
        "{citation}: not in the main provisions, but in the supplementary ones: {division}"
    )
    CITED_LAW_LACKING = N_("{citation}: no law of the corpus is called {name}")
    NO_LAW_NAMED = N_("{citation}: no law is named")
    NOTHING_BEFORE = N_("{citation}: nothing before it says what it refers to")
    NUMBER_UNREAD = N_("{citation}: {number!r} is not the number of a provision")
    RANGE_BACKWARDS = N_("{citation}: a range in it ends before it begins")

    # reading: quotations, and what a model was shown.
    NO_SUCH_PASSAGE = N_("the corpus has no passage {passage}")
    QUOTE_EMPTY = N_("the quote is empty")
    QUOTE_NOT_HELD = N_("the passage does not hold the quote")
    SHORTENED = N_(
        "{place}: of {characters:,} characters the model was shown the {shown:,} nearest to "
        "the question"
    )
    PASSAGES_LEFT_OUT = N_(
        "{n:,} of {total:,} passages did not fit the context in use (chat.context) and were "
        "left out, the last ranks first: {places}"
    )
    SENTENCES_LEFT_OUT = N_(
        "the context in use (chat.context) holds {n:,} sentences only: the others that may "
        "answer were left out"
    )
    NOTHING_NEAREST = N_(
        "no nearest passages are listed, because those of other laws are no answer; a search shows "
        "them"
    )
    CITED_FOR_NOTHING = N_(
        "{n:,} more that the model cites carry nothing of what it claims, and are left out"
    )
    REPLY_CUT = N_("the reply was cut short after {n:,} tokens")
    REPLY_MALFORMED = N_("the reply cannot be read: {flaw}")
    MODEL_FAILED = N_("the model failed: {cause}")

    # methods: follow-up questions, written queries, options.
    FOLLOW_UP_REFUSED = N_(
        "the model's reading of the question named other laws or numbers: read without it"
    )
    FOLLOW_UP_FAILED = N_(
        "the model wrote no question that could be read: the question was read without it"
    )
    PROMPT_SAW_QUESTION = N_(
        "the query prompt was made with this very question: the answer says little of how "
        "others are answered"
    )
    NO_QUERY_PROMPT = N_(
        "method.query_prompt names no optimised prompt: the built-in one wrote the query"
    )
    PROMPT_IS_BUILT_IN = N_(
        "the optimised prompt {name} is the built-in instruction: optimisation found no better one"
    )
    PROMPT_EDITED = N_(
        "the optimised prompt {name} was edited by hand after it was made: its scores are of "
        "another"
    )
    SEARCHED_ALSO = N_("searched for as well, in words that the model wrote: {law} {words}")
    SEARCHED_ALSO_GUESSING = N_(
        "searched for as well, in words that the model wrote: {words} (it guesses a law that this "
        "corpus does not know: {law})"
    )
    REPLY_REMEMBERED = N_(
        "{model} wrote this before, for the same question and settings: it was not asked again"
    )
    SEARCH_REPEATED = N_(
        "the model repeated itself in {n:,} of its searches: each of their words is searched for "
        "once"
    )
    SEARCHES_FAILED = N_(
        "the model wrote no search ({cause}): only the words of the question were searched for"
    )
    QUERY_WORDLESS = N_(
        "the model wrote a query without a word: the question itself was searched for"
    )
    QUERY_LAW_LACKING = N_("the query cites {citation}, of a law that the corpus lacks")
    NOTHING_FOUND = N_("nothing was found: the model was shown no source")
    NOT_QUOTED = N_("an option was chosen, but no provision is quoted for it")
    HELD_OUT = N_("cross-validated: weights fitted without this question")
    TIED = N_("nothing tells the likeliest options apart: one of them was chosen arbitrarily")
    IMPROBABLE = N_(
        "not sure: the option is held right with {share:.0%}; {needed:.0%} would support it"
    )
    NOT_TURNED = N_("the question cannot be turned: the model sees that it asks for what deviates")
    NOT_ASKED_OF = N_("there was no source to show: the model was not asked about it")
    UNDECIDED = N_("the quotations do not single an option out")
    ELIMINATED = N_("the quotations speak against the other options only")
    CHOSEN_BY_AGREEMENT = N_(
        "the quotations do not single an option out, and one was chosen by how far the options "
        "agree with the evidence, as code compares them"
    )
    CHOSEN_BY_RETRIEVAL = N_(
        "the quotations do not single an option out, and one was chosen by how highly "
        "retrieval holds what the options find"
    )
    CHOSEN_ARBITRARILY = N_(
        "the quotations do not single an option out, and one was chosen arbitrarily, for "
        "nothing tells the options apart"
    )

    # methods, multihop: the question is split.
    NOT_DECOMPOSED = N_(
        "the model split the question into nothing that could be read: the question itself was "
        "searched for"
    )

    # methods, pr3: one query becomes several, under summaries; what was found of each.
    NOT_AUGMENTED = N_(
        "the model wrote no query that could be read: the question itself was searched for"
    )
    NO_SUMMARY = N_("no summary is of the documents wanted: the queries were written without one")
    SUMMARIES_LEFT_OUT = N_("the context in use (chat.context) holds {n:,} of {total:,} summaries")
    NO_STATEMENT = N_("left out, for it is no statement: {words}")
    ASPECT_WITHOUT_EVIDENCE = N_("no evidence was found for this aspect: {aspect}")

    # methods, decon-hybrid: the answer is withheld.
    WITHHELD = N_("the answer {answer} was withheld: no sentence found carries it")

    # methods, fact-check: questions, sentences, the verdict.
    CLAIM_NOT_SPLIT = N_(
        "the model asked nothing that could be read: the claim itself was searched for"
    )
    NOT_SUPPLEMENTED = N_(
        "a sentence is without supplementary context: the model wrote none that could be read"
    )
    BY_WORD_OF_MODEL = N_(
        "a model says how some of the sentences stand to the claim; in these, code can "
        "compare no figure, date or denial"
    )
    NOT_ENOUGH_EVIDENCE = N_("{n:,} sentences were found, and they do not settle the claim")

    # methods, staged: the question is split.
    NO_QUERY = N_("the model split the question into no query: the question itself was asked")
    SIDE_MISNAMED = N_(
        "query {n} asks about {subject!r}, but its side is called {side!r}: the model compares"
    )
    SIDE_WITHOUT_QUERY = N_("there is no query {n} for the side {side!r}: the model compares")
    TWO_SIDES = N_("query {n} gives two sides: the model compares")

    # methods, staged: a query on its way.
    REFERS_AHEAD = N_("it refers to Answer{n}, which does not come before it: it was not asked")
    ANSWER_MISSING = N_("it needs Answer{n}, which was not found: it was not asked")
    WORDLESS = N_("it holds no word: it was not asked")
    TOO_LONG = N_(
        "with the answers written into it, it has {n:,} characters of at most {most:,}: it was "
        "not asked"
    )
    TRIPLES_KEPT_OUT = N_("the filters admit none of the triples: they were not searched")
    DOCUMENTS_KEPT_OUT = N_("the filters admit none of the documents: they were not searched")
    NO_TRIPLES_FOUND = N_("nothing was found among the triples: the model was not asked")
    NO_DOCUMENTS_FOUND = N_("nothing was found among the documents: the model was not asked")
    NO_TRIPLES_FIT = N_("the context holds none of the triples: the model was not asked")
    NO_DOCUMENTS_FIT = N_("the context holds none of the documents: the model was not asked")
    OBJECT_NOT_OF_TRIPLE = N_(
        "the model named the object {object!r}, which the triple lacks: its own are used"
    )
    OBJECT_NOT_HELD = N_("the passage does not hold the object")

    # methods, staged: the comparison, and why the steps do not carry the answer.
    MODEL_ANSWERS = N_("what is compared is not computed: the model answers")
    FEW_SIDES = N_("fewer than two sides were named")
    COMPARISON_UNREAD = N_("code does not decide the comparison ({comparison})")
    COMPARISON_OPEN = N_("code does not decide the comparison ({comparison}: {because})")
    CLAIMED_NO_SIDE = N_("query {n}, which is claimed, is no side")
    SIDE_UNKNOWN = N_("the side {side!r} is named neither in the question nor by a triple")
    SIDE_OF_ANOTHER = N_("the side {side!r} of query {n} is named by the triples of another")
    SIDES_ALIKE = N_("{side!r} is the name of several sides")
    FOUND_AT_NO_STAGE = N_("query {n} was found at no stage")
    NOT_ASKED = N_("query {n} was not asked")
    REMEMBERED = N_("query {n} rests on what the model remembers")
    ANSWER_NOT_HELD = N_("the passage cited for query {n} does not hold {answer!r}")
    OTHER_SUBJECT = N_(
        "query {n} asks about {subject!r}, but what is cited for it speaks of {other!r}"
    )
    STRANGE_SUBJECT = N_(
        "query {n} asks about {subject!r}, which neither the question nor an earlier answer names"
    )
    NO_ANSWER = N_("the model finds no answer in the triples")
    ANSWER_NOT_SAID = N_("no triple holds the answer")
    CONCLUDED = N_(
        "the triples are quoted, but that the answer is {answer!r} is the model's conclusion "
        "from them, which is not computed"
    )

    # methods, staged-symbolic: what of the question was not looked at.
    OPTIONS_IGNORED = N_("the options were not looked at")
    FILTERS_IGNORED = N_("the filters were not applied: triples of the whole corpus were looked up")
    FIRST_NAMES = N_("{n:,} names: the first {most:,} were looked up")
    LIKELIEST_MEANINGS = N_("{name!r} names {n:,} subjects: the likeliest {most:,} were looked up")

    # methods, staged-symbolic: why what was found is no answer, or no fact.
    NOT_JAPANESE = N_("only questions in Japanese are analysed")
    QUESTION_LONG = N_(
        "the question has {n:,} characters: only those of up to {most:,} are analysed"
    )
    NEGATED = N_("the question holds a negation: what is not so cannot be looked up")
    NO_NAME = N_("the corpus knows no subject that the question names")
    NO_TRIPLE = N_("no triples of the subjects named answer the question")
    NOT_DECIDED = N_("what is known does not decide it: {because}")
    INCOMPARABLE = N_(
        "what is known does not decide it: {one} ({of_one}) and {other} ({of_other}) cannot be "
        "compared"
    )
    POOR_FIT = N_(
        "the triples that fit best fit the wording with {fit:.2f}; {needed:.2f} is needed"
    )
    UNSAID = N_("no triple that leads to an answer speaks of {words}")
    SEVERAL_SUBJECTS = N_("the question can mean several subjects: {subjects}")
    RIVAL = N_("{answer!r} fits the wording as well")
    OF_A_TIME = N_("the question asks what holds at a time, which no triple tells")
    TRIPLE_NOT_QUOTED = N_("a triple could not be quoted from the corpus")
    OTHER_MEANING = N_("{name!r} can mean others than {subject!r}")
    PARTLY_SHARED = N_("only some of several are the same")
    CONTRADICTORY = N_("{predicate!r} of {subject!r} has several values: {values}")
    CONDITION_UNTOLD = N_("no triple says that {word!r} is met")
    SAYS_MORE = N_("{predicate!r} says more than the question asks")
    ONLY_ALIKE = N_("what was compared is only alike, which is no fact")
    BEGINNINGS = N_("only beginnings were compared")
    DIFFERENT_PREDICATES = N_("{one!r} and {other!r} need not be told of the same")

    # doctor: what checks found.
    INSTALLED = N_("installed")
    NOT_INSTALLED = N_("not installed (optional): {packages}")
    VALID = N_("valid")
    DISK_FREE = N_("{gigabytes:.1f} GB free")
    READ_BY_OWNER = N_("only its owner can read it")
    READ_BY_GROUP = N_("its group can read corpora, indexes and models")
    READ_BY_EVERYONE = N_("everyone can read corpora, indexes and models")
    EXPOSED = N_("others can read or write {n:,} files and folders of it: {first}")
    JOURNAL_WHOLE = N_("{n:,} questions, nothing changed; the last line is {last}")
    CONVERSATIONS_SOUND = N_("sound, {n:,} conversations")
    LAWS_RECENT = N_("{laws:,} laws, the newest text is of {date}")
    STORE_SOUND = N_("sound, {n:,} documents")
    UP_TO_DATE = N_("up to date, every byte as it was written")
    CHECKSUMS_ANEW = N_("all that has a mark is as it was stored; its checksums are written anew")
    NOT_INDEXED = N_("not indexed yet")
    INDEX_OLDER = N_("older than the documents of the corpus")
    INDEX_LOST = N_("the index is missing")
    INDEX_OUTDATED = N_("the index is outdated")
    INDEX_DAMAGED = N_("the index is damaged")

    # what mends something, as a shell has it: the workbench has ways of its own
    TO_INDEX = N_("localrag index --corpus {corpus}")
    TO_UPDATE = N_("localrag update FOLDER --corpus {corpus}")
    TO_REBUILD = N_("localrag index --corpus {corpus} --rebuild")
    TO_PREPARE = N_("localrag prepare --corpus {corpus} --layers {layers}")
    TO_EXAMINE = N_("localrag doctor")
    TO_INSTALL = N_(
        "Install it: pip install 'localrag[{extra}]'. Without a network, take it from a bundle: "
        "localrag bundle make FOLDER --extra {extra} (docs/install.md)"
    )
    TO_INSTALL_AGAIN = N_(
        "Install it again: pip install --force-reinstall {packages}. Without a network, run "
        "install.py of the bundle again (docs/install.md)"
    )
    TO_NAME_MODEL = N_(
        "Name one with --model, or set chat.model; what there is: localrag models list"
    )
    TO_NAME_OUT = N_("Name another file with --out.")
    TO_BEGIN_ANEW = N_("Name another file with --out, or drop these answers with --restart.")
    TO_NAME_RUN = N_("Choose another name with --run, or remove the folder {folder}")
    TO_LEAVE_ORDERS = N_("Leave out --orders.")
    TO_LEAVE_JUDGE = N_("Leave out --judge.")
    TO_SET_MODEL = N_("Set chat.model; see what there is: localrag models list")

    # batches
    FIELDS_UNREAD = N_("fields that are not read: {names}")
    TABLE_ENCODING = N_("the text is no UTF-8; it is read as Shift_JIS (cp932)")
    TABLE_EUC_JP = N_("the text is no UTF-8; it is read as EUC-JP")
    TABLE_TABS = N_("tabs separate its columns")
    TABLE_SEMICOLONS = N_("semicolons separate its columns")
    TABLE_HEADER = N_("line {line} is taken for the header; what stands above it is not read")
    TABLE_OPTIONS = N_("the columns {names} are read as the options of a question")
    SHEET_READ = N_("the questions are read from {sheet}, below row {row}")
    SHEETS_UNREAD = N_(
        "the questions are read from {sheet}, below row {row}; sheets that are not read: {others}"
    )
    IDS_ARE_DATES = N_(
        "{n:,} numbers of questions are dates, the first in cell {cell}: Excel makes a date of "
        "1-1, unless the column is formatted as text before it is typed"
    )
    TABLE_CHECKED = N_("{unreadable:,} of {rows:,} rows cannot be asked")
    INDEX_BEHIND = N_(
        "corpus {corpus} has changed since it was indexed; searches do not find what is new in "
        "it until you run: localrag index --corpus {corpus}"
    )
    GOES_ON = N_("{rows:,} rows are done already and left alone")
    LINE_DROPPED = N_("a line that was cut off is dropped")
    STOPPED = N_(
        "stopped with {done:,} of {total:,} rows done; they are kept, and the same command "
        "goes on from there"
    )

    # evaluation: what figures of answers in free text were made with.
    SIMILARITY_LEFT_OUT = N_(
        "Similarity and the measures of derivations are left out: they need the extra {extra}. "
        "How to install it: localrag doctor"
    )
    METEOR_LEFT_OUT = N_(
        "The measures of evidence are left out: they need the extra {extra}. How to "
        "install it: localrag doctor"
    )
    METEOR_MADE_WITH = N_("METEOR is that of NLTK {version}, as the official script takes it.")
    METEOR_WITHOUT_WORDNET = N_(
        "WordNet is missing (NLTK's data, or {path} of Debian's package wordnet-base): METEOR "
        "matches no synonyms, so that the figures of evidence are lower than official ones."
    )
    METEOR_OTHER_SENTENCES = N_(
        "NLTK's data lack punkt_tab: sentences are split by localrag before words are, so that "
        "figures of evidence can differ a little from official ones."
    )
    SIMILARITY_MADE_WITH = N_(
        "Similarity is made with Sudachi, dictionary {dictionary} {version}, and {synonyms}."
    )
    SIMILARITY_WITHOUT_SYNONYMS = N_(
        "Similarity is made with Sudachi, dictionary {dictionary} {version}, and no synonyms."
    )
    SIMILARITY_UNOFFICIAL = N_(
        "The official script takes the dictionary {dictionary}, the synonyms of Sudachi and "
        "its own sample_user_dic.txt: its similarities can differ."
    )

    # optimisation
    EXAMPLES_LEFT_OUT = N_(
        "the context of the reflection model does not hold all examples: it sees the first ones"
    )
    PROMPT_KEPT = N_(
        "the prompt {name} was edited by hand meanwhile and is left as it is; what the run "
        "found is shown by: localrag optimize show {name}"
    )

    # diff: what the text of one state lacks as a whole, and perhaps only its source.
    NO_APPENDICES = N_(
        "the text of {state} has no appendices, its source may leave them out; that of {other} "
        "has: {names}"
    )
    NO_ENACTING_CLAUSE = N_(
        "the text of {state} has no enacting clause, its source may leave it out; that of "
        "{other} has one"
    )

    # check: why nothing can be shown of what a text says.
    OF_ANOTHER_DAY = N_("it is the law of another day, or of a state that the corpus lacks")
    ANOTHER_STATE = N_(
        "the text speaks of another state of {law}: it is not checked against that of the day, "
        "and --as-of names another day"
    )
    CAN_MEAN_SEVERAL = N_("it can mean several provisions: {provisions}")
    OWN_ARTICLE = N_("it is taken for an article of the text itself")
    LAW_UNTOLD = N_("which law {citation} is of is not told")
    NOTHING_TO_COMPARE = N_("the corpus has not all of the provisions that it is said of")
    NOT_OF_THE_PROVISION = N_(
        "the sentence speaks of a case, of another day, or of what others say"
    )
    SAID_IN_OTHER_WORDS = N_("code does not tell whether the provision says so")
    WORDS_LACKING = N_(
        "the provision does not have {words}; whether it says so otherwise code does not tell"
    )
    FIGURE_OF_ANOTHER_CASE = N_(
        "the provision has {words}, but code does not tell whether it is that of this case"
    )
    CITED_WRONGLY = N_(
        "the sentence has the words of the provision, but a citation in it does not hold"
    )
    PENALTY_RENAMED = N_(
        "the state of the law is another one: on {day} 拘禁刑 took the place of 懲役 and 禁錮, "
        "and one of both texts has the older words"
    )
    SENTENCE_TOO_LONG = N_("so long a sentence is not compared")
    PROVISIONS_TOO_MANY = N_("what is said of so many provisions at once is not compared")
    FIGURE_NOT_THERE = N_(
        "the provision does not have {words}; whether that is said of it code does not tell"
    )
    LISTED_BELOW = N_("the line is in a list below its provision and was not compared")
    CELL_OF_FEW_WORDS = N_(
        "the cell is beside its provision and was not compared: the cell has too few words"
    )
    FIGURE_RECKONED = N_(
        "the provision gives such a figure by a table, a sum or an average: "
        "{words} was not compared"
    )
    BRACKETS_LEFT_OUT = N_(
        "brackets of the provision are left out and not marked so; the other words are its own"
    )
    PAGE_END_BETWEEN = N_(
        "the words are those of the provision, but other words are between them where the page "
        "ends; compare the page"
    )
    QUOTED_IN_OTHER_NOTATION = N_("only the notation differs; the words are those of the provision")
    WORDS_NOT_THERE = N_("the provision does not have these words")

    PART_UNTOLD = N_("which words of the provision are its {part} code does not tell")

    MODEL_SUPPORTS = N_("a model finds it supported; code has not found it so")
    MODEL_REFUTES = N_("a model finds it refuted; code has not found it so")
    EVIDENCE_LACKS = N_("the corpus does not tell")
    EVIDENCE_CONFLICTS = N_("some of the corpus speaks for it, some against it")
    CLAIM_UNANSWERED = N_("the model gave no answer: {cause}")

    # check: what does not hold.
    CLAIM_CONTRADICTED = N_("a sentence of the corpus has something else in the place of {words}")
    OWN_ARTICLE_LACKING = N_("the text itself has no such article, paragraph or item")
    PROVISION_LACKING = N_(
        "{law} has no such provision; {outer} ends with {last}; beside it there is: {near}"
    )
    ITEMS_LACKING = N_("{law} has no such provision; {outer} has no items")
    PROVISION_LACKING_ALONE = N_("{law} has no such provision")
    NOT_IN_OLD_TEXT = N_(
        "the corpus only has the text of {law} of {day}, which has no such provision; a later text "
        "may have it"
    )
    PART_NOT_IN_OLD_TEXT = N_(
        "the corpus only has {provision} as of {day}, which has no {part}; "
        "a later text may have one"
    )
    PART_LACKING = N_("{provision} has no {part}")
    PART_OF_STATE = N_("{provision} has no {part}; in the state of {day} it has one")
    UNDER_ANOTHER_HEADING = N_("the provision does not stand in {heading}; it stands in {under}")
    PROVISION_DELETED = N_("the provision is deleted")
    NUMBER_MALFORMED = N_("{citation}: this cannot be read as a number")
    PROVISION_GONE = N_("the provision is deleted; the state of {day} still has it")
    PROVISION_MOVED = N_("the provision of the state of {day} now is {now}")
    CAPTION_ELSEWHERE = N_(
        "the article is captioned {caption}; the caption given is that of {where}"
    )
    CAPTION_OF_ANOTHER = N_("the article has no caption; the caption given is that of {where}")
    QUOTED_OTHERWISE = N_("the provision has other words")
    QUOTED_NOWHERE = N_("the law has no such words")
    QUOTED_ELSEWHERE = N_("these words stand in {where}")
    QUOTED_OF_STATE = N_("these are the words of the state of {day}")
    SAID_OTHERWISE = N_("the provision says {instead}, not {words}")
    SAID_OTHERWISE_ALONE = N_("the provision does not say {words}")
    LAW_NUMBERED = N_("the number of the law is {number}")
    LAW_CALLED = N_("the law is called {title}")
    LAW_MISSPELT = N_("the corpus has no law called {name}, but one that is called {title}")

    # conversations
    UNCHECKED = N_("an earlier localrag made these claims and did not check them: ask again")

    @classmethod
    def of_code(cls, code: str) -> Self:
        """The kind of a code, such as ``no-such-law``.

        Raises:
            KeyError: there is none.
        """
        return cls[code.upper().replace("-", "_")]

    @property
    def code(self) -> str:
        """What is stored: ``no-such-law`` of NO_SUCH_LAW."""
        return self.name.lower().replace("_", "-")

    @property
    def words(self) -> str:
        """A message with the names of the fields in braces."""
        return self.value

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields that its words show."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.words) if name)
