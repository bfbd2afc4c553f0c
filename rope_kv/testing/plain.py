"""Text that others wrote, made harmless: nothing in it acts on a terminal, a parser or a page."""


def plain(text: str) -> str:
    """Return the text with every letter spelled out that is not one to be seen; lines stay lines.

    What is left can be encoded, and XML 1.0 allows it.
    """
    return "".join(
        letter if letter == "\n" or letter.isprintable() else f"\\x{ord(letter):02x}"
        for letter in text
    )


def one_line(text: str) -> str:
    """Return the text in one line, as `plain`."""
    return plain(" ".join(text.split()))
