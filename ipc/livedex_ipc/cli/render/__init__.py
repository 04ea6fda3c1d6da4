"""Formats answers as text, for people and for editors."""
