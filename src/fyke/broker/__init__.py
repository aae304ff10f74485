"""A broker is a node made of a strategy and local delivery."""
