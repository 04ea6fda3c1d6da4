"""Work that runs on a schedule or while nothing else is going on."""
