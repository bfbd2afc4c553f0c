"""A cluster does the work: two worker processes here, each of which may be killed."""

import contextlib
import logging
import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import graders
import processes
import pytest

from rope_kv.grading import dask_cluster, work
from rope_kv.grading.crews import CrewError, crew_for
from rope_kv.grading.display import Seen
from rope_kv.grading.grade import grade
from rope_kv.grading.running import LostError, run
from rope_kv.grading.work import Settings

distributed = pytest.importorskip(
    "distributed", reason="distributed is not installed: pip install 'rope_kv[cluster]'"
)
dask = pytest.importorskip("dask")


@contextlib.contextmanager
def cluster_of(workers, log):
    """A cluster whose workers are told where to leave a line for each quick check."""
    with (
        pytest.MonkeyPatch.context() as patched,
        # A task is given up with the first worker that it ends, not with the fourth.
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        dask_cluster._quiet(),
    ):
        patched.setenv(graders.LOG, str(log))
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as started:
            started.address = f"dask://{started.scheduler_address.removeprefix('tcp://')}"
            started.log = log
            yield started


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with cluster_of(2, tmp_path_factory.mktemp("cluster") / "log.txt") as started:
        yield started


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(work, "check", graders.check)
    monkeypatch.setattr(work, "check_reference", graders.check_reference)


@pytest.fixture
def log(cluster):
    """The log, emptied, when a worker that was killed before has been started again."""
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    cluster.log.write_text("")
    return cluster.log


def at_work(log):
    """The workers that are checking or have checked a file, the first to begin first."""
    lines = log.read_text().splitlines()
    return list(dict.fromkeys(int(line.split()[0]) for line in lines if "reference" not in line))


def test_a_class_whose_worker_is_killed_ends_as_an_undisturbed_one(cluster, log, quick, tmp_path):
    handed, gate = tmp_path / "class", tmp_path / "gate"
    handed.mkdir()
    for number in range(6):
        (handed / f"student{number}.py").write_text(f"# wait {gate}\n# {number}\n")

    class Killing(Seen):
        def tick(self):
            if not gate.exists() and len(at_work(log)) == 2:
                os.kill(at_work(log)[0], signal.SIGKILL)
                gate.touch()

    disturbed = grade([handed], tmp_path / "disturbed", executor=cluster.address, seen=Killing())
    assert gate.exists()
    with ThreadPoolExecutor(1) as executor:
        undisturbed = grade([handed], tmp_path / "undisturbed", executor=executor)
    assert disturbed == undisturbed
    assert (disturbed.left, disturbed.stopped) == (0, "")
    assert [row.verdict for row in disturbed.rows] == ["PASS"] * 6
    for name in ("results.csv", "results.jsonl", "index.html"):
        told = [(tmp_path / which / name).read_bytes() for which in ("disturbed", "undisturbed")]
        assert told[0] == told[1]


def test_a_file_whose_check_kills_each_worker_is_the_only_one_that_is_given_up(
    cluster, log, quick
):
    bad = b"# die"
    sources = [b"# 1", bad, b"# 2", b"# 3"]
    by_digest = {work.digest_of(source): source for source in sources}
    outcomes = []
    with crew_for(cluster.address, None) as crew:
        run(by_digest, by_digest.__getitem__, Settings(), crew, outcomes.append)
    words = {by_digest[one.digest]: one.verdict["verdict"] for one in outcomes}
    assert words == {**dict.fromkeys(sources, "PASS"), bad: "GRADER_ERROR"}
    assert len(outcomes) == 4
    (message,) = {one.verdict["message"] for one in outcomes if not one.is_done}
    assert "without a verdict (KilledWorker: " in message


@pytest.mark.skipif(
    not processes.PROC.exists(), reason="there is no /proc, where the processes can be seen"
)
def test_a_worker_that_is_killed_takes_the_processes_of_its_file_with_it(cluster, log):
    """The check is the real one, in a thread of a worker: the file loops while it is loaded."""
    settings = Settings(call_timeout=100.0)
    with crew_for(cluster.address, None) as crew:
        workers = worker_pids(cluster)
        crew.submit(work.check, b"while True:\n    pass\n", settings, work.versions())
        victim = processes.until(
            lambda: next((pid for pid in workers if len(processes.below(pid)) >= 2), None)
        )
        assert victim
        there = processes.below(victim)
        os.kill(victim, signal.SIGKILL)
        assert processes.until(lambda: not there & processes.alive().keys())


def worker_pids(cluster):
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def test_a_real_check_runs_in_a_worker(cluster, log):
    with crew_for(cluster.address, None) as crew:
        outcome = crew.submit(work.check, b"def (", Settings(), work.versions()).result()
    assert outcome.verdict["verdict"] == "LOAD_ERROR"
    assert outcome.is_done


def test_a_scheduler_that_ends_leaves_the_rest_of_the_class_for_later(
    quick, tmp_path, monkeypatch
):
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_ANSWER", 2)  # It looks for it that long again.
    log, gate = tmp_path / "log.txt", tmp_path / "never"
    log.touch()
    source = f"# wait {gate}".encode()
    ended = []
    with cluster_of(1, log) as started, crew_for(started.address, None) as crew:

        def end_it():
            if at_work(log) and not ended:
                ended.append(True)
                started.close()

        with pytest.raises(LostError, match=r"ended before the class was through|takes no more"):
            run([work.digest_of(source)], lambda _: source, Settings(), crew, print, end_it)
    assert ended


def test_where_nothing_or_no_dask_listens_there_is_one_sentence(monkeypatch):
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_ANSWER", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(CrewError, match=f"no dask scheduler answers at 127.0.0.1:{port}: "):
            crew_for(f"dask://127.0.0.1:{port}", None).__enter__()
    with pytest.raises(CrewError, match=f"no dask scheduler answers at 127.0.0.1:{port}: "):
        crew_for(f"dask://127.0.0.1:{port}", None).__enter__()


@pytest.mark.parametrize("address", ["", "localhost", ":8786", "localhost:", "localhost:\x1b[m"])
def test_a_bad_address_is_one_sentence(address):
    with pytest.raises(
        CrewError, match=r"there is no executor 'dask://.*': name dask://HOST:PORT"
    ):
        crew_for(f"dask://{address}", None).__enter__()


def test_a_cluster_without_workers_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "SECONDS_TO_ANSWER", 1)
    with (
        cluster_of(0, tmp_path / "log.txt") as started,
        pytest.raises(CrewError, match="has no workers: start some first"),
    ):
        crew_for(started.address, None).__enter__()


def test_without_dask_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CrewError, match=r"needs dask: pip install 'rope_kv\[cluster\]'"):
        crew_for("dask://localhost:8786", None).__enter__()


def test_dask_logs_nothing_while_it_works_and_as_before_afterwards(cluster):
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        with crew_for(cluster.address, 7) as crew:
            assert crew.jobs == 7
            assert not logger.isEnabledFor(logging.CRITICAL)
        assert logger.level == logging.WARNING
    finally:
        logger.setLevel(level)
