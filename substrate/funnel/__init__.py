"""Where everything went on its way from passages to facts: what came in went on, or was dropped under a code."""

from substrate.funnel.count import Funnel, Level, Part, count_funnel
from substrate.funnel.coverage import run_funnel

__all__ = ["Funnel", "Level", "Part", "count_funnel", "run_funnel"]
