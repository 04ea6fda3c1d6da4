"""Answers as text for people and for editors."""
