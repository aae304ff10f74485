"""What was seen: one record per effect, and what numbers follow from them."""
