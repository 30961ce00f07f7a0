"""What goes over the wire, without I/O.

`messages` are the native protocol's messages, `codec` turns them into text and bytes, `utterance` is an utterance's
life as a table, `conversation` the server's side of a session.
"""
