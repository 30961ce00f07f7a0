"""The version, in one place: the build, the command line and the wire's `ready` read it here."""

__version__ = "0.1.0"
