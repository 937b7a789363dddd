"""The real server that tests may ask too, read when they are collected: later no variable of a developer is left."""

import os

REAL, REAL_KEY = os.environ.get("EVIFLOW_TEST_OPENAI_URL"), os.environ.get("EVIFLOW_OPENAI_KEY")
"""`URL#MODEL`, and its key."""
