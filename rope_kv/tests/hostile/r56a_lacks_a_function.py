# verdict: FAIL
# says: apply_rope is missing
del apply_rope
right_rope.__globals__["apply_rope"] = None
