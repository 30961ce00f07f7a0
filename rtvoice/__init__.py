"""Text to speech in real time, on plain CPUs."""
