"""The kinds of facts by room, each with its sentence."""

from enum import Enum, unique
from string import Formatter
from typing import Self

from localrag.language import N_


@unique
class FactKind(Enum):
    """A kind of fact; the value is its sentence, with the names of fields in braces.

    The name in small letters is the stored code. A kind that was ever stored keeps its name.
    """

    # A sentence stored by an earlier version.
    SAID = N_("{words}")
    # Notes of earlier versions about quotations.
    WORD_NOT_QUOTED = N_("{word} is not in the quotations")

    # retrieval: reasons for hits.
    NAMED = N_("named: {other}")
    FILLS_IN = N_("implements {other}")
    FILLED_IN_BY = N_("implemented by {other}")
    REFERS_TO = N_("refers to {other}")
    REFERRED_TO_BY = N_("referred to by {other}")
    APPLIES = N_("applies mutatis mutandis {other}")
    APPLIED_BY = N_("applied mutatis mutandis by {other}")
    DEFINES = N_("defines {other}")
    PUNISHES = N_("punishes a breach of {other}")
    NAMED_IN = N_("named in {other}")
    PLACE_OF_OPTION = N_("the provision cited by the option")

    # retrieval: omissions and switched off steps.
    LAW_OF_DAY = N_("the law as of {day}; its other states are not searched")
    TEXT_OLD = N_(
        "the text of {laws} in this corpus is more than {months} months older than {day}; later "
        "amendments may be missing"
    )
    TEXT_LATER = N_(
        "the corpus has no text of {laws} as of {day}; the text shown is in force from the day "
        "in brackets"
    )
    TEXTS_OLD = N_(
        "{old:,} of {laws:,} laws have a text more than {months} months older than {day}; the "
        "oldest is {law} of {date}; later amendments may be missing"
    )
    STATES_HELD = N_(
        "this corpus has these texts of {law}: {days}; texts between and after them are unknown"
    )
    LAST_STATE = N_(
        "the last text of {law} in this corpus is of {date}; changes until {day} are unknown"
    )
    DAY_ASKED = N_("the question is read as asking for the law as of {day} ({words})")
    PERIOD_ASKED = N_(
        "the question is read as asking for the law as of {day} ({words}: its last day, or today)"
    )
    DAY_OF_THE_CASE = N_("{words} is read as a day of the case; the law as of {day} is shown")
    DAY_GIVEN = N_("the question says {words}, but the day you gave was used: {day}")
    NO_SUCH_DAY = N_(
        "{words} is not a date; the law as of {day} is shown; --as-of names another day"
    )
    FORMER_STATE_ASKED = N_(
        "{words} refers to another state of the law, without its day; the law as of {day} is "
        "shown (another day: --as-of)"
    )
    CITED_NOT_QUOTED = N_(
        "the question cites {n:,} more provisions, not quoted here (localrag show)"
    )
    CONTENTS_ELSEWHERE = N_(
        "the question asks for the whole law: localrag show {law} gives its table of contents"
    )
    NO_SUCH_LAW = N_("the corpus has no law called {name}")
    LAW_OF_MATTER = N_("{matter} is a matter of {law}; the corpus does not have this law")
    LAW_NEAR = N_("the corpus has no law called {name}: do you mean {near}?")
    NOT_FILLED_IN = N_("the corpus has no {instrument} implementing {provision}")
    AMBIGUOUS = N_("{citation} can mean {n:,} provisions")
    DEFINED_IN_SEVERAL = N_("several laws define {term}: {laws}")
    NOT_DEFINED = N_("no provision of the corpus defines {term}")
    LEXICAL_OFF = N_("search by words is switched off (retrieval.lexical)")
    DENSE_OFF = N_("search by meaning is switched off ({setting})")
    NO_EMBEDDER = N_(
        "the corpus has vectors, but no embedder is installed for them, or several are and none "
        "is set (embedding.model): searched by words only"
    )
    NO_VECTORS = N_(
        "the corpus has no vectors yet: searched by words only; make them with "
        "localrag index --corpus {corpus}"
    )
    OTHER_VECTORS = N_(
        "the vectors of the corpus do not fit the model {model}: searched by words only; make "
        "them again with localrag index --corpus {corpus}"
    )
    WORDS_FOR_MEANING = N_("no vectors or no model for them: BM25 replaces search by meaning")
    LAYERS_BEHIND = N_(
        "the corpus or its layers changed after the layers were indexed; removed texts were not "
        "searched (localrag prepare)"
    )
    METADATA_BEHIND = N_(
        "the corpus changed after a model sorted its documents; later documents are not found "
        "by the model's labels (localrag prepare --layers metadata)"
    )
    FILTERS_LEAVE = N_(
        "the filters match {n:,} articles, passages or triples of the corpus (--where)"
    )
    FILTERS_LEAVE_NOTHING = N_("nothing in the corpus matches all of these: {filters}")
    FILTERS_WOULD_LEAVE = N_("something matches if you change one of these: {values}")
    NO_RERANKER = N_("no model for reranking: the hits keep their order")
    NOT_RERANKED = N_(
        "not reranked: the texts need {needed:,} tokens, the model reads {available:,}"
    )
    NO_SUBJECT = N_("no subject of the corpus is named {name!r}")
    MORE_SUBJECTS = N_("{name!r} names {n:,} more subjects, not searched")
    FIRST_TRIPLES = N_("only the first {n:,} triples of {name!r} were searched")

    LOOKED_UP = N_("also searched: {said} → {phrases}")

    # statutes: citations without a provision.
    NO_SUCH_PROVISION = N_("{citation}: the law has no such provision")
    ONLY_IN_SUPPLEMENT = N_(
        "{citation}: not in the main provisions, but in the supplementary ones: {division}"
    )
    CITED_LAW_LACKING = N_("{citation}: the corpus has no law called {name}")
    NO_LAW_NAMED = N_("{citation}: no law is named")
    NOTHING_BEFORE = N_("{citation}: the text before it does not say what it refers to")
    NUMBER_UNREAD = N_("{citation}: {number!r} is not the number of a provision")
    RANGE_BACKWARDS = N_("{citation}: a range ends before it begins")

    # reading: quotations, and the input of models.
    NO_SUCH_PASSAGE = N_("the corpus has no passage {passage}")
    QUOTE_EMPTY = N_("the quotation is empty")
    QUOTE_NOT_HELD = N_("the quotation is not in the passage")
    SHORTENED = N_(
        "{place}: the model got {shown:,} of {characters:,} characters, those nearest to the "
        "question"
    )
    PASSAGES_LEFT_OUT = N_(
        "{n:,} of {total:,} passages did not fit the context (chat.context) and were left out, "
        "the last ranks first: {places}"
    )
    SENTENCES_LEFT_OUT = N_(
        "only {n:,} sentences fit the context (chat.context); other candidates were left out"
    )
    NOTHING_NEAREST = N_(
        "no nearest passages are listed: passages of other laws are no answer; a search shows them"
    )
    CITED_FOR_NOTHING = N_(
        "{n:,} more sentences cited by the model do not support its claims and are left out"
    )
    REPLY_CUT = N_("the reply was cut short after {n:,} tokens")
    REPLY_MALFORMED = N_("the reply cannot be read: {flaw}")
    MODEL_FAILED = N_("the model failed: {cause}")
    MODEL_THINKS_ANYWAY = N_(
        "{model} cannot be stopped from thinking; it was given room for it (chat.effort)"
    )
    THOUGHT_CUT = N_("the thought of {model} filled its room and was ended after {n:,} tokens")
    REPLY_UNBOUND = N_(
        "nothing keeps {model} to the form of its replies; its words were read and checked"
    )
    REPLY_LENIENT = N_("the reply of {model} was taken out of other words")
    REPLY_IN_THOUGHT = N_("the server put the reply of {model} where thought belongs")
    REPLY_REPAIRED = N_("the first reply of {model} had another form; it was asked once more")

    # methods: follow-up questions, written queries, options.
    FOLLOW_UP_REFUSED = N_(
        "the model's reading of the question named other laws or numbers; it was not used"
    )
    FOLLOW_UP_FAILED = N_("the model's reading of the question was malformed; it was not used")
    PROMPT_SAW_QUESTION = N_(
        "the query prompt was optimised on this question; the answer does not show how other "
        "questions are answered"
    )
    NO_QUERY_PROMPT = N_(
        "method.query_prompt names no optimised prompt; the built-in prompt wrote the query"
    )
    PROMPT_IS_BUILT_IN = N_(
        "the optimised prompt {name} is the built-in instruction: optimisation found no better one"
    )
    PROMPT_EDITED = N_(
        "the optimised prompt {name} was edited by hand later; its scores belong to the former text"
    )
    SEARCHED_ALSO = N_("also searched, in the model's words: {law} {words}")
    SEARCHED_ALSO_GUESSING = N_(
        "also searched, in the model's words: {words} (the model guessed a law that is not in "
        "this corpus: {law})"
    )
    REPLY_REMEMBERED = N_(
        "{model} wrote this earlier for the same question and settings; it was not called again"
    )
    SEARCH_REPEATED = N_(
        "the model repeated words in {n:,} of its searches; each word is searched once"
    )
    SEARCHES_FAILED = N_(
        "the model wrote no search ({cause}); only the words of the question were searched"
    )
    QUERY_WORDLESS = N_("the model wrote a query without a word; the question itself was searched")
    QUERY_LAW_LACKING = N_("the query cites {citation}; its law is not in the corpus")
    NOTHING_FOUND = N_("nothing was found; the model got no source")
    NOT_QUOTED = N_("an option was chosen, but no provision is quoted for it")
    HELD_OUT = N_("cross-validated: weights fitted without this question")
    TIED = N_("the likeliest options are tied; one of them was chosen arbitrarily")
    IMPROBABLE = N_("not sure: the option is right with {share:.0%}; support needs {needed:.0%}")
    NOT_TURNED = N_(
        "the question cannot be reversed: the model reads that it asks for the wrong option"
    )
    NOT_ASKED_OF = N_("there was no source; the model was not asked about it")
    UNDECIDED = N_("the quotations do not decide between the options")
    ELIMINATED = N_("the quotations only contradict the other options")
    CHOSEN_BY_AGREEMENT = N_(
        "the quotations do not decide between the options; code chose the one that agrees best "
        "with the evidence"
    )
    CHOSEN_BY_RETRIEVAL = N_(
        "the quotations do not decide between the options; the one with the best ranked hits "
        "was chosen"
    )
    CHOSEN_ARBITRARILY = N_(
        "the quotations do not decide between the options and nothing else does; one was chosen "
        "arbitrarily"
    )

    # methods, multihop: the question is split.
    NOT_DECOMPOSED = N_(
        "the model's sub-questions were malformed; the question itself was searched"
    )

    # methods, pr3: queries under summaries, and their results.
    NOT_AUGMENTED = N_("the model's queries were malformed; the question itself was searched")
    NO_SUMMARY = N_("these documents have no summary; the queries were written without one")
    SUMMARIES_LEFT_OUT = N_("{n:,} of {total:,} summaries fit the context (chat.context)")
    NO_STATEMENT = N_("left out because it is not a statement: {words}")
    ASPECT_WITHOUT_EVIDENCE = N_("no evidence was found for this aspect: {aspect}")

    # methods, decon-hybrid: the answer is withheld.
    WITHHELD = N_("the answer {answer} was withheld: no sentence supports it")

    # methods, fact-check: questions, sentences, the verdict.
    CLAIM_NOT_SPLIT = N_("the model's questions were malformed; the claim itself was searched")
    NOT_SUPPLEMENTED = N_("a sentence has no supplementary context: the model's text was malformed")
    BY_WORD_OF_MODEL = N_(
        "for some sentences only a model says whether they support the claim; code found no "
        "figure, date or denial to compare"
    )
    NOT_ENOUGH_EVIDENCE = N_("{n:,} sentences were found; they do not decide the claim")

    # methods, staged: the question is split.
    NO_QUERY = N_("the model did not split the question; the question itself was asked")
    SIDE_MISNAMED = N_(
        "query {n} asks about {subject!r}, but its side is called {side!r}: the model compares"
    )
    SIDE_WITHOUT_QUERY = N_("the side {side!r} has no query {n}: the model compares")
    TWO_SIDES = N_("query {n} gives two sides: the model compares")

    # methods, staged: a query on its way.
    REFERS_AHEAD = N_("it refers to Answer{n}, which comes later; it was not asked")
    ANSWER_MISSING = N_("it needs Answer{n}, which was not found; it was not asked")
    WORDLESS = N_("it has no word; it was not asked")
    TOO_LONG = N_(
        "with the answers filled in it has {n:,} characters, more than {most:,}; it was not asked"
    )
    TRIPLES_KEPT_OUT = N_("the filters match no triples; triples were not searched")
    DOCUMENTS_KEPT_OUT = N_("the filters match no documents; documents were not searched")
    NO_TRIPLES_FOUND = N_("no triples were found; the model was not asked")
    NO_DOCUMENTS_FOUND = N_("no documents were found; the model was not asked")
    NO_TRIPLES_FIT = N_("no triple fits the context; the model was not asked")
    NO_DOCUMENTS_FIT = N_("no document fits the context; the model was not asked")
    OBJECT_NOT_OF_TRIPLE = N_(
        "the model named the object {object!r}, which is not in the triple; the triple's own "
        "object is used"
    )
    OBJECT_NOT_HELD = N_("the object is not in the passage")

    # methods, staged: the comparison, and doubts about the steps.
    MODEL_ANSWERS = N_("code cannot compute the comparison: the model answers")
    FEW_SIDES = N_("fewer than two sides were named")
    COMPARISON_UNREAD = N_("code cannot decide the comparison ({comparison})")
    COMPARISON_OPEN = N_("code cannot decide the comparison ({comparison}: {because})")
    CLAIMED_NO_SIDE = N_("query {n} is claimed but is no side of the comparison")
    SIDE_UNKNOWN = N_("the side {side!r} is neither in the question nor in a triple")
    SIDE_OF_ANOTHER = N_("the side {side!r} of query {n} appears in triples of another query")
    SIDES_ALIKE = N_("several sides have the name {side!r}")
    FOUND_AT_NO_STAGE = N_("query {n} was answered at no stage")
    NOT_ASKED = N_("query {n} was not asked")
    REMEMBERED = N_("query {n} is answered from the model's memory")
    ANSWER_NOT_HELD = N_("the passage cited for query {n} does not contain {answer!r}")
    OTHER_SUBJECT = N_("query {n} asks about {subject!r}, but its citation is about {other!r}")
    STRANGE_SUBJECT = N_(
        "query {n} asks about {subject!r}, which is neither in the question nor in an earlier "
        "answer"
    )
    NO_ANSWER = N_("the model finds no answer in the triples")
    ANSWER_NOT_SAID = N_("no triple contains the answer")
    CONCLUDED = N_(
        "the triples are quoted; that the answer is {answer!r} is the model's conclusion, which "
        "code cannot compute"
    )

    # methods, staged-symbolic: parts of the question that were not used.
    OPTIONS_IGNORED = N_("the options were not used")
    FILTERS_IGNORED = N_("the filters were not applied; triples of the whole corpus were searched")
    FIRST_NAMES = N_("{n:,} names: the first {most:,} were searched")
    LIKELIEST_MEANINGS = N_("{name!r} names {n:,} subjects: the likeliest {most:,} were searched")

    # methods, staged-symbolic: doubts about the answer.
    NOT_JAPANESE = N_("only questions in Japanese are analysed")
    QUESTION_LONG = N_(
        "the question has {n:,} characters; only questions of up to {most:,} are analysed"
    )
    NEGATED = N_("the question contains a negation; triples cannot answer it")
    NO_NAME = N_("the corpus has no subject named in the question")
    NO_TRIPLE = N_("no triple of the named subjects answers the question")
    NOT_DECIDED = N_("the triples do not decide it: {because}")
    INCOMPARABLE = N_(
        "the triples do not decide it: {one} ({of_one}) and {other} ({of_other}) cannot be compared"
    )
    POOR_FIT = N_("the best triples fit the wording with {fit:.2f}; {needed:.2f} is needed")
    UNSAID = N_("no triple on the way to an answer mentions {words}")
    SEVERAL_SUBJECTS = N_("the question can mean several subjects: {subjects}")
    RIVAL = N_("{answer!r} fits the wording equally")
    OF_A_TIME = N_("the question asks for a certain time; triples have no times")
    TRIPLE_NOT_QUOTED = N_("a triple could not be quoted from the corpus")
    OTHER_MEANING = N_("{name!r} can mean other things than {subject!r}")
    PARTLY_SHARED = N_("only some of several values are the same")
    CONTRADICTORY = N_("{predicate!r} of {subject!r} has several values: {values}")
    CONDITION_UNTOLD = N_("no triple says that the condition {word!r} is met")
    SAYS_MORE = N_("{predicate!r} is narrower than the question")
    ONLY_ALIKE = N_("the values compared are only similar")
    BEGINNINGS = N_("only beginnings were compared")
    DIFFERENT_PREDICATES = N_("{one!r} and {other!r} may have different meanings")

    # doctor: findings.
    INSTALLED = N_("installed")
    NOT_INSTALLED = N_("not installed (optional): {packages}")
    VALID = N_("valid")
    DISK_FREE = N_("{gigabytes:.1f} GB free")
    GPU_FOUND = N_("{vendor} {name}: {total:.1f} GB of memory, {free:.1f} GB free")
    GPU_NAMED = N_("{vendor} {name}")
    NO_GPU = N_("no GPU found")
    BUILT_FOR_GPU = N_("{version}, with {backend}")
    BUILT_FOR_PROCESSOR = N_("{version}, CPU only")
    BUILT_WITHOUT = N_("{version}, CPU only: this build has no {backend}")
    RUNS_ON_GPU = N_("{model} runs on the GPU ({backend})")
    RUNS_IN_LAYERS = N_("{model} runs on the GPU ({backend}), {layers} of {of} layers")
    RUNS_ON_PROCESSOR = N_("{model} runs on the processor only")
    RUNS_IN_VRAM = N_("{model}: {vram:.1f} of {size:.1f} GB are in the memory of the GPU")
    RUNS_WHEN_ASKED = N_("{model} is not loaded; its server loads it for the first question")
    SPEED_HERE = N_("{model} wrote {rate:.1f} tokens a second here, with the reading ({n} replies)")
    SPEED_UNKNOWN = N_("{model}: not measured here yet; the next answer measures its speed")
    RUNS_UNSAID = N_("{model}: its server gives no place")
    READ_BY_OWNER = N_("only its owner can read it")
    READ_BY_GROUP = N_("its group can read corpora, indexes and models")
    READ_BY_EVERYONE = N_("everyone can read corpora, indexes and models")
    EXPOSED = N_("others can read or write {n:,} files and folders of it: {first}")
    JOURNAL_WHOLE = N_("{n:,} questions, unchanged; the last line is {last}")
    CONVERSATIONS_SOUND = N_("sound, {n:,} conversations")
    LAWS_RECENT = N_("{laws:,} laws, the newest text is of {date}")
    STORE_SOUND = N_("sound, {n:,} documents")
    UP_TO_DATE = N_("up to date, every byte as written")
    CHECKSUMS_ANEW = N_(
        "everything with a mark is as it was stored; its checksums were written again"
    )
    NOT_INDEXED = N_("not indexed yet")
    INDEX_OLDER = N_("older than the documents of the corpus")
    INDEX_LOST = N_("the index is missing")
    INDEX_OUTDATED = N_("the index is outdated")
    INDEX_DAMAGED = N_("the index is damaged")

    # cures as shell commands; the workbench words them itself
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
    TO_BUILD_FOR_GPU = N_(
        'CMAKE_ARGS="-D{switch}=on" pip install --force-reinstall --no-cache-dir llama-cpp-python '
        "(docs/gpu.md)"
    )
    TO_INSTALL_FOR_GPU = N_("pip install --upgrade --force-reinstall torch (docs/gpu.md)")
    TO_NAME_MODEL = N_(
        "Name one with --model, or set chat.model; list them with: localrag models list"
    )
    TO_NAME_OUT = N_("Name another file with --out.")
    TO_BEGIN_ANEW = N_("Name another file with --out, or discard these answers with --restart.")
    TO_NAME_RUN = N_("Choose another name with --run, or remove the folder {folder}")
    TO_LEAVE_ORDERS = N_("Leave out --orders.")
    TO_LEAVE_JUDGE = N_("Leave out --judge.")
    TO_SET_MODEL = N_("Set chat.model; list the models with: localrag models list")

    # batches
    FIELDS_UNREAD = N_("fields not read: {names}")
    TABLE_ENCODING = N_("the text is not UTF-8; it is read as Shift_JIS (cp932)")
    TABLE_EUC_JP = N_("the text is not UTF-8; it is read as EUC-JP")
    TABLE_TABS = N_("tabs separate its columns")
    TABLE_SEMICOLONS = N_("semicolons separate its columns")
    TABLE_HEADER = N_("line {line} is read as the header; lines above it are not read")
    TABLE_OPTIONS = N_("the columns {names} are read as the options of a question")
    SHEET_READ = N_("the questions are read from {sheet}, below row {row}")
    SHEETS_UNREAD = N_(
        "the questions are read from {sheet}, below row {row}; sheets not read: {others}"
    )
    IDS_ARE_DATES = N_(
        "{n:,} numbers of questions are dates, the first in cell {cell}: Excel turns 1-1 into a "
        "date unless the column is formatted as text first"
    )
    TABLE_CHECKED = N_("{unreadable:,} of {rows:,} rows cannot be asked")
    INDEX_BEHIND = N_(
        "corpus {corpus} changed after it was indexed; to find new text run: localrag index "
        "--corpus {corpus}"
    )
    GOES_ON = N_("{rows:,} rows are already done and left alone")
    LINE_DROPPED = N_("a line that was cut off is removed")
    STOPPED = N_(
        "stopped with {done:,} of {total:,} rows done; they are kept, and the same command "
        "goes on from there"
    )

    # evaluation: the tools behind figures of free text.
    SIMILARITY_LEFT_OUT = N_(
        "Similarity and the measures of derivations are left out: they need the extra {extra}. "
        "How to install it: localrag doctor"
    )
    METEOR_LEFT_OUT = N_(
        "The measures of evidence are left out: they need the extra {extra}. How to "
        "install it: localrag doctor"
    )
    METEOR_MADE_WITH = N_("METEOR is from NLTK {version}, as in the official script.")
    METEOR_WITHOUT_WORDNET = N_(
        "WordNet is missing (NLTK's data, or {path} of Debian's package wordnet-base): METEOR "
        "matches no synonyms, and the figures of evidence are lower than official ones."
    )
    METEOR_OTHER_SENTENCES = N_(
        "NLTK's data has no punkt_tab: localrag splits sentences first, and figures of evidence "
        "can differ a little from official ones."
    )
    SIMILARITY_MADE_WITH = N_(
        "Similarity is made with Sudachi, dictionary {dictionary} {version}, and {synonyms}."
    )
    SIMILARITY_WITHOUT_SYNONYMS = N_(
        "Similarity is made with Sudachi, dictionary {dictionary} {version}, and no synonyms."
    )
    SIMILARITY_UNOFFICIAL = N_(
        "The official script uses the dictionary {dictionary}, the synonyms of Sudachi and its "
        "own sample_user_dic.txt: its similarities can differ."
    )

    # optimisation
    EXAMPLES_LEFT_OUT = N_(
        "the context of the reflection model is too short for all examples: it gets the first ones"
    )
    PROMPT_KEPT = N_(
        "the prompt {name} was edited by hand meanwhile and is kept; see the result of the run "
        "with: localrag optimize show {name}"
    )

    # diff: parts that one text does not have as a whole, perhaps only its source.
    NO_APPENDICES = N_(
        "the text of {state} has no appendices (its source may omit them); the text of {other} "
        "has: {names}"
    )
    NO_ENACTING_CLAUSE = N_(
        "the text of {state} has no enacting clause (its source may omit it); the text of "
        "{other} has one"
    )

    # check: reasons for "not checked".
    OF_ANOTHER_DAY = N_("it is the law of another day, or of a state not in the corpus")
    ANOTHER_STATE = N_(
        "the text refers to another state of {law}; it was not compared with the law of the "
        "day; --as-of names another day"
    )
    CAN_MEAN_SEVERAL = N_("it can mean several provisions: {provisions}")
    OWN_ARTICLE = N_("it is read as an article of the text itself")
    LAW_UNTOLD = N_("the text does not say which law {citation} belongs to")
    NOTHING_TO_COMPARE = N_("the corpus does not have all of the cited provisions")
    NOT_OF_THE_PROVISION = N_("the sentence is about a case, another day, or the views of others")
    SAID_IN_OTHER_WORDS = N_("it may say so in other words; this was not checked")
    WORDS_LACKING = N_(
        "the provision does not have {words}; it may say so in other words (not checked)"
    )
    FIGURE_OF_ANOTHER_CASE = N_(
        "the provision has {words}, perhaps for another case; this was not checked"
    )
    CITED_WRONGLY = N_("the sentence has the words of the provision, but a citation in it is wrong")
    PENALTY_RENAMED = N_(
        "the state of the law differs: on {day} 拘禁刑 replaced 懲役 and 禁錮, and one of the two "
        "texts has the older words"
    )
    SENTENCE_TOO_LONG = N_("the sentence is too long to be compared")
    PROVISIONS_TOO_MANY = N_("the sentence cites too many provisions to be compared")
    FIGURE_NOT_THERE = N_(
        "the provision does not have {words}; code cannot decide whether they are about it"
    )
    LISTED_BELOW = N_("the line is in a list below its provision and was not compared")
    CELL_OF_FEW_WORDS = N_(
        "the cell is beside its provision and was not compared: the cell has too few words"
    )
    FIGURE_RECKONED = N_(
        "the provision gives this kind of figure by a table, a sum or an average; {words} was "
        "not compared"
    )
    BRACKETS_LEFT_OUT = N_(
        "brackets of the provision are omitted without a mark; the other words are its own"
    )
    PAGE_END_BETWEEN = N_(
        "the words match the provision, with other words between them at the end of the page; "
        "compare the page"
    )
    QUOTED_IN_OTHER_NOTATION = N_("only the notation differs; the words match the provision")
    WORDS_NOT_THERE = N_("the provision does not have these words")

    PART_UNTOLD = N_("code cannot decide which words of the provision are its {part}")

    MODEL_SUPPORTS = N_("a model calls it supported; code could not confirm it")
    MODEL_REFUTES = N_("a model calls it refuted; code could not confirm it")
    EVIDENCE_LACKS = N_("the corpus does not say")
    EVIDENCE_CONFLICTS = N_("some of the corpus supports it, some contradicts it")
    CLAIM_UNANSWERED = N_("the model gave no answer: {cause}")

    # check: reasons for "does not hold".
    CLAIM_CONTRADICTED = N_("a sentence of the corpus says something else instead of {words}")
    OWN_ARTICLE_LACKING = N_("the text itself has no such article, paragraph or item")
    PROVISION_LACKING = N_("{law} has no such provision; {outer} ends with {last}; near it: {near}")
    ITEMS_LACKING = N_("{law} has no such provision; {outer} has no items")
    PROVISION_LACKING_ALONE = N_("{law} has no such provision")
    NOT_IN_OLD_TEXT = N_(
        "the corpus only has the text of {law} of {day}, without this provision; a later text "
        "may have it"
    )
    PART_NOT_IN_OLD_TEXT = N_(
        "the corpus only has {provision} as in force from {day}, without {part}; a later text "
        "may have one"
    )
    PART_LACKING = N_("{provision} has no {part}")
    PART_OF_STATE = N_("{provision} has no {part}; in the state of {day} it has one")
    UNDER_ANOTHER_HEADING = N_("the provision is not in {heading} but in {under}")
    PROVISION_DELETED = N_("the provision is deleted")
    NUMBER_MALFORMED = N_("{citation}: this is not a number")
    PROVISION_GONE = N_("the provision is deleted; the state of {day} still has it")
    PROVISION_MOVED = N_("the provision of the state of {day} is now {now}")
    CAPTION_ELSEWHERE = N_(
        "the caption of the article is {caption}; the caption given belongs to {where}"
    )
    CAPTION_OF_ANOTHER = N_("the article has no caption; the caption given belongs to {where}")
    QUOTED_OTHERWISE = N_("the provision has other words")
    QUOTED_NOWHERE = N_("the law has no such words")
    QUOTED_ELSEWHERE = N_("these words are in {where}")
    QUOTED_OF_STATE = N_("these are the words of the state of {day}")
    SAID_OTHERWISE = N_("the provision says {instead}, not {words}")
    SAID_OTHERWISE_ALONE = N_("the provision does not say {words}")
    LAW_NUMBERED = N_("the number of the law is {number}")
    LAW_CALLED = N_("the law is called {title}")
    LAW_MISSPELT = N_("the corpus has no law called {name}, but one called {title}")

    # conversations
    UNCHECKED = N_("an earlier localrag made these claims and did not check them: ask again")

    @classmethod
    def of_code(cls, code: str) -> Self:
        """The kind of a code, such as ``no-such-law``. Raises `KeyError`."""
        return cls[code.upper().replace("-", "_")]

    @property
    def code(self) -> str:
        """The stored code: ``no-such-law`` for NO_SUCH_LAW."""
        return self.name.lower().replace("_", "-")

    @property
    def words(self) -> str:
        """The sentence with the names of fields in braces."""
        return self.value

    @property
    def fields(self) -> frozenset[str]:
        """The names of the fields in the sentence."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.words) if name)
