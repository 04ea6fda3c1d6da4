"""How good the order of hits is: questions with known answers, for livedex and for plainer engines."""
