"""What tests of several rooms share: a home of their own, daemons, clients, faults, models and oracles."""
