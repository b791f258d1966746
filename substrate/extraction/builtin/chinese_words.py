"""Chinese word lists: surnames, endings that tell kinds, roles, adverbs. Data, and two readers of it."""

from __future__ import annotations

import re

SURNAMES = set(
    "王李张刘陈杨黄赵周吴徐孙朱马胡郭林何高罗郑梁谢宋唐许邓韩冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊"
    "白孟秦邱侯江尹薛闫段雷龙黎史陶贺毛郝顾龚邵万覃武钱戴严莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷曲盛冉翁蓝路游辛靳管柴蒙鲍华喻祁房滕屈饶解牟艾尤时穆农司卓古吉简车项连褚娄窦骆褟佘桑仲牧仇栾甄尧濮屠晁茹苍糜麻阴隗伏狄臧邸缪谌丘匡蔺冀阚茅敖乐郁卞储芮沃邬昝郗揭扈麦骞竺逄仝巩冼嵇宿盘鄢亓荀鞠隋宣邝苟操鹿谈芦浦雍雒闻冒席解岑景党宫费卜冷晏卫米柏宗桂全佟应闵"
)
COMPOUND_SURNAMES = ("欧阳", "司马", "上官", "诸葛", "东方", "皇甫", "尉迟", "公孙", "慕容", "司徒", "令狐", "端木")

_KIND_ENDINGS = (
    ("project", ("项目", "计划", "工程", "课题")),
    ("place", ("市", "省", "区", "县", "镇", "路", "街", "大厦", "园区", "广场", "机场", "港", "岛", "村", "楼")),
    ("product", ("系统", "平台", "产品", "应用")),
    (
        "organization",
        (
            "公司", "集团", "科技", "银行", "大学", "学院", "医院", "研究院", "研究所", "部", "部门", "组",
            "小组", "团队", "中心", "局",
            "委员会", "协会", "基金会", "事业部", "实验室", "工作室", "厂", "社", "股份", "控股", "处", "厅",
            "学校", "联盟", "所", "室",
        ),
    ),
)  # fmt: skip
CITIES = frozenset(
    "北京 上海 深圳 广州 杭州 南京 成都 武汉 苏州 西安 重庆 天津 青岛 大连 厦门 宁波 长沙 郑州 合肥 济南 "
    "福州 香港 澳门 台北 无锡 东莞 佛山 昆明 沈阳 "
    "哈尔滨 中国 美国 日本 德国 法国 英国 新加坡 东京 伦敦 巴黎 纽约 柏林".split()
)

RELATION_OF_ROLE = {
    **dict.fromkeys(("负责人", "项目负责人", "领导", "组长", "队长", "带头人", "牵头人", "项目组长", "主持人",
        "团队负责人", "部门负责人"), "leads"),
    **dict.fromkeys(("经理", "项目经理", "主管", "部门经理", "管理者", "项目主管"), "manages"),
    **dict.fromkeys(("主席", "会长"), "chairs"),
    **dict.fromkeys(("所有者", "拥有者", "所有人", "业主"), "owns"),
    **dict.fromkeys(("顾问", "技术顾问", "特别顾问"), "advises"),
    **dict.fromkeys(("成员", "会员", "委员", "理事"), "member of"),
    **dict.fromkeys(("创始人", "联合创始人", "创办人"), "founded"),
    **dict.fromkeys(("员工", "职员", "雇员"), "works for"),
    **dict.fromkeys(("子公司", "全资子公司", "控股子公司"), "subsidiary of"),
    **dict.fromkeys(("一部分", "组成部分", "下属部门", "下属单位", "子项目"), "part of"),
    **dict.fromkeys(("供应商",), "supplies"),
    **dict.fromkeys(("客户",), "customer of"),
    **dict.fromkeys(("合作伙伴", "伙伴", "合作方", "战略合作伙伴"), "partner of"),
    **dict.fromkeys(("竞争对手",), "competes with"),
    **dict.fromkeys(("赞助商", "赞助人", "发起人"), "sponsors"),
    **dict.fromkeys(("维护者",), "maintains"),
    **dict.fromkeys(("首都", "省会"), "capital of"),
    **dict.fromkeys(("作者",), "wrote"),
}  # fmt: skip
HELD_BY_PERSON = frozenset(("leads", "manages", "chairs", "owns", "advises", "founded", "sponsors", "maintains"))

