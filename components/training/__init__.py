"""Training: rows from episodes, the loop, the losses, checkpoints. No tracking server is known here."""
