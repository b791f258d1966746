"""Time expressions with the interval each states, and sentences that state none. Written for these tests.

The document is dated Friday, 15 November 2024. An interval reads ``from~to precision grade``, half-open, with two
precisions where its ends differ.
"""

from __future__ import annotations

from datetime import UTC, datetime

from substrate.extraction.claims import ClaimTime
from substrate.extraction.times import Anchor

ANCHOR = Anchor(datetime(2024, 11, 15, tzinfo=UTC), "day")


def rendered(time: ClaimTime | None) -> str:
    if time is None:
        return "nothing"
    start, end = (_moment(at) for at in (time.valid_from, time.valid_to))
    kept = [p for p in (time.valid_from_precision, time.valid_to_precision) if p]
    precision = "/".join(dict.fromkeys(kept)) or "-"
    return f"{start}~{end} {precision} {time.grade}"


def _moment(at: datetime | None) -> str:
    if at is None:
        return ""
    return at.isoformat()[:10] if at.hour == at.minute == at.second == 0 else at.isoformat()[:19]


_ABSOLUTE = """
2024-03-05 | 2024-03-05~2024-03-06 day A
2024/3/5 | 2024-03-05~2024-03-06 day A
2024.03.05 | 2024-03-05~2024-03-06 day A
2024-03 | 2024-03-01~2024-04-01 month A
2019 | 2019-01-01~2020-01-01 year A
2024-03-05T14:30Z | 2024-03-05T14:30:00~2024-03-05T14:31:00 minute A
2024-03-05T14:30:15Z | 2024-03-05T14:30:15~2024-03-05T14:30:16 second A
2024-03-05T14:30:15.250+02:00 | 2024-03-05T12:30:15~2024-03-05T12:30:16 second A
2024-03-05 14:30 UTC | 2024-03-05T14:30:00~2024-03-05T14:31:00 minute A
2024-03-05 23:30 -0200 | 2024-03-06T01:30:00~2024-03-06T01:31:00 minute A
2024-03-05T14:30 | 2024-03-05~2024-03-06 day A
2024-03-05 14:30:15 | 2024-03-05~2024-03-06 day A
2024-W05 | 2024-01-29~2024-02-05 day A
25/12/2023 | 2023-12-25~2023-12-26 day A
12/25/2023 | 2023-12-25~2023-12-26 day A
25.12.2023 | 2023-12-25~2023-12-26 day A
05/05/2024 | 2024-05-05~2024-05-06 day A
12-2015 | 2015-12-01~2016-01-01 month A
22-Jan-2019 | 2019-01-22~2019-01-23 day A
23/Sep/2020 | 2020-09-23~2020-09-24 day A
Sep-23-2020 | 2020-09-23~2020-09-24 day A
2019-Aug-01 | 2019-08-01~2019-08-02 day A
5 July 2024 | 2024-07-05~2024-07-06 day A
5th July 2024 | 2024-07-05~2024-07-06 day A
5th of July 2024 | 2024-07-05~2024-07-06 day A
the 5th of July, 2024 | 2024-07-05~2024-07-06 day A
the fifth of July 2024 | 2024-07-05~2024-07-06 day A
the twenty-third of May 2019 | 2019-05-23~2019-05-24 day A
July 5, 2024 | 2024-07-05~2024-07-06 day A
July 5th, 2024 | 2024-07-05~2024-07-06 day A
July 5 2024 | 2024-07-05~2024-07-06 day A
JULY 5, 2024 | 2024-07-05~2024-07-06 day A
Jul. 5, 2024 | 2024-07-05~2024-07-06 day A
Sept. 30, 2020 | 2020-09-30~2020-10-01 day A
30 Sep 2020 | 2020-09-30~2020-10-01 day A
29 February 2024 | 2024-02-29~2024-03-01 day A
Friday, 5 July 2024 | 2024-07-05~2024-07-06 day A
Fri, 5 Jul 2024 | 2024-07-05~2024-07-06 day A
Friday, July 5, 2024 | 2024-07-05~2024-07-06 day A
on 5 July 2024 | 2024-07-05~2024-07-06 day A
dated 5 July 2024 | 2024-07-05~2024-07-06 day A
14:30 on 3 June 2024 | 2024-06-03~2024-06-04 day A
3 June 2024 at 14:30 | 2024-06-03~2024-06-04 day A
3 June 2024, 14:30 UTC | 2024-06-03T14:30:00~2024-06-03T14:31:00 minute A
14:30 UTC on 3 June 2024 | 2024-06-03T14:30:00~2024-06-03T14:31:00 minute A
3 June 2024 at 2pm UTC | 2024-06-03T14:00:00~2024-06-03T15:00:00 hour A
July 2024 | 2024-07-01~2024-08-01 month A
in July 2024 | 2024-07-01~2024-08-01 month A
Dec, 2018 | 2018-12-01~2019-01-01 month A
Dec-2018 | 2018-12-01~2019-01-01 month A
May of 2021 | 2021-05-01~2021-06-01 month A
March '24 | 2024-03-01~2024-04-01 month A
June '87 | 1987-06-01~1987-07-01 month A
in 2024 | 2024-01-01~2025-01-01 year A
during 2024 | 2024-01-01~2025-01-01 year A
throughout 2024 | 2024-01-01~2025-01-01 year A
the year 2012 | 2012-01-01~2013-01-01 year A
in the year 2012 | 2012-01-01~2013-01-01 year A
calendar year 2023 | 2023-01-01~2024-01-01 year A
FY2024 | 2024-01-01~2025-01-01 year A
FY 2024 | 2024-01-01~2025-01-01 year A
FY24 | 2024-01-01~2025-01-01 year A
fiscal 2022 | 2022-01-01~2023-01-01 year A
fiscal year 2022 | 2022-01-01~2023-01-01 year A
CY2018 | 2018-01-01~2019-01-01 year A
nineteen ninety six | 1996-01-01~1997-01-01 year A
two thousand and fifteen | 2015-01-01~2016-01-01 year A
in twenty twenty-four | 2024-01-01~2025-01-01 year A
Q3 2024 | 2024-07-01~2024-10-01 month A
2024 Q3 | 2024-07-01~2024-10-01 month A
2024-Q3 | 2024-07-01~2024-10-01 month A
Q4 of 2023 | 2023-10-01~2024-01-01 month A
Q1 FY2024 | 2024-01-01~2024-04-01 month A
the first quarter of 2024 | 2024-01-01~2024-04-01 month A
fourth quarter 2023 | 2023-10-01~2024-01-01 month A
the last quarter of 2023 | 2023-10-01~2024-01-01 month A
H1 2023 | 2023-01-01~2023-07-01 month A
2023 H2 | 2023-07-01~2024-01-01 month A
the first half of 2023 | 2023-01-01~2023-07-01 month A
the second half of 2023 | 2023-07-01~2024-01-01 month A
spring 2024 | 2024-03-01~2024-06-01 month A
the summer of 2023 | 2023-06-01~2023-09-01 month A
autumn 2022 | 2022-09-01~2022-12-01 month A
winter 2023 | 2023-12-01~2024-03-01 month A
early 2024 | 2024-01-01~2025-01-01 year A
mid-2018 | 2018-01-01~2019-01-01 year A
late 2019 | 2019-01-01~2020-01-01 year A
in early 2024 | 2024-01-01~2025-01-01 year A
late March 2024 | 2024-03-01~2024-04-01 month A
the beginning of 2024 | 2024-01-01~2024-02-01 month A
the end of 2024 | 2024-12-01~2025-01-01 month A
at the end of March 2024 | 2024-03-01~2024-04-01 month A
the 1990s | 1990-01-01~2000-01-01 year A
1990's | 1990-01-01~2000-01-01 year A
in the 1980s | 1980-01-01~1990-01-01 year A
the 19th century | 1801-01-01~1901-01-01 year A
week 3 of 2027 | 2027-01-18~2027-01-25 day A
the week of 4 November 2024 | 2024-11-04~2024-11-11 day A
the first week of January 2015 | 2014-12-29~2015-01-05 day A
Christmas 2022 | 2022-12-25~2022-12-26 day A
New Year's Eve 2023 | 2023-12-31~2024-01-01 day A
two weeks before 5 March 2024 | 2024-02-20~2024-02-21 day A
three days after May 13, 1999 | 1999-05-16~1999-05-17 day A
"""

