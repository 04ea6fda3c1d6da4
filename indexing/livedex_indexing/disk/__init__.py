"""Access to the user's files: nothing else in livedex opens, lists or reads them."""
