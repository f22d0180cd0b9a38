"""Judgement: whether the client really applied what a hook answered."""