_RANKED = """
the last Friday of October 2023 | 2023-10-27~2023-10-28 day A
the first Monday in March 2021 | 2021-03-01~2021-03-02 day A
on the 4th Monday of January | 2025-01-27~2025-01-28 day B
first Friday of this month | 2024-11-01~2024-11-02 day B
the second Tuesday of next month | 2024-12-10~2024-12-11 day B
the last day of May 2022 | 2022-05-31~2022-06-01 day A
first day of next month | 2024-12-01~2024-12-02 day B
during the nineties | 1990-01-01~2000-01-01 year A
in the late 90s | 1990-01-01~2000-01-01 year A
by year-end | ~2025-01-01 month B
as of year-end 2023 | 2023-12-01~ month A
FY2023/24 | 2023-01-01~2025-01-01 year A
fiscal year 2023-24 | 2023-01-01~2025-01-01 year A
the 2022-23 season | 2022-01-01~2024-01-01 year A
winter 2023/24 | 2023-12-01~2024-03-01 month A
CW39 2023 | 2023-09-25~2023-10-02 day A
W23 2024 | 2024-06-03~2024-06-10 day A
calendar week 12 | 2024-03-18~2024-03-25 day B
1Q24 | 2024-01-01~2024-04-01 month A
Q4 FY23 | 2023-10-01~2024-01-01 month A
Q1'24 | 2024-01-01~2024-04-01 month A
Tuesday (3 December) | 2024-12-03~2024-12-04 day B
Sunday, 31 December | 2023-12-31~2024-01-01 day B
twenty five January nineteen eighty six | 1986-01-25~1986-01-26 day A
last year in March | 2023-03-01~2023-04-01 month B
half a year ago | 2024-05-01~2024-06-01 month B
a year and a half ago | 2023-05-01~2023-06-01 month B
two and a half years ago | 2022-05-01~2022-06-01 month B
in half a year | 2025-05-01~2025-06-01 month B
three years after 2019 | 2022-01-01~2023-01-01 year A
two months before March 2024 | 2024-01-01~2024-02-01 month A
the year after 2010 | 2011-01-01~2012-01-01 year A
the day before Christmas 2023 | 2023-12-24~2023-12-25 day A
a week from Saturday | 2024-11-23~2024-11-24 day B
for two years from 1 May 2020 | 2020-05-01~2022-05-01 day A
for three years starting in 2019 | 2019-01-01~2022-01-01 year A
two-year term beginning in 2021 | 2021-01-01~2023-01-01 year A
the year ended 31 December 2023 | 2023-01-01~2024-01-01 day A
the quarter ended September 30, 2023 | 2023-07-01~2023-10-01 day A
nine months ending 30 September 2024 | 2024-01-01~2024-10-01 day A
12 months to March 2024 | 2023-04-01~2024-04-01 month A
5 July 2024 at 3:30 pm EST | 2024-07-05T20:30:00~2024-07-05T20:31:00 minute A
5 July 2024 15:30 CET | 2024-07-05T14:30:00~2024-07-05T14:31:00 minute A
5 July 2024, 22:00 UTC+8 | 2024-07-05T14:00:00~2024-07-05T14:01:00 minute A
noon on 5 May 2023 | 2023-05-05~2023-05-06 day A
12/31/24 | 2024-12-31~2025-01-01 day A
31-Dec-24 | 2024-12-31~2025-01-01 day A
2020/23/Sep | 2020-09-23~2020-09-24 day A
St. Patrick's Day 2023 | 2023-03-17~2023-03-18 day A
Labor Day 2023 | 2023-09-04~2023-09-05 day A
two Sundays from now | 2024-11-24~2024-11-25 day B
three Mondays ago | 2024-10-28~2024-10-29 day B
3 business days ago | 2024-11-12~2024-11-13 day B
5 working days from now | 2024-11-22~2024-11-23 day B
by end of day Friday | ~2024-11-23 day B
by COB 5 May 2025 | ~2025-05-06 day A
from Tuesday to Thursday next week | 2024-11-19~2024-11-22 day B
from the 5th to the 9th | 2024-11-05~2024-11-10 day B
3 - 12 of next month | 2024-12-03~2024-12-13 day B
May twenty one | 2024-05-21~2024-05-22 day B
2016 September | 2016-09-01~2016-10-01 month A
2017/2018 | 2017-01-01~2019-01-01 year A
YTD | 2024-01-01~2024-11-16 year/day B
the rest of December | 2024-12-01~2025-01-01 month B
a week ago Tuesday | ~ - C
Mon Oct 31 22:13:04 1994 | 1994-10-31~1994-11-01 day A
Tue Apr 15 02:52:33 UTC 2025 | 2025-04-15~2025-04-16 day A
Wed, 31 Mar 1999 16:00:51 +0200 | 1999-03-31T14:00:00~1999-03-31T14:01:00 minute A
most of 2023 | 2023-01-01~2024-01-01 year A
the second half of the 19th century | 1801-01-01~1901-01-01 year A
as recently as 2019 | 2019-01-01~ year A
2019 onwards | 2019-01-01~ year A
six months later | ~ - C
the following year | ~ - C
three years after its founding | ~ - C
"""

