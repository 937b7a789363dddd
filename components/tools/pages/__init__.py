"""From the bytes of a page to what it says; everything that parses, and a process of its own to do it in."""
