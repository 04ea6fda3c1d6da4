"""Talk to the supervisor that started this process, such as systemd."""
