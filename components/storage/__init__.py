"""Where bytes rest: whole-or-nothing files, ledgers, the checkout lock, DVC and its versions, run identity."""