TITLE_ENDINGS = (
    "首席执行官|首席技术官|首席财务官|首席运营官|首席信息官|首席[\u4e00-\u9fff]{2}官|总工程师|工程师|总经理|"
    "副总经理|总裁|副总裁|董事长|副董事长|董事|"
    "总监|主任|主管|经理|会计师|会计|分析师|设计师|架构师|科学家|研究员|秘书|助理|专员|顾问|教授|讲师|校长|院长|"
    "部长|处长|局长|科长|厂长|店长|"
    "律师|医生|编辑|记者|程序员|产品经理|行政官|财务官|技术官|主席|负责人|组长|队长|书记|代表|发言人|管理员|"
    "审计师|采购员|出纳"
)
TITLE_MODIFIERS = (
    "总经理|董事长|总裁|院长|部门|高级|资深|初级|中级|首席|副|代理|助理|执行|常务|技术|软件|硬件|数据|项目|产品|财务|人力资源|"
    "人事|市场|销售|运营|研发|测试|安全|行政|法务|采购|质量|"
    "算法|系统|网络|前端|后端|总|区域|大区|客户|高级副|名誉|独立|机械|电气|结构|供应链|生产|品牌|公关|战略|投资|"
    "审计|信息"
)
_RELATIONS = "|".join(sorted(RELATION_OF_ROLE, key=len, reverse=True))
ROLE = re.compile(rf"^(?P<org>.*?)的?(?P<role>(?:{TITLE_MODIFIERS})*(?:{TITLE_ENDINGS}|{_RELATIONS}))$")

PRONOUNS = frozenset(("他", "她", "它", "他们", "她们", "我", "我们", "该公司", "该项目", "公司", "本公司",
    "该团队", "其", "本人", "您", "你", "大家", "有人", "谁", "本项目", "项目", "双方", "对方", "前者", "后者",
    "此人", "这", "那", "这里", "那里"))  # fmt: skip
PRONOUN_KINDS = {"他": "person", "她": "person", "它": "organization", "该公司": "organization",
    "公司": "organization", "本公司": "organization", "该项目": "project", "项目": "project",
    "本项目": "project", "该团队": "organization"}  # fmt: skip

_LEADING = re.compile(
    r"^(?:但是?|而且?|此外|另外|目前|据说|据称|听说|现在|现|后来|同时|其中|随后|之后|此后|于是|因此|所以|并且?|"
    r"然后|当前|如今|原来|此前|之前|先前|原文|文中|为|最终|最近|近日|日前|"
    r"经[^，]{1,8}批准|"
    r"根据[^，]{1,20}|按照[^，]{1,20}|会议决定|公司决定|更正[：:]?|勘误[：:]?|说明[：:]?|由于|因为|原|时任|现任|"
    r"前|前任|自此|从此|起|曾任?)+"
)
_TRAILING = re.compile(
    r"(?:因[^，]{1,12}?(?:原因|需要|调动|变动|调整)|已经?|正式|一直|现在?|目前|仍然?|曾经?|都|均|共同|也|还|于|"
    r"起|开始|并|便|就|则|同时|正在?|继续|主要|"
    r"全面|再次|又|才|始终|当时|原|后|被|由|分别|暂时?|在此期间|期间|一起|联合|时)+$"
)


_NEVER_LAST = "曾已将现于也均都仍被由还又才并则就在是后"


def chinese_kind(name: str) -> str | None:
    """A guess from a Chinese name's ending, or its surname; None when neither tells."""
    if name in CITIES:
        return "place"
    if len(name) == 1 and "\ue800" <= name <= "\uefff":
        return "project" if name < "\uec00" else "organization"
    for kind, endings in _KIND_ENDINGS:
        if len(name) > 2 and name.endswith(endings):
            return kind
    if is_person(name):
        return "person"
    return None


def is_person(name: str) -> bool:
    """Two or three characters after a known surname, or a name that was hidden as a person's."""
    if len(name) == 1:
        return "\ue000" <= name < "\ue800"
    if name.startswith(COMPOUND_SURNAMES):
        return 3 <= len(name) <= 4
    return 2 <= len(name) <= 3 and name[0] in SURNAMES and bool(re.fullmatch(r"[\u4e00-\u9fff]+", name))


def strip_around(text: str) -> str:
    """A subject without the adverbs around it."""
    text = text.strip(" 　，,")
    if text.endswith(("同志", "先生", "女士")) and is_person(text[:-2]):
        return text[:-2]
    if len(text) == 3 and text[-1] in _NEVER_LAST and is_person(text[:2]):
        return text[:2]
    if is_person(text):
        return text
    text = _LEADING.sub("", text) if not is_person(text) else text
    while not is_person(text) and (m := _TRAILING.search(text)) and m.start() > 0:
        text = text[: m.start()]
    return text.strip(' 　，,“”"「」《》')
