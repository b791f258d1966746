"""Tables that names are read with: legal forms, titles, short forms of given names, words that tell a field of work.

Legal forms follow the list of the ISO 20275 registry for the countries whose companies are met most; short forms are
those that English dictionaries of given names agree on.
"""

from __future__ import annotations

from collections.abc import Mapping

LEGAL_FORMS: frozenset[str] = frozenset(
    (
        "ltd limited llc llp lp plc inc incorporated corp corporation co company cic pbc pc "
        "gmbh mbh ag kg kgaa ohg ug ev eg se gbr sa sas sarl sasu eurl snc scs spa srl sapa scarl sl slu "
        "bv nv vof cv bvba sprl ab hb kb oy oyj as asa aps is ks dba oü ou uab sia "
        "doo dd ad ood eood sp zoo kft zrt nyrt bt sro vos "
        "ooo oao zao pao ao jsc ojsc cjsc pjsc too tov pat "
        "kk gk yk pty pte bhd sdn pvt pt tbk cia ltda eireli sac saa sab cv de "
        "holdings"
    ).split()
) - {"is", "as", "de", "co", "sp", "cv", "ad", "dd", "kb", "holdings"}
"""A final word that says what a company is in law and not which one. Full stops are gone, case is folded."""
WEAK_FORMS: frozenset[str] = frozenset("as co sp cv ad dd de".split())
"""Legal forms that are words too: they count at the very end of a name of two more words, or after a comma."""
HAN_FORMS: tuple[str, ...] = (
    "股份有限公司",
    "有限责任公司",
    "控股有限公司",
    "有限公司",
    "股份公司",
    "株式会社",
    "有限会社",
    "合同会社",
)
TITLES: frozenset[str] = frozenset(
    "mr mrs ms miss mx dr prof professor doctor sir dame lord lady rev hon judge justice capt captain sgt lt col gen "
    "herr frau monsieur mme mlle señor señora sr sra don doña ing dipl mag".split()
)
SUFFIXES: frozenset[str] = frozenset("jr sr ii iii iv phd md esq obe mbe dds".split())
PARTICLES: frozenset[str] = frozenset("de del della der den di da dos du la le van von zu bin ibn al el of the".split())
SMALL: frozenset[str] = frozenset("of the and for de del du des la le der die das und et y e & in on".split())

_SHORT = """
william bill billy will willy liam | robert bob bobby rob robbie bert | richard dick rick ricky rich richie
james jim jimmy jamie | john jack johnny | jonathan jon jonny | thomas tom tommy | charles charlie chuck chas
edward ed eddie ted teddy ned | elizabeth liz lizzie beth betty eliza lisa libby bess | margaret maggie meg peggy greta
katherine catherine kate katie kathy cathy kat | alexander alex sandy sasha | alexandra alex sandra sasha
michael mike mick mikey misha | christopher chris kit topher | christina christine chris tina | daniel dan danny
joseph joe joey | benjamin ben benny | samuel sam sammy | samantha sam | matthew matt matty | andrew andy drew
anthony tony | nicholas nick nicky | patricia pat patty tricia trish | patrick pat paddy | susan sue susie suzy
jennifer jen jenny | jessica jess jessie | rebecca becky becca | deborah deb debbie | victoria vicky tori
stephen steve steven | gregory greg | jeffrey jeff geoffrey | timothy tim | kenneth ken kenny | ronald ron ronnie
donald don donnie | lawrence larry laurie | leonard len lenny leo | frederick fred freddie | francis frank
peter pete | philip phil | douglas doug | raymond ray | gerald gerry jerry | harold harry hal | henry harry hank
theodore ted theo teddy | abigail abby | barbara barb | dorothy dot dottie | eleanor ellie nell nora | emily em
frances fran | isabella bella izzy | jacqueline jackie | josephine jo josie | judith judy | kimberly kim
madeleine maddie | nathaniel nathan nate | natalie nat | pamela pam | penelope penny | rachel rach | sarah sally
stephanie steph | sebastian seb bastian | vincent vince | walter walt | zachary zach | dmitri dima mitya
maria masha mary | ivan vanya | sergei seryozha | mikhail misha | anastasia nastya | ekaterina katya | yelena lena
francisco paco pancho | jose pepe | ignacio nacho | enrique quique | johannes hans johann | friedrich fritz
"""


