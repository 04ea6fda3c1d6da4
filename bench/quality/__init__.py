"""How good the order of hits is: questions with known answers, asked of livedex and of plainer engines beside it."""
