"""Sub-2-Sub: subscribers that serve each other, without brokers (S2S)."""
