"""What is measured, in which order; that a run keeps what it has, goes on, and keeps to its time."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks.report.__main__ import main
from benchmarks.report.journal import Journal, code_digest, context, done, unfinished
from benchmarks.report.plan import FULL, PARTS, QUICK, REWRITES, TABLE_1, Cell, Estimate, cells, chosen
from benchmarks.report.results import Results
from benchmarks.report.runner import Run
from benchmarks.report.subjects import SUBJECTS
from benchmarks.server import ServerFailed
from tests.benchmarks.measured import CONTEXT, PLAN, line, measured


class Clock:
    """A clock that goes on when a cell is measured."""

    now = 0.0

    def __call__(self):
        return self.now


class Measures:
    """Measures at once, by the clock in so many seconds; fails with what is given by cell's name."""

    def __init__(self, clock, seconds=10.0, **failures):
        self.clock, self.seconds, self.failures, self.asked = clock, seconds, failures, []

    def measure(self, cell):
        self.asked.append(cell)
        self.clock.now += self.seconds
        if cell.subject in self.failures:
            raise self.failures[cell.subject]
        return measured(cell)

    def versions(self, cell):
        return {"library": "1"}


def run(tmp_path, plan, budget_s=None, seconds=10.0, **failures):
    clock, told = Clock(), []
    measures, journal = Measures(clock, seconds, **failures), Journal(tmp_path / "lines.jsonl")
    made = Run(journal=journal, context=CONTEXT, measures=measures, told=told.append, budget_s=budget_s, clock=clock)
    return made.over(plan), journal, measures, told


@pytest.mark.parametrize("profile", [QUICK, FULL], ids=lambda profile: profile.name)
def test_every_cell_is_measured_once_and_of_something_there_is(profile):
    plan = cells(profile)
    assert len({cell.name for cell in plan}) == len(plan)
    assert {cell.subject for cell in plan} <= {*SUBJECTS, *REWRITES, "machine"}
    assert sum(cell.name.startswith("serve/pytorch-eager/") for cell in plan) == profile.rounds
    for part, kinds in PARTS.items():
        assert {cell.kind for cell in chosen(plan, [part], [])} == set(kinds)


def test_rounds_turn_the_order_and_the_second_begins_with_rtvoice():
    by_round = [[cell.subject for cell in cells(FULL) if cell.kind == "serve" and cell.number == n] for n in (1, 2)]
    assert by_round[0][0] == "rtvoice"
    assert by_round[0] != by_round[1]
    assert sorted(by_round[0]) == sorted(by_round[1])


def test_one_row_or_one_figure_alone():
    assert {cell.subject for cell in chosen(PLAN, [], ["piper"])} == {"piper"}
    assert {cell.kind for cell in chosen(PLAN, ["figure-3"], [])} == {"clients"}
    assert [cell.name for cell in chosen(PLAN, ["figure-5"], ["piper"])] == ["lifecycle/piper/0"]
    assert chosen(PLAN, [], []) == PLAN


def test_time_left_is_of_this_machine():
    estimate, cell = Estimate(), Cell(kind="serve", subject="a")
    expected_s = estimate.seconds(cell)
    estimate.learn(cell, 3 * expected_s)
    assert estimate.seconds(cell) == 3 * expected_s
    assert estimate.seconds(Cell(kind="serve", subject="b")) == pytest.approx(3 * expected_s)


def test_a_line_is_written_for_every_cell(tmp_path):
    left_out, journal, _, told = run(tmp_path, PLAN)
    assert left_out == ()
    assert [one.cell for one in journal.lines()] == [cell.name for cell in PLAN]
    assert all(one.took_s == 10 and one.decoded() for one in journal.lines())
    assert told[0].startswith(f"1 of {len(PLAN)}: serve/pytorch-eager/0, ")
    assert told[-1].endswith(" 10 s left")


def test_what_may_be_left_out_is_for_lack_of_time_and_nothing_else(tmp_path):
    needed = sum(not cell.optional for cell in PLAN)
    left_out, journal, _, _ = run(tmp_path, PLAN, budget_s=10.0 * needed + 20)
    assert len(journal.lines()) == needed + 2
    assert left_out == PLAN[needed + 2 :]
    assert {cell.name for cell in PLAN[needed : needed + 2]} == {"serve/rtvoice/1", "serve/pytorch-eager/1"}


def test_what_is_needed_is_measured_whatever_the_time(tmp_path):
    left_out, journal, _, _ = run(tmp_path, PLAN, budget_s=0.0)
    assert {one.cell for one in journal.lines()} == {cell.name for cell in PLAN if not cell.optional}
    assert all(cell.optional for cell in left_out)


