"""Who starts us: what a supervised process hears from its supervisor and says to it."""
