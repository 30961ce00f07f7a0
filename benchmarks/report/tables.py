"""The report's tables: what engines cost and how soon they speak, and what each step brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.report.document import Block, Heading, Table
from benchmarks.report.plan import REWRITES, STEPS, TABLE_1
from benchmarks.report.subjects import SUBJECTS
from benchmarks.table import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.report.plan import Asked
    from benchmarks.report.results import Results, Runs

_MB = 1e6
NONE: Final = "-"
"""What is shown where nothing was measured."""

PAPER_ROWS: Final = (
    ("PyTorch eager", "0.66", "2.46 / 8.0", "8,659", "7.7", NONE, "0.0631"),
    ("ONNX Runtime, default", "0.89", "0.94 / 4.9", "3,969", "5.8", NONE, "0.0468"),
    ("ONNX Runtime, sized", "1.36", "2.36 / 8.4", "3,958", "5.7", NONE, "0.0306"),
    ("OpenVINO, default", "1.35", "1.26 / 2.6", "5,250", "6.9", NONE, "0.0309"),
    ("OpenVINO, sized", "2.71", "0.69 / 4.2", "12,097", "7.4", NONE, "0.0154"),
    ("the paper's system", "2.71", "0.94 / 4.2", "1,331", "6.2", "2.2", "0.0153"),
)
"""Table 1 of arXiv 2610.00063, on 32 vCPU of an Emerald Rapids."""

FORMS: Final = {
    "direct": "convolutions as they stand, sine as OpenVINO has it",
    "no-sine": "+ exact rewrites: Snake without a sine",
    "fourier": "+ convolutions in the Fourier domain",
    "bfloat16": "+ kernels of bfloat16",
}


def megabytes(figure: Figure | None) -> str:
    """Bytes, in MB (10^6), with their range."""
    return NONE if figure is None else Figure(figure.median / _MB, figure.low / _MB, figure.high / _MB).show(0)


def spread(figure: Figure | None, digits: int) -> str:
    """The median and the range."""
    return NONE if figure is None else figure.show(digits)


def table_1(results: Results, asked: Asked) -> Sequence[Block]:
    """Every engine behind the server, and the paper's own table."""
    first = results.runs(TABLE_1[0])
    rows: list[Sequence[str]] = []
    strong: list[int] = []
    for name in TABLE_1:
        runs = results.runs(name)
        if runs is None:
            continue
        own = name == "rtvoice"
        if own:
            strong.append(len(rows))
        rows.append(
            (
                SUBJECTS[name].label + (" (!)" if SUBJECTS[name].caveat else ""),
                runs.audio_s_per_cpu_s.show(),
                f"{runs.audio_s_per_cpu_s.median / first.audio_s_per_cpu_s.median:.2f}" if first else NONE,
                runs.first_audio(0.5).show(),
                runs.first_audio(0.9).show(),
                megabytes(runs.warm),
                megabytes(runs.warm_group),
                megabytes(runs.idle if own else runs.warm),
                spread(runs.cold_start_s, 1),
                spread(runs.restored_s if own else None, 1),
                runs.audio_hour(asked.prices).show(4),
                results.numbers(name, kinds=("serve", "lifecycle")),
            )
        )
    header = (
        "",
        "audio-s / CPU-s",
        "to the first",
        "first audio p50, s",
        "p90, s",
        "warm, MB",
        "control group, MB",
        "long idle, MB",
        "cold start, s",
        "restore, s",
        "USD / audio-hour",
        "lines",
    )
    caption = (
        "Four clients at once. Medians of the rounds and their range. (!): another thing than the others, see above. "
        f"Prices: {asked.prices.cpu_s:g} USD a CPU-second, {asked.prices.gib_s:g} a GiB-second."
    )
    paper = ("", "audio-s / CPU-s", "first audio p50 / p90, s", "idle, MB", "cold start, s", "restore, s", "USD")
    return [
        Heading("Table 1: what engines cost and how soon they speak"),
        Table(header, rows, strong, caption),
        Table(paper, PAPER_ROWS, (), "The paper's own table, for comparison: 32 vCPU of an Emerald Rapids."),
    ]


def table_2(results: Results) -> Sequence[Block]:
    """OpenVINO as it comes and what each setting brings, then what rtvoice's own steps bring."""

    def row(label: str, runs: Runs | None, subject: str, memory: Figure | None = None) -> tuple[str, ...] | None:
        if runs is None:
            return None
        first = f"{runs.first_audio(0.5).median:.2f} / {runs.first_audio(0.9).median:.2f}"
        speed, start = runs.audio_s_per_cpu_s.show(), runs.cold_start_s.show(1)
        lines = results.numbers(subject, kinds=("serve", "lifecycle") if memory else ("serve",))
        return (label, speed, first, megabytes(memory or runs.warm), start, lines)

    traced, sized = results.runs("openvino-default"), results.runs("openvino-sized")
    threads, cached, exact, in_order = (results.runs(name) for name in STEPS)
    scheduled, own = results.runs("rtvoice-f32"), results.runs("rtvoice")
    rows = (
        row("OpenVINO as traced, default", traced, "openvino-default"),
        row("+ threads as many as cores", threads, "openvino-threads"),
        row("+ compile cache", cached, "openvino-cached"),
        row("+ streams", sized, "openvino-sized"),
        row("+ release when idle", sized, "openvino-sized", sized.released) if sized and sized.released else None,
        row("rtvoice's networks: exact rewrites, Fourier convolutions", exact, "rtvoice-exact"),
        row("+ slices", in_order, "rtvoice-in-order"),
        row("+ scheduling of slices, weights let go", scheduled, "rtvoice-f32"),
        row("+ kernels of bfloat16, where the processor has it", own, "rtvoice"),
        row("+ release when idle", own, "rtvoice", own.released) if own and own.released else None,
    )
    forms = [
        (
            FORMS[name],
            f"{rewrite.cpu_s:.3f}",
            f"{rewrite.gmac:.1f}",
            f"{rewrite.memory_mb:,.0f}",
            results.numbers(name),
        )
        for name in REWRITES
        if (rewrite := results.rewrite(name)) is not None
    ]
    header = ("", "audio-s / CPU-s", "first audio p50 / p90, s", "idle, MB", "cold start, s", "lines")
    return [
        Heading("Table 2: what each step brings"),
        Table([*header], [one for one in rows if one is not None], (), "Four clients at once, as in Table 1."),
        Table(
            ("the generator's stages, one thread", "CPU-s a second of speech", "GMAC", "MB", "lines"),
            forms,
            (),
            "GMAC: multiplications of the residual blocks a second of speech, in 10^9.",
        ),
    ]
