"""The commands of `eviflow`, one module each. Heavy imports stay inside the functions: `--help` must be quick."""
