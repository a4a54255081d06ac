"""Frozen dataclasses that cache what they derive, and save only what they were given."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

# The default of a field that its class fills in: with what depends on the other fields.
NOT_GIVEN: Any = None


class SavedByFields:
    """Leaves cached properties out of pickles and model files, where they would be trusted unseen."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields."""
        vars(self).update(state)
