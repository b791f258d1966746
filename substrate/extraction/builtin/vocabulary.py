"""Closed word lists that tell names, roles and kinds of thing apart. Data only."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_A_NAME = _words(
    """a an the this that these those it its he him his she her hers they them their theirs we us our ours i
    me my mine you your yours who whom whose which what when where why how all any both each every either
    neither few many more most much no none nor not one other several some such same own and or but so yet
    if unless because although though while whereas since until till before after during for from of in on
    at by to with without within under over about above across against along among around as between
    beyond despite down into like near off onto out outside past per through throughout toward towards up
    upon via also again already always ever never now then there here today yesterday tomorrow soon later
    once only just still too very however therefore thus hence meanwhile moreover furthermore finally first
    second third next last previously formerly currently recently originally initially eventually
    accordingly effective correction corrected note update erratum former current new old acting interim
    ex late please according subject pursuant following prior is are was were be been being am has have had
    do does did will would shall should may might can could must starting beginning as_of there's it's
    yes ok hello hi dear thanks thank regards per re fwd cc is perhaps maybe possibly reportedly allegedly
    apparently rumour rumor rumours rumors sources everyone someone nobody nothing everything something
    please let approved decided agreed confirmed announced today's yesterday's earlier whether assuming
    provided suppose supposing had should neither both plus minus question answer utc gmt cet cest bst"""
)
"""Capitalised at the start of a sentence, these do not begin a name."""

MONTHS_AND_DAYS = _words(
    """january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept oct nov dec q1 q2 q3 q4
    h1 h2 fy"""
)

NAME_PARTICLES = _words("de van von der den bin ibn al el la du di da dos del della le ten ter zu y")
"""Lower-case words that stand inside a name when capitalised words stand on both sides."""

TAKES_OF = _words(
    """ministry department university bank institute board college school republic city bureau office
    faculty museum council house court academy church kingdom states chamber association society port
    commission committee agency division centre center hospital union order bay gulf isle king queen
    government secretariat league conference congress treaty journal"""
)
"""After these a capitalised "of …" belongs to the name ("Ministry of Health")."""

OPENING_WORDS = _words(
    """met spoke called visited emailed e-mailed talked saw asked hello hi dear hey fixed closed added removed changed
    updated bumped upgraded renamed moved dropped raised lowered spotted noted customer supplier client attendees
    participants competitor distributor landlord tenant"""
)
"""Opening a note these are no part of the name behind them."""
COMMON_ACRONYMS = _words(
    "IP ID VAT PO SKU UI UX GPU CPU RAM SSD API URL PDF FAQ HQ PR QA R&D AI ML OS SLA KPI PIN EBITDA EBIT ARR "
    "MRR GDP CPI ERP CRM"
)
"""Written in capitals, yet ordinary nouns when no name goes on behind them."""
HONORIFICS = _words("mr mrs ms miss dr prof professor sir madam mx")

PROJECT_WORDS = _words("project programme program initiative workstream campaign operation mission pilot")
TEAM_WORDS = _words(
    """team group department division unit squad committee board council office taskforce crew chapter
    guild practice branch desk section directorate bureau commission panel"""
)
COMPANY_WORDS = _words(
    """inc ltd limited corp corporation llc llp gmbh ag sa plc co company holdings partners systems
    technologies technology labs laboratories industries solutions software bank university institute
    ministry foundation association society agency ventures capital motors airlines energy logistics media
    networks works studios consulting hospital college school museum club union enterprises trading
    insurance pharma pharmaceuticals biotech robotics analytics electronics foods clinic metals steel textiles
    mining marine aerospace telecom shipping railways academy mills
    authority kft srl oy ab nv bv pty as a/s spa s.p.a aps gmbh kg kgaa se sas sarl zrt doo lda corp. securities
    financial semiconductors software motors breweries brewery bakery bakeries instruments holding bancorp fund trust
    publishing press records transport freight lines airways petroleum oil gas power utilities water
    health healthcare therapeutics biosciences genomics diagnostics orchards farms dairy seafoods packaging plastics
    chemicals cement timber paper furniture retail stores markets supermarkets hotels resorts properties property
    estates realty construction builders engineering architects advisers associates advisory legal chambers"""
)
PLACE_WORDS = _words(
    """city county street road avenue river lake building tower park district province island mountain
    valley bay airport harbour harbor port square plaza campus village town state region hall warehouse
    quay lane"""
)
PRODUCT_WORDS = _words("platform engine suite app service database server protocol sdk api framework library")
EVENT_WORDS = _words("conference summit meeting workshop festival fair expo")

KIND_NOUNS: dict[str, str] = {
    **dict.fromkeys(PROJECT_WORDS, "project"),
    **dict.fromkeys(TEAM_WORDS, "organization"),
    **dict.fromkeys(PLACE_WORDS, "place"),
    **dict.fromkeys(PRODUCT_WORDS, "product"),
    **dict.fromkeys(EVENT_WORDS, "event"),
    **dict.fromkeys(
        _words(
            """company firm startup subsidiary supplier vendor bank agency organisation organization
            university institute foundation authority hospital consultancy manufacturer"""
        ),
        "organization",
    ),
    **dict.fromkeys(
        _words("airline carrier retailer brewery lender insurer manufacturer publisher hotel school museum"),
        "organization",
    ),
    **dict.fromkeys(_words("package library device machine camera vehicle vessel ship engine"), "product"),
    **dict.fromkeys(_words("office plant factory site facility store branch laboratory lab"), "place"),
    **dict.fromkeys(_words("system module component tool pipeline application website repository"), "product"),
}
"""A common noun that says what kind of thing the name beside it is ("the Atlas team")."""

GROUP_WORDS = TEAM_WORDS - _words("office desk practice chapter branch")
"""A group inside an organisation that a common noun tells from others ("the audit committee")."""
PLAIN_MODIFIERS = _words(
    """project management leadership whole entire new old current former first second third other same joint
    own local core small large parent holding target host home lead main group sub extended wider full remote
    head different single next last final"""
)
"""Before a group or a system these tell it from no other."""
MEASURED_NOUNS = _words(
    """budget price cost costs fee fees rate revenue revenues turnover sales profit profits loss losses income margin
    earnings ebitda salary pay wage wages compensation headcount workforce staff employees personnel capacity weight
    height width length depth size volume area speed power pressure temperature range output production value amount
    total number count share shares stake interest stock holding title name address location headquarters status state
    priority severity version licence license date deadline term period duration age population rent limit quota target
    threshold timeout interval frequency balance debt equity valuation score rating grade level ratio yield demand
    supply warranty lifetime email phone website url nationality language owner plan strategy policy report memo
    contract agreement deal partnership merger acquisition takeover purchase sale launch rollout release migration
    move relocation expansion investment funding round loan grant order delivery shipment meeting conference call
    announcement decision proposal offer bid tender request issue problem incident outage failure delay risk change
    update upgrade review audit test trial study survey analysis project work job role position post charge control
    lead leadership management ownership membership board members customers users suppliers partners subsidiaries
    brand portfolio business operations activities assets history culture founder side part half end start
    beginning news data figure figures result results performance growth increase decrease rise fall decline
    spokesperson spokesman spokeswoman executive executives official officials source sources crisis"""
)
"""What a thing has or what happens to it: after a name these name an attribute or an event and no second thing."""
COMPANY_NOUNS = _words(
    "company firm startup business corporation organisation organization vendor supplier bank agency"
)

SURNAMES = _words(
    """wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he lin gao luo zheng liang xie
    song tang xu han feng deng cao peng zeng xiao tian dong pan yuan cai jiang yu du ye cheng wei su lu
    ding ren shen yao lu cui zhong tan fan jin shi liao jia xia fu fang bai zou meng xiong qin qiu hou yin
    xue yan duan lei long shi tao kim park choi nguyen tran pham sato suzuki tanaka watanabe singh kumar
    patel sharma khan smith jones brown garcia martinez rossi schmidt meyer muller"""
)
GIVEN_NAMES = _words(
    """james john robert michael david william richard joseph thomas charles mary patricia jennifer linda
    elizabeth barbara susan jessica sarah karen anna maria eva emma olivia sophia isabella mia amelia
    charlotte daniel matthew anthony mark paul steven andrew kevin brian george edward peter paula laura
    julia jane jean alice bob carol clara dora elena ella erik frank fatima grace hana hannah helen henry
    hugo ines ingrid irene ivan jack jacob jan jonas jorge juan kate kofi lara lars lea leo lena liam lucas
    lucy luis luke lukas marco marta martin max mei miguel nadia nina noah nora omar oscar pablo pedro petra
    priya rahul ravi rosa ruth sam samuel sara sofia sven tom tomas victor wei yuki zoe amir aisha amina
    diego dmitri gabriel ibrahim kenji layla mateo mohammed olga pierre rachel simon stefan thea tobias"""
)
PLACES = _words(
    """london paris berlin munich hamburg vienna zurich geneva madrid barcelona lisbon rome milan amsterdam
    brussels copenhagen stockholm oslo helsinki warsaw prague budapest athens dublin edinburgh manchester
    moscow istanbul cairo lagos nairobi johannesburg dubai mumbai delhi bangalore chennai hyderabad
    singapore bangkok jakarta manila hanoi seoul tokyo osaka kyoto beijing shanghai shenzhen guangzhou
    hangzhou chengdu nanjing wuhan suzhou taipei sydney melbourne auckland toronto vancouver montreal
    boston chicago seattle austin denver dallas houston atlanta miami philadelphia portland detroit
    france germany spain italy portugal poland china japan korea india brazil mexico canada australia
    austria switzerland sweden norway denmark finland ireland england scotland wales greece turkey egypt
    europe asia africa america leeds bristol lyon rotterdam antwerp porto turin krakow tallinn riga vilnius"""
)

DEMONYMS = _words(
    """american british english scottish welsh irish french german spanish italian portuguese dutch belgian swiss
    austrian
    polish czech hungarian romanian bulgarian greek turkish russian ukrainian swedish norwegian danish finnish icelandic
    chinese japanese korean indian pakistani thai vietnamese indonesian malaysian filipino australian canadian mexican
    brazilian argentine argentinian chilean colombian peruvian egyptian nigerian kenyan moroccan israeli iranian iraqi
    european asian african soviet roman arab catalan basque western eastern northern southern"""
)
"""These say where someone is from, not to whom something belongs."""


def is_demonym(words: str) -> bool:
    """ "British", "Nigerian-British"."""
    return all(w in DEMONYMS for w in words.lower().replace("-", " ").split())


CAPITAL_ADJECTIVES = _words("new old first second third next last prior great late upper lower")
NEW_PLACES = _words("york zealand delhi jersey orleans mexico hampshire haven england brunswick plymouth castle")
PLACE_CLASSES = _words("city town state province county village district municipality region port island republic")

SMALL_COMPANY_FORMS = _words("plc llc ltd inc gmbh pty bv")
"""Forms of company that are part of the name though not capitalised."""

CORPORATE_CLITICS = _words("inc ltd corp co bros jr sr esq")
"""A full stop after these, and after initials, belongs to the name."""

NAME_ABBREVIATIONS = _words(
    """wm geo chas thos jas jos robt edw alex benj saml danl fredk arth hy jno richd matt phil st ste mt ft messrs
    rev hon capt col gen lt maj sgt cmdr gov sen rep pres supt fr sr br"""
)
"""Given names and ranks cut short: they stand before a name and their full stop ends no sentence."""

ABBREVIATIONS = (
    NAME_ABBREVIATIONS
    | CORPORATE_CLITICS
    | _words(
        """mr mrs ms dr prof no nos vs etc dept approx ca resp est fig figs vol vols pp para sec art ch cf incl excl
        min max tel ext ave rd blvd sq bldg apt univ inst assn dist div jan feb mar apr jun jul aug sep sept oct nov
        dec ref encl attn al mon tue tues wed thu thur fri"""
    )
)
"""Words whose full stop does not end a sentence by itself."""

TITLE_SUFFIXES = _words(
    """charter memo memorandum record records note notes profile page report minutes handbook
    overview summary log logs brief briefing sheet factsheet file dossier announcement update status letter
    offer handover hand-over card entry history plan details info information"""
)
"""What a title says about the document rather than about its subject ("Project Aurora charter")."""
