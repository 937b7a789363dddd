"""The closed world: what is true in it, how it looks, and the pages that tell of it."""
