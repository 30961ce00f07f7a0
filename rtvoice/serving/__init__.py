"""Who, when and where: sessions on a port, and the one way from text to audio that they share with the engine."""
