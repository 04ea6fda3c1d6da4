"""Helpers that tests of several packages share: homes, daemons, clients, faults, models and oracles."""
