"""Everything rtvoice claims in figures. Each `python -m benchmarks.NAME` takes `--quick` and `--json FILE`."""
