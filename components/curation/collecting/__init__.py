"""The second way to cases: pictures that circulate on the public web, whose source the curation agent recovers."""
