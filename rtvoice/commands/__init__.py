"""What can be asked for on the command line, one module a command.

Each has `add_parser(commands)`, which describes it, and `run(arguments)`, which does it and returns the exit code.
Modules import what they need in `run`: `rtvoice --help` loads no engine.
"""
