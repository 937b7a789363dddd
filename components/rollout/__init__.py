"""Many investigations at once: engine, ledgers in shards, resume, budgets."""
