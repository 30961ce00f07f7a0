"""One report for the machine it runs on: what this server costs and how fast it speaks, beside what one uses instead.

::

    plan      what is measured, as data: cells of kinds, engines and rounds
    runner    takes them one by one, writes a JSON line for each, goes on where it was interrupted
    measuring a cell's measurement, on a server of its own
    results   from lines to figures; verdicts, bill and roofline beside it: pure functions
    sections  what the report says, as a document; markdown, page and plots write it

`python -m benchmarks.report` is the command, `make benchmark` sets up what it needs.
"""
