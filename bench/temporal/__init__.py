"""Questions on two clocks over a corpus of our own."""
