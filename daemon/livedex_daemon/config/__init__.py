"""The configuration file: read, checked, edited, and turned into typed settings."""
