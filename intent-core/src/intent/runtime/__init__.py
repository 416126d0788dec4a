"""Artifacts: binding arguments, checking launch conditions, choosing variants, launching."""
