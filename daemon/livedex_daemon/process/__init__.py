"""The daemon as a process: its folders, logs, memory, socket file and clock ticks."""
