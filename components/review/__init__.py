"""Expert review: two people decide on each case or episode, and a third settles what they disagree on."""
