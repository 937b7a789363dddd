"""Typed records that stages exchange. Nothing here reads a file, except `shards` and the image bank."""
