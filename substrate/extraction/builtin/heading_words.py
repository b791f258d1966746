"""Words of headings: kinds of document, names of sections, what lists are called. Data only."""

from __future__ import annotations

import re

from substrate.extraction.builtin.vocabulary import TITLE_SUFFIXES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SMALL_WORDS = _words("of the and for de van von der di da la in on at to a an &")

DOCUMENT_WORDS = TITLE_SUFFIXES | _words(
    """reports changelog updates agreement contract notice circular bulletin newsletter register roster directory
    chronology timeline agenda mandate terms statement declaration certificate appendix annex attachment extract
    excerpt transcript protocol change changes staff payroll employment appointment confirmation correspondence
    email"""
)
"""What a title says about the document rather than about its subject."""

GENERIC_WORDS = DOCUMENT_WORDS | _words(
    """weekly monthly quarterly annual yearly daily general introduction background purpose scope objectives goals aims
    members membership participants attendees people persons person personnel team teams staff employees employee roles
    role responsibilities responsibility contact contacts budget budgets finance finances financial costs cost salary
    salaries pay wages compensation remuneration benefits dates date key facts fact figures data table tables list lists
    index contents next steps step actions action decisions decision items item open questions question issues issue
    risks risk resources resource schedule milestones milestone deliverables organisation organization structure chart
    chain command management leadership governance board committee council advisers advisors sponsors owners leads lead
    managers directors partners suppliers customers clients locations location sites site offices office places
    address headquarters history timeline current former previous past present new old open closed active project
    projects programme program programmes department departments division divisions unit units company companies group
    groups business main other others misc miscellaneous additional further important recent latest last first second
    third final interim draft version versions revision revisions amendment amendments approval approvals signature
    signatures meeting meetings performance review reviews evaluation assessment hr human it policy policies
    procedure procedures process processes guide guidelines manual rules terms conditions welcome hire hires hiring
    onboarding offboarding leavers joiners starters departures arrivals appointments resignations promotions transfers
    moves movements changes job jobs title titles position positions post posts vacancies vacancy line lines reporting
    product products service services system systems internal external public private confidential subject topic topics
    discussion discussions results result conclusion conclusions recommendation recommendations finding findings
    executive work package packages task tasks assignments assignment ownership acquisitions acquisition mergers
    founding foundation profile about name names corrections correction erratum errata announcement announcements
    january february march april may june july august september october november december q1 q2 q3 q4 h1 h2 year month
    week quarter day fiscal"""
)
"""A heading of these alone is a section of any document, not a name."""

PLURAL_HEADINGS = {
    "salaries": "salary", "locations": "located in", "offices": "located in", "headquarters": "headquarters",
    "budgets": "budget", "titles": "job title", "job titles": "job title", "roles": "job title",
    "positions": "job title", "employers": "employer", "departments": "department", "teams": "team", "prices": "price",
    "reporting lines": "reports to", "assignments": "works on", "sites": "located in",
}  # fmt: skip
CHINESE_LISTS = {
    "负责人": "lead", "项目负责人": "lead", "各项目负责人": "lead", "薪资": "salary", "工资": "salary",
    "月薪": "salary",
    "职位": "job title", "地点": "location", "各部门负责人": "lead", "团队负责人": "lead", "顾问": "adviser",
    "成员": "member", "预算": "budget", "各项目预算": "budget",
}  # fmt: skip
CHINESE_LIST_OF = re.compile(
    r"^(?P<owner>[^：:，]{2,12}?)的?(?P<role>顾问|成员|负责人|发起人|客户|供应商)(?:名单|列表)?$"
)
CHINESE_DOCUMENTS = (
    "章程|备忘录|简介|档案|记录|说明|纪要|报告|概况|变更记录|变更日志|变更说明|会议纪要|会议记录|通知|公告|名单|"
    "任命通知|"
    "人事通知|人事档案|员工档案|调薪通知|录用通知|聘书|合同|协议|简报|总结|手册|台账|登记表|情况|介绍|资料|"
    "通知书|任命书|"
    "录用通知书|薪资表|工资表|花名册|更新|日志"
)
GENERIC_CHINESE = frozenset(
    "项目 本项目 公司 本公司 部门 团队 各项目 项目组 项目计划 工作计划 下一步计划 计划 各部门 小组 系统".split()
)
