"""Construction: analysis of a kernel, plans as data, and one construction for every plan."""

from intent.construct.analysis import Analysis, analyze
from intent.construct.construct import construct
from intent.construct.plan import GroupPlan, Inner, Plan, resident, serial

__all__ = ["Analysis", "GroupPlan", "Inner", "Plan", "analyze", "construct", "resident", "serial"]
