# verdict: LOAD_ERROR
# says: capability dtype knows
# It declares what nobody has checked: whoever is handed it must not believe it.
Capabilities = type(worker())._load.__globals__["InProcess"].__init__.__globals__["Capabilities"]
capabilities = object.__new__(Capabilities)
vars(capabilities).update(vars(Capabilities()), dtype="complex128", paths=[[["x"] * 1000]])
