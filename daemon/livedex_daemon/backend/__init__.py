"""The backend of a plugin: fed with each commit, asked by searches, replaced by the built-in index while it is lost."""