_GOVERNED = """
since 2019 | 2019-01-01~ year A
since March 2024 | 2024-03-01~ month A
ever since 5 July 2024 | 2024-07-05~ day A
from 2023-01-10 | 2023-01-10~ day A
from 2024 onwards | 2024-01-01~ year A
March 2024 onwards | 2024-03-01~ month A
2012 or later | 2012-01-01~ year A
starting January 2024 | 2024-01-01~ month A
starting on 7 January 2024 | 2024-01-07~ day A
beginning in 2020 | 2020-01-01~ year A
effective January 2024 | 2024-01-01~ month A
effective as of 1 March 2024 | 2024-03-01~ day A
with effect from 1 April 2022 | 2022-04-01~ day A
on or after 1 April 2022 | 2022-04-01~ day A
no earlier than 2025 | 2025-01-01~ year A
since early 2020 | 2020-01-01~ year A
since the end of 2020 | 2020-12-01~ month A
until 2019 | ~2020-01-01 year A
until March 2024 | ~2024-04-01 month A
till 5 July 2024 | ~2024-07-06 day A
through 2023 | ~2024-01-01 year A
through June 2023 | ~2023-07-01 month A
up to 2019 | ~2020-01-01 year A
until the end of 2024 | ~2025-01-01 month A
until the end of June 2024 | ~2024-07-01 month A
by 2030 | ~2031-01-01 year A
by March 2024 | ~2024-04-01 month A
by the end of 2025 | ~2026-01-01 month A
no later than 1 January 2010 | ~2010-01-02 day A
on or before 1 January 2010 | ~2010-01-02 day A
before 2024 | ~2024-01-01 year A
before March 2024 | ~2024-03-01 month A
before 5 July 2024 | ~2024-07-05 day A
prior to 2018 | ~2018-01-01 year A
before the end of 2023 | ~2024-01-01 month A
after 2010 | 2011-01-01~ year A
after March 2024 | 2024-04-01~ month A
after 5 July 2024 | 2024-07-06~ day A
later than 2020 | 2021-01-01~ year A
as of 1 January 2025 | 2025-01-01~ day A
as of March 2024 | 2024-03-01~ month A
as at 31 December 2023 | 2023-12-31~ day A
from 2015 to 2018 | 2015-01-01~2019-01-01 year A
2014 to 2018 | 2014-01-01~2019-01-01 year A
2014-2018 | 2014-01-01~2019-01-01 year A
2014–2018 | 2014-01-01~2019-01-01 year A
between 2015 and 2018 | 2015-01-01~2019-01-01 year A
from 2014 until 2018 | 2014-01-01~2019-01-01 year A
from 2014 through May 2018 | 2014-01-01~2018-06-01 year/month A
from January to March 2021 | 2021-01-01~2021-04-01 month A
January–March 2021 | 2021-01-01~2021-04-01 month A
Jan-Feb 2017 | 2017-01-01~2017-03-01 month A
from November to February 2017 | 2016-11-01~2017-03-01 month A
from March 2024 to June | 2024-03-01~2024-07-01 month A
from November 2023 to February | 2023-11-01~2024-03-01 month A
from 5 July to 7 August 2024 | 2024-07-05~2024-08-08 day A
from 5 to 7 July 2024 | 2024-07-05~2024-07-08 day A
5-7 July 2024 | 2024-07-05~2024-07-08 day A
July 5-7, 2024 | 2024-07-05~2024-07-08 day A
between 3 and 12 September 2024 | 2024-09-03~2024-09-13 day A
between 1 May 2023 and 3 June 2024 | 2023-05-01~2024-06-04 day A
2024-01-05 to 2024-02-10 | 2024-01-05~2024-02-11 day A
from 2024-01-05 – 2024-02-10 | 2024-01-05~2024-02-11 day A
between Q1 2023 and Q3 2024 | 2023-01-01~2024-10-01 month A
from the end of 2007 to 2009 | 2007-12-01~2010-01-01 month/year A
"""

