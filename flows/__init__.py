"""Thin Prefect flows, one a stage and one for the whole chain. Nothing imports them."""
