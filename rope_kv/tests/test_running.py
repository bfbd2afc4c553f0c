"""Having files checked, whatever becomes of the executor; the executors here are made by hand."""

import time
from concurrent.futures import BrokenExecutor, Executor, Future

import graders
import pytest

from rope_kv.grading import work
from rope_kv.grading.crews import Crew, CrewError
from rope_kv.grading.running import LostError, run
from rope_kv.grading.work import Settings
from rope_kv.testing.loading import LoadError, SpecError


@pytest.fixture(autouse=True)
def quick_checks(monkeypatch):
    monkeypatch.setattr(work, "check", graders.check)


class Now(Executor):
    """Does all at once, when it is given; what `fate` says of a file comes to pass instead."""

    def __init__(self, fate=None):
        self.fate = fate or {}
        self.given = []

    def submit(self, task, source, *arguments):
        self.given.append(source)
        future = Future()
        fate = self.fate.get(source)
        if fate is None:
            future.set_result(task(source, *arguments))
        elif isinstance(fate, BaseException):
            future.set_exception(fate)
        elif fate == "cancelled":
            future.cancel()
            future.set_running_or_notify_cancel()
        return future


class Refusing(Now):
    def submit(self, task, source, *arguments):
        self.given.append(source)
        raise OSError("no more processes")


class RefusingTheSecond(Now):
    def submit(self, *given):
        if self.given:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return super().submit(*given)


def files(count):
    return [f"# {number}".encode() for number in range(count)]


def ran(sources, crew, read=None, **more):
    """Run these files and return the outcomes in the order of their ends."""
    by_digest = {work.digest_of(source): source for source in sources}
    outcomes = []
    read = read or by_digest.__getitem__
    run(by_digest, read, Settings(), crew, outcomes.append, **more)
    return outcomes


def words(outcomes):
    return {outcome.digest: outcome.verdict["verdict"] for outcome in outcomes}


def expected(sources, **otherwise):
    return {work.digest_of(source): "PASS" for source in sources} | otherwise


@pytest.mark.parametrize(("jobs", "count"), [(1, 3), (2, 5), (50, 3), (1, 1), (3, 0)])
def test_each_file_is_checked_once_however_many_jobs_there_are(jobs, count):
    executor = Now()
    outcomes = ran(files(count), Crew(None, executor, jobs))
    assert sorted(executor.given) == files(count)
    assert len(outcomes) == count
    assert words(outcomes) == expected(files(count))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (SpecError("there is no file ada.py"), "there is no file ada.py: --resume"),
        (LoadError("ada.py cannot be loaded: it is a symbolic link"), "it is a symbolic link: "),
        (OSError(5, "Input/output error"), "Input/output error: --resume"),
    ],
)
def test_a_file_that_vanished_is_said_to_be_not_run_and_the_others_go_on(error, says):
    gone, *others = files(4)
    by_digest = {work.digest_of(source): source for source in others}

    def read(digest):
        if digest == work.digest_of(gone):
            raise error
        return by_digest[digest]

    outcomes = ran(files(4), Crew(None, Now(), 2), read)
    assert words(outcomes) == expected(others, **{work.digest_of(gone): "NOT_RUN"})
    (outcome,) = (one for one in outcomes if one.digest == work.digest_of(gone))
    assert says in outcome.verdict["message"]
    assert not outcome.is_done
    assert outcome.points is None


def test_a_file_that_changed_is_not_judged_under_the_name_of_what_it_was():
    changed, *others = files(4)
    executor = Now()
    by_digest = {work.digest_of(source): source for source in others}
    outcomes = ran(
        files(4), Crew(None, executor, 2), lambda digest: by_digest.get(digest, b"# another")
    )
    assert sorted(executor.given) == others
    assert words(outcomes) == expected(others, **{work.digest_of(changed): "NOT_RUN"})


def test_a_check_that_fails_is_given_up_after_three_tries_and_says_why():
    bad, *others = files(5)
    executor = Now({bad: ValueError("it\ncannot \x1b[31m be")})
    outcomes = ran(files(5), Crew(None, executor, 2))
    assert executor.given.count(bad) == 3
    assert words(outcomes) == expected(others, **{work.digest_of(bad): "GRADER_ERROR"})
    message = outcomes[-1].verdict["message"]
    assert "3 times without a verdict (ValueError: it cannot \\x1b[31m be)" in message
    assert not outcomes[-1].is_done


