"""The string patterns of one attribute, evaluated together."""
