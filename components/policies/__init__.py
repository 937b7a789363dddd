"""Policies: who decides the next turn of an investigation."""
