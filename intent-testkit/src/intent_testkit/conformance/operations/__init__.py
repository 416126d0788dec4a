"""Each operation of a GPU program by itself, on programs written by hand: what a provider spells, dtype by dtype."""