@pytest.mark.parametrize("end", [BrokenExecutor("a process died"), "cancelled"])
def test_files_of_an_executor_that_broke_are_checked_by_the_next_one(end):
    sources = files(6)
    executors = [Now({sources[2]: end}), Now()]
    crew = Crew(lambda: executors[1], executors[0], 2)
    outcomes = ran(sources, crew)
    assert crew.executor is executors[1]
    assert len(outcomes) == 6
    assert words(outcomes) == expected(sources)
    # What the first has finished, although it broke, was not done again.
    assert set(executors[0].given[:2]).isdisjoint(executors[1].given)


def test_a_suspect_is_checked_alone_so_that_no_other_file_is_blamed():
    """Two that kill and two that wait beside them: a waiting one is lost with either."""
    killers, waiting, others = files(9)[:2], files(9)[2:4], files(9)[4:]
    beside = []

    class Pool(Now):
        """Breaks when a killer is at work; who waits is done when nobody kills beside it."""

        def submit(self, task, source, *arguments):
            future = Future()
            at_work.append((future, task, source, arguments))
            if source in killers:
                beside.append(len(at_work))
                for one, *_ in at_work:
                    one.set_exception(BrokenExecutor())
                at_work.clear()
            elif source not in waiting or len(at_work) == 1:
                future.set_result(task(source, *arguments))
                at_work.pop()
            return future

    at_work = []
    order = [waiting[0], killers[0], waiting[1], killers[1], *others]
    outcomes = ran(order, Crew(Pool, Pool(), 2))
    given_up = {work.digest_of(source): "GRADER_ERROR" for source in killers}
    assert words(outcomes) == expected([*waiting, *others], **given_up)
    assert len(outcomes) == 9
    assert beside[-2:] == [1, 1]


def test_an_executor_that_breaks_and_has_no_successor_ends_the_class_in_a_sentence():
    sources = files(4)
    executor = Now({sources[1]: BrokenExecutor()})
    done = []
    with pytest.raises(LostError, match="the executor has ended before the class was through"):
        run(
            map(work.digest_of, sources),
            dict(zip(map(work.digest_of, sources), sources, strict=True)).__getitem__,
            Settings(),
            Crew(None, executor, 3),
            done.append,
        )
    # What it had finished before is not thrown away.
    assert words(done) == expected([sources[0], *sources[2:]])


def test_an_executor_whose_successor_cannot_be_made_ends_the_class_in_a_sentence():
    def make():
        raise CrewError("no processes can be started here")

    sources = files(2)
    with pytest.raises(LostError, match="no processes can be started here"):
        ran(sources, Crew(make, Now({sources[0]: BrokenExecutor()}), 1))


def test_an_executor_that_takes_no_file_is_not_asked_for_ever():
    executors = [Refusing() for _ in range(9)]
    crew = Crew(iter(executors[1:]).__next__, executors[0], 2)
    with pytest.raises(LostError, match=r"takes no more files \(OSError: no more processes\)"):
        ran(files(3), crew)
    assert sum(len(one.given) for one in executors) == 3


def test_a_file_refused_once_goes_to_the_next_executor_with_all_that_the_first_had():
    sources = files(4)
    first = RefusingTheSecond({sources[0]: "silence"})
    outcomes = ran(sources, Crew(Now, first, 2))
    assert len(outcomes) == 4
    assert words(outcomes) == expected(sources)


def test_an_error_of_who_keeps_the_outcome_is_not_blamed_on_the_file():
    executor = Now()

    def disk_full(outcome):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        run(
            [work.digest_of(b"# 0")],
            lambda digest: b"# 0",
            Settings(),
            Crew(None, executor, 1),
            disk_full,
        )
    assert executor.given == [b"# 0"]


def test_after_its_time_no_file_is_begun():
    executor = Now()
    assert ran(files(3), Crew(None, executor, 1), until=time.monotonic() - 1) == []
    assert executor.given == []


def test_another_version_of_what_decides_a_verdict_is_a_reason_not_to_judge():
    source = work.reference()
    other = {**work.versions(), "numpy": "0.0.1"}
    outcome = CHECK(source, Settings(), other)
    assert outcome.verdict["verdict"] == "GRADER_ERROR"
    assert "the class is graded with numpy 0.0.1" in outcome.verdict["message"]
    assert not outcome.is_done


CHECK = work.check