def test_an_engine_that_fails_stops_no_other(tmp_path):
    failures = {
        "piper": ServerFailed("it does not listen\n    somewhere"),
        "direct": subprocess.CalledProcessError(1, "python"),
    }
    _, journal, measures, told = run(tmp_path, PLAN, **failures)
    assert len(measures.asked) == len(PLAN)
    errors = {one.cell: one.error for one in journal.lines() if one.error}
    assert errors["serve/piper/0"].startswith("ServerFailed: it does not listen")
    assert errors["rewrite/direct/0"].startswith("CalledProcessError")
    assert any(text.startswith("serve/piper/0 failed") for text in told)


def test_a_fault_of_ours_is_not_taken_for_an_engine_that_fails(tmp_path):
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, PLAN, piper=ZeroDivisionError())


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, PLAN, **{"kokoro-onnx": KeyboardInterrupt()})
    journal = Journal(tmp_path / "lines.jsonl")
    lines = journal.lines()
    assert len(lines) == TABLE_1.index("kokoro-onnx")
    assert unfinished(lines, CONTEXT)
    left = [cell for cell in PLAN if cell.name not in done(lines, CONTEXT)]
    run(tmp_path, left)
    assert [one.cell for one in journal.lines()] == [cell.name for cell in PLAN]
    assert unfinished(journal.lines(), CONTEXT)


def test_a_run_that_ended_says_so_and_what_it_left_out(tmp_path):
    journal = Journal(tmp_path / "lines.jsonl")
    clock = Clock()
    made = Run(journal=journal, context=CONTEXT, measures=Measures(clock), told=print, budget_s=0.0, clock=clock)
    left_out = made.over(PLAN[-2:])
    made.end(left_out)
    assert not unfinished(journal.lines(), CONTEXT)
    assert Results(journal.lines()).left_out == tuple(cell.name for cell in PLAN[-2:])


def test_what_failed_is_measured_again_and_other_contexts_do_not_count():
    cell = PLAN[0]
    assert done([line(cell)], CONTEXT) == {cell.name}
    assert done([line(cell), line(cell, measured=None, error="gone")], CONTEXT) == frozenset()
    assert done([line(cell)], CONTEXT | {"threads": 1}) == frozenset()
    assert not unfinished([line(cell)], CONTEXT | {"threads": 1})


def test_a_line_that_was_cut_off_is_passed_over_and_overwritten(tmp_path):
    path = tmp_path / "lines.jsonl"
    journal = Journal(path)
    assert journal.lines() == ()
    journal.append(line(PLAN[0]))
    with path.open("a") as file:
        file.write('{"cell": "serve/')
    assert [one.cell for one in journal.lines()] == [PLAN[0].name]
    journal.append(line(PLAN[1]))
    assert [one.cell for one in journal.lines()] == [PLAN[0].name, PLAN[1].name]
    assert [one.decoded() for one in journal.lines()] == [measured(PLAN[0]), measured(PLAN[1])]


@pytest.mark.parametrize("cell", PLAN[:1] + tuple(c for c in PLAN if c.kind != "serve"), ids=lambda cell: cell.name)
def test_every_kind_of_line_is_read_as_it_was_written(cell, tmp_path):
    journal = Journal(tmp_path / "lines.jsonl")
    journal.append(line(cell))
    assert journal.lines()[0].decoded() == measured(cell)


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "lines.jsonl").write_text("no JSON\n")
    with pytest.raises(ValueError, match="Expecting value"):
        Journal(tmp_path / "lines.jsonl").lines()


def test_the_context_names_machine_weights_and_sentences():
    found = context("quick", 2)
    assert found.keys() == CONTEXT.keys()
    assert found["machine"].keys() == CONTEXT["machine"].keys()


def test_other_code_is_another_context(tmp_path):
    (tmp_path / "a.py").write_text("1")
    before = code_digest(tmp_path)
    assert code_digest(tmp_path) == before
    (tmp_path / "a.py").write_text("2")
    changed = code_digest(tmp_path)
    (tmp_path / "a.py").rename(tmp_path / "b.py")
    assert len({before, changed, code_digest(tmp_path)}) == 3


def test_the_command_refuses_what_it_does_not_know(capsys):
    with pytest.raises(SystemExit):
        main(["--rows", "nobody"])
    assert "no nobody; there are pytorch-eager" in capsys.readouterr().err
    assert main(["--rows", "direct", "--only", "figure-3"]) == 1


def test_the_command_says_what_is_missing(tmp_path, capsys):
    folders = ["--results", str(tmp_path), "--docs", str(tmp_path / "b.md"), "--cache", str(tmp_path)]
    assert main([*folders, "--rows", "piper", "--reference-python", str(tmp_path / "none")]) == 1
    assert "which is not there" in capsys.readouterr().err
    (tmp_path / "weights.sha256").write_text("others")
    assert main([*folders, "--only", "roofline"]) == 1
    assert "other weights" in capsys.readouterr().err