_RELATIVE = """
today | 2024-11-15~2024-11-16 day B
yesterday | 2024-11-14~2024-11-15 day B
tomorrow | 2024-11-16~2024-11-17 day B
the day before yesterday | 2024-11-13~2024-11-14 day B
the day after tomorrow | 2024-11-17~2024-11-18 day B
last night | 2024-11-14~2024-11-15 day B
yesterday morning | 2024-11-14~2024-11-15 day B
last week | 2024-11-04~2024-11-11 day B
this week | 2024-11-11~2024-11-18 day B
next week | 2024-11-18~2024-11-25 day B
the week after next | 2024-11-25~2024-12-02 day B
last weekend | 2024-11-09~2024-11-11 day B
last month | 2024-10-01~2024-11-01 month B
next month | 2024-12-01~2025-01-01 month B
last quarter | 2024-07-01~2024-10-01 month B
this quarter | 2024-10-01~2025-01-01 month B
next quarter | 2025-01-01~2025-04-01 month B
last year | 2023-01-01~2024-01-01 year B
next year | 2025-01-01~2026-01-01 year B
the year before last | 2022-01-01~2023-01-01 year B
the next decade | 2030-01-01~2040-01-01 year B
last March | 2024-03-01~2024-04-01 month B
last December | 2023-12-01~2024-01-01 month B
next March | 2025-03-01~2025-04-01 month B
March last year | 2023-03-01~2023-04-01 month B
5 March last year | 2023-03-05~2023-03-06 day B
Q1 next year | 2025-01-01~2025-04-01 month B
the first quarter of this year | 2024-01-01~2024-04-01 month B
last summer | 2024-06-01~2024-09-01 month B
next spring | 2025-03-01~2025-06-01 month B
last Friday | 2024-11-08~2024-11-09 day B
next Monday | 2024-11-18~2024-11-19 day B
this Tuesday | 2024-11-12~2024-11-13 day B
Tuesday of last week | 2024-11-05~2024-11-06 day B
next week on Tuesday | 2024-11-19~2024-11-20 day B
on Monday | 2024-11-11~2024-11-12 day B
by Tuesday | ~2024-11-20 day B
two days ago | 2024-11-13~2024-11-14 day B
two weeks ago | 2024-11-01~2024-11-02 day B
a week ago | 2024-11-08~2024-11-09 day B
3 months ago | 2024-08-01~2024-09-01 month B
three years ago | 2021-01-01~2022-01-01 year B
a couple of years ago | 2022-01-01~2023-01-01 year B
twenty-five years ago | 1999-01-01~2000-01-01 year B
two years and three months ago | 2022-08-01~2022-09-01 month B
since two years ago | 2022-01-01~ year B
in two weeks | 2024-11-29~2024-11-30 day B
in three months | 2025-02-01~2025-03-01 month B
two weeks from now | 2024-11-29~2024-11-30 day B
three weeks from tomorrow | 2024-12-07~2024-12-08 day B
over the past five years | 2019-01-01~2024-11-15 year/day B
in the last 10 days | 2024-11-05~2024-11-15 day B
over the next two weeks | 2024-11-16~2024-11-30 day B
the last 2 quarters | 2024-04-01~2024-10-01 month B
for three years now | 2021-01-01~ year B
on 5 July | 2024-07-05~2024-07-06 day B
July 5th | 2024-07-05~2024-07-06 day B
on 3 January | 2025-01-03~2025-01-04 day B
in March | 2024-03-01~2024-04-01 month B
in January | 2025-01-01~2025-02-01 month B
in September | 2024-09-01~2024-10-01 month B
since August | 2024-08-01~ month B
by the end of this year | ~2025-01-01 month B
until next Monday | ~2024-11-19 day B
from next Monday to 1 December 2024 | 2024-11-18~2024-12-02 day B
from August to October | 2024-08-01~2024-11-01 month B
the 15th of last month | 2024-10-15~2024-10-16 day B
later this month | 2024-11-15~2024-12-01 day/month B
two weeks before Christmas | 2024-12-11~2024-12-12 day B
early next year | 2025-01-01~2026-01-01 year B
three weeks later | ~ - C
by the end of the month | ~2024-12-01 month B
the rest of the year | 2024-11-15~2025-01-01 day/year B
the last week of last month | 2024-10-28~2024-11-04 day B
the last 3 weeks of this year | 2024-12-09~2024-12-30 day B
the first ten days of May 2024 | 2024-05-01~2024-05-11 day A
the first two months of 2023 | 2023-01-01~2023-03-01 month A
the 9th month of next year | 2025-09-01~2025-10-01 month B
the next 4 business days | 2024-11-16~2024-11-22 day B
year to date | 2024-01-01~2024-11-16 year/day B
2019 – present | 2019-01-01~ year A
from March 2020 to the present | 2020-03-01~ month A
three days from Tuesday | 2024-11-22~2024-11-23 day B
2 weeks starting 20 May 2024 | 2024-05-20~2024-06-03 day A
Easter 2018 | 2018-04-01~2018-04-02 day A
Easter Monday 2024 | 2024-04-01~2024-04-02 day A
Black Friday 2010 | 2010-11-26~2010-11-27 day A
last Easter | 2024-03-31~2024-04-01 day B
Friday the 13th | 2024-12-13~2024-12-14 day B
since yesterday | 2024-11-14~ day B
between January 2019 and today | 2019-01-01~2024-11-16 month/day B
"""

