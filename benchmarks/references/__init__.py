"""What the figures are held against, a module each."""
