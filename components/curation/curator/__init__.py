"""The curation agent: it finds out through the public tools alone what is documented of a topic, and where."""
