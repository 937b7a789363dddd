"""From reviewed candidates to the release: EviLens-F, its metadata, and its data card."""