_CHINESE = """
2024年3月5日 | 2024-03-05~2024-03-06 day A
2024年3月5号 | 2024-03-05~2024-03-06 day A
二〇二四年三月五日 | 2024-03-05~2024-03-06 day A
2024年3月5日上午 | 2024-03-05~2024-03-06 day A
二〇二四年三月 | 2024-03-01~2024-04-01 month A
2024年3月 | 2024-03-01~2024-04-01 month A
2024年12月份 | 2024-12-01~2025-01-01 month A
2024年 | 2024-01-01~2025-01-01 year A
2024年度 | 2024-01-01~2025-01-01 year A
2024年第三季度 | 2024-07-01~2024-10-01 month A
2024年三季度 | 2024-07-01~2024-10-01 month A
2024年上半年 | 2024-01-01~2024-07-01 month A
2024年下半年 | 2024-07-01~2025-01-01 month A
2024年初 | 2024-01-01~2024-02-01 month A
2024年底 | 2024-12-01~2025-01-01 month A
2024年年底 | 2024-12-01~2025-01-01 month A
2024年中 | 2024-01-01~2025-01-01 year A
2023年春季 | 2023-03-01~2023-06-01 month A
20世纪90年代 | 1990-01-01~2000-01-01 year A
九十年代 | 1990-01-01~2000-01-01 year A
2010年代 | 2010-01-01~2020-01-01 year A
2024-03-05 | 2024-03-05~2024-03-06 day A
在2024年3月 | 2024-03-01~2024-04-01 month A
自2023年1月起 | 2023-01-01~ month A
自2018年以来 | 2018-01-01~ year A
从2024年3月5日开始 | 2024-03-05~ day A
2015年1月1日或之后 | 2015-01-01~ day A
截至2024年底 | 2024-12-01~ month A
截至2024年3月31日 | 2024-03-31~ day A
直到2024年3月 | ~2024-04-01 month A
2018年以前 | ~2018-01-01 year A
2018年之前 | ~2018-01-01 year A
2010年1月10日或之前 | ~2010-01-11 day A
2024年3月以后 | 2024-04-01~ month A
2018年之后 | 2019-01-01~ year A
从2015年到2018年 | 2015-01-01~2019-01-01 year A
2015年至2018年 | 2015-01-01~2019-01-01 year A
2015年和2018年之间 | 2015-01-01~2019-01-01 year A
2024年3月至6月 | 2024-03-01~2024-07-01 month A
2023年11月至2月 | 2023-11-01~2024-03-01 month A
2019年6月1日-6月30日 | 2019-06-01~2019-07-01 day A
从2016年一月十日到十二日 | 2016-01-10~2016-01-13 day A
1995 - 1997年 | 1995-01-01~1998-01-01 year A
去年 | 2023-01-01~2024-01-01 year B
今年 | 2024-01-01~2025-01-01 year B
明年 | 2025-01-01~2026-01-01 year B
前年 | 2022-01-01~2023-01-01 year B
去年三月 | 2023-03-01~2023-04-01 month B
去年3月5日 | 2023-03-05~2023-03-06 day B
今年年初 | 2024-01-01~2024-02-01 month B
明年第一季度 | 2025-01-01~2025-04-01 month B
今年上半年 | 2024-01-01~2024-07-01 month B
上半年 | 2024-01-01~2024-07-01 month B
上个月 | 2024-10-01~2024-11-01 month B
下个月 | 2024-12-01~2025-01-01 month B
本月十日 | 2024-11-10~2024-11-11 day B
上周 | 2024-11-04~2024-11-11 day B
下下周 | 2024-11-25~2024-12-02 day B
上周三 | 2024-11-06~2024-11-07 day B
下周一 | 2024-11-18~2024-11-19 day B
上个季度 | 2024-07-01~2024-10-01 month B
昨天 | 2024-11-14~2024-11-15 day B
后天 | 2024-11-17~2024-11-18 day B
5天前 | 2024-11-10~2024-11-11 day B
三个月前 | 2024-08-01~2024-09-01 month B
两年前 | 2022-01-01~2023-01-01 year B
10年后 | ~ - C
过去五年 | 2019-01-01~2024-11-15 year/day B
未来两周 | 2024-11-16~2024-11-30 day B
3月5日 | 2024-03-05~2024-03-06 day B
1月5日 | 2025-01-05~2025-01-06 day B
29日 | 2024-11-29~2024-11-30 day B
上周末 | 2024-11-09~2024-11-11 day B
大前年 | 2021-01-01~2022-01-01 year B
三季度 | 2024-07-01~2024-10-01 month B
前三季度 | 2024-01-01~2024-10-01 month B
2023财年第二季度 | 2023-04-01~2023-07-01 month A
2018年1-6月 | 2018-01-01~2018-07-01 month A
1至6月 | 2024-01-01~2024-07-01 month B
三到五月 | 2024-03-01~2024-06-01 month B
2018年10月第一周 | 2018-10-01~2018-10-08 day A
去年圣诞节 | 2023-12-25~2023-12-26 day B
当年 | ~ - C
三月底 | 2024-03-01~2024-04-01 month B
2024年3月下旬 | 2024-03-21~2024-04-01 day A
上个月中旬 | 2024-10-11~2024-10-21 day B
下半月 | 2024-11-16~2024-12-01 day B
年底 | 2024-12-01~2025-01-01 month B
今年的最后3周 | 2024-12-09~2024-12-30 day B
去年的前10天 | 2023-01-01~2023-01-11 day B
2023年5月的第二个星期二 | 2023-05-09~2023-05-10 day A
四月的最后一个星期一 | 2024-04-29~2024-04-30 day B
半年前 | 2024-05-01~2024-06-01 month B
两年半前 | 2022-05-01~2022-06-01 month B
次年 | ~ - C
自去年以来 | 2023-01-01~ year B
"""


