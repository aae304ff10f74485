"""Arrow arrays read as cells, by the value rules. The only package that knows Arrow's types."""
