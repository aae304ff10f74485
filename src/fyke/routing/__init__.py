"""Where it goes: strategies, one file each, all of one shape, without input or output."""
