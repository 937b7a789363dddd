"""Building the data: the closed world's files and EviLens-F, from parameters alone."""
