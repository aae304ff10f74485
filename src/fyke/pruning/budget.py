"""Budget: what is said when one cannot be met."""

from __future__ import annotations


class BudgetWarning(UserWarning):
    """A budget that cannot be met: what can be pruned is."""