def _families() -> Mapping[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    groups = [g.split() for line in _SHORT.strip().splitlines() for g in line.split("|")]
    for i, group in enumerate(groups):
        for name in group:
            found.setdefault(name, set()).add(i)
    return {name: frozenset(at) for name, at in found.items()}


SHORT_FORMS: Mapping[str, frozenset[int]] = _families()
"""Given name → the families it belongs to; two of one family may be one person's."""
LONG_FORMS: frozenset[str] = frozenset(
    g.split()[0] for line in _SHORT.strip().splitlines() for g in line.split("|") if g.split()
)
"""The full form of each family: two different full forms are two people's."""

_FIELDS: Mapping[str, str] = {
    "medicine": "surgeon surgery cardiologist doctor physician nurse nursing hospital clinic patient patients dentist "
    "dental pharmacist paramedic radiologist oncologist pediatrician paediatrician midwife psychiatrist therapist ward "
    "medical trauma 医生 护士 医院 诊所 患者",
    "animals": "vet veterinarian zoo zookeeper",
    "sport": "striker goalkeeper footballer midfielder defender coach referee athlete match league penalties scored "
    "goal goals tournament olympic cyclist swimmer quarterback pitcher rovers sounders 球员 教练 足球",
    "stage": "soprano tenor singer sang sing opera ballet dancer actor actress theatre theater musician violinist "
    "pianist drummer guitarist conductor orchestra choir jazz concert album band songwriter 歌手 演员 导演",
    "law": "lawyer attorney judge court barrister solicitor prosecutor legal notary litigation 律师 法官 法院",
    "software": "engineer engineering developer programmer software backend frontend compiler code coder tester devops "
    "database parser api 工程师 程序员 软件",
    "science": "physicist chemist chemistry geologist biologist researcher research scientist laboratory astronomer "
    "statistician statistics professor lecturer university institute mathematician 教授 研究员 大学",
    "teaching": "teacher school pupils headteacher teaches kindergarten 教师 老师 学校",
    "finance": "bank banker accountant auditor trader economist inflation analyst credit lending investor fund "
    "insurance actuary treasurer 银行 会计 金融",
    "food": "chef cook cooks cooked kitchen restaurant baker bakes bakery sourdough waiter brasserie 厨师 餐厅",
    "farming": "farmer farm wheat crops cattle orchard vineyard 农民",
    "flying": "pilot airline flights cockpit aviation 飞行员",
    "press": "reporter journalist editor newspaper presenter radio novelist novels author broadcaster columnist 记者",
    "police": "detective police officer sheriff constable sergeant 警察",
    "military": "soldier army navy colonel lieutenant regiment patrol coast guard 军官",
    "building": "architect architecture museums builder carpenter plumber bricklayer surveyor 建筑师",
    "fashion": "dresses fashion tailor stylist hairdresser salon model couture",
    "government": "minister ministry mayor senator parliament governor ambassador diplomat councillor 部长 市长",
    "sea": "diver sailor skipper harbour ferry",
}
FIELD_OF: Mapping[str, str] = {word: field for field, words in _FIELDS.items() for word in words.split()}
"""Word → the field of work it tells."""
NEAR_FIELDS: frozenset[frozenset[str]] = frozenset(
    frozenset(pair.split("+"))
    for pair in (
        "software+science",
        "science+teaching",
        "science+medicine",
        "science+finance",
        "law+government",
        "law+police",
        "law+finance",
        "sea+military",
        "police+military",
        "finance+government",
        "flying+military",
        "medicine+animals",
        "building+software",
        "press+stage",
        "food+farming",
        "finance+software",
        "government+science",
        "medicine+teaching",
        "stage+fashion",
    )
)
"""Fields that one person's documents often tell together; the others speak for two people."""
GENERIC_MAILBOXES: frozenset[str] = frozenset(
    "info sales contact support office admin hello team press hr jobs help noreply no-reply mail service enquiries "
    "inquiries billing accounts marketing media legal privacy security webmaster postmaster reception".split()
)
PUBLIC_MAIL: frozenset[str] = frozenset(
    "gmail.com googlemail.com outlook.com hotmail.com yahoo.com icloud.com proton.me protonmail.com qq.com 163.com "
    "126.com mail.ru yandex.ru gmx.de gmx.net web.de aol.com".split()
)
SHARED_SITES: frozenset[str] = frozenset(
    "github.com gitlab.com linkedin.com twitter.com x.com facebook.com instagram.com youtube.com medium.com "
    "wikipedia.org orcid.org doi.org google.com".split()
)
"""Sites whose host says nothing of who the page is about."""
