"""What `twoclocks connect` writes: where each MCP client keeps its configuration, in which form, and what an entry is.

A change is planned as text before and after (`plan`), shown or written (`files`), and never touches what others wrote:
an entry is spliced into the text of the file, whose remaining bytes stay.
"""

from api.connect.clients import CLIENTS, Client, Endpoint, Places, Scope
from api.connect.files import Change, write
from api.connect.plan import plan_entry, plan_skill, token_in

__all__ = [
    "CLIENTS",
    "Change",
    "Client",
    "Endpoint",
    "Places",
    "Scope",
    "plan_entry",
    "plan_skill",
    "token_in",
    "write",
]
