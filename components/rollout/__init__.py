"""Many investigations at once: lockstep batching, ledgers, resume."""
