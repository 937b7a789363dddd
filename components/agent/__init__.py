"""The investigation: the loop, the grammar of turns, what the policy is shown. Knows no model and no service."""