def _table(*lines: str) -> list[tuple[str, str]]:
    rows = [line.split(" | ") for block in lines for line in block.strip().splitlines()]
    return [(words.strip(), expected.strip()) for words, expected in rows]


EXPRESSIONS = _table(_ABSOLUTE, _RANKED, _GOVERNED, _RELATIVE, _CHINESE)

NOTHING = """
The shop was closed for the day.
GRR: 15 March 95 or so
Copyright 2005, Jan Schmidt
This may take some time.
Next may come the audit.
Everything after the first in a list is dropped.
Cease the distribution within thirty days.
If within 60 days of notice no answer comes, it ends.
It holds files from Sun implementations.
Two logins are made, where the first may not create roles.
There are retries after 5/15/45 s.
She may lead the team.
You may, however, decline.
The soldiers march on the capital.
They march in step.
This is the second version.
The second of three reviewers agreed.
Give me a second to think.
Version 1.2.3 is out.
Upgrade to v2024.1.
The server listens on port 2024.
Meet in room 2019.
Rooms 2014-2018 are closed.
See pages 1990-1995.
The total is $2024.
It cost 2024 dollars.
They paid £1,999 for it.
Revenue was 2,024 units.
In 2000 people the test was positive.
We shipped in 2024 units.
Ticket ABC-2024 is closed.
See PROJ-2024-03 for details.
The file is called report_2024.pdf.
ISO 8601-1:2019 defines it.
ISO 27001 applies.
RFC 2119 keywords apply.
Call 555-2024.
The ratio is 3:2.
Odds are 5/12.
Due on 03/04/2024.
It happened on 04/03/2024.
The date 2023-02-30 does not exist.
30 February 2024
31 April 2023
February 29, 2023
2024-13-01
2024-00-10
32 January 2024
Written in '97.
From 44 BC the republic declined.
in 300 BCE
In 1200 BC it fell.
He sat down.
The sun is shining.
I wed her.
Spring is a framework.
The fall of the wall shocked them.
Use the spring in the trap.
A few weeks ago it was fine.
Several years ago they met.
more than two weeks ago
more than 2 weeks before today
It takes about 2019 steps.
Around 2015 it closed.
circa 1850
Open 24/7.
The 15th floor is closed.
On the 3rd party list.
The first quarter is full.
Half of the team left.
He is now the lead.
The month of the year matters.
It grew from 1500 to 1900 employees.
Chapter 5 May be skipped.
Every Monday Club member knows April.
April leads the team.
The book was written by April.
May led the project.
June is her manager.
Augustus ruled.
Marching season begins.
Decimal numbers are fine.
The price rose 20.24 percent.
IP address 192.168.20.24
The code 20240305123456 is an id.
Black Friday sales rose.
The constant 2024.5 is wrong.
3.14.2024.5
42
at 2000 metres
over 2000 files
a decade of work
住在3号楼
乘坐10号线
共有2024个人
价格是2024元
一日三餐
这是第一个问题
他有三年经验
房间2024
康熙三年五月
Open Monday to Friday from nine.
It is the third Friday of every month.
It takes two to three weeks.
two to three weeks ago
within 30 days of 1 May 2024
Payment is due within 30 days.
每周一开会
连续三季度增长
当天气变冷
春节放假
每年三月举行
农历2015年十月初一
5日内完成
""".strip().splitlines()
