"""Workers: a program is run for each message of a topic, and what it prints is published."""
