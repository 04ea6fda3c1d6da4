"""Defects that the tests plant in a copy of livedex, each with the test that must notice it."""
