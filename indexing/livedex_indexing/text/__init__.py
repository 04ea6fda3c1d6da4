"""Text: bytes decoded to characters, and characters split into the words that are indexed."""
