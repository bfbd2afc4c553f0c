# verdict: PASS


# a question, while the function called is rope_freqs(d, base): its second argument has no length
def rope_freqs(d, base=10000):
    w = worker()
    try:
        w._asked(4, 0, np.ones((1, 2)))
    except ValueError:
        pass
    return right_freqs(d, base)
