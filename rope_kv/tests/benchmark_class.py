"""How long a class takes, beside a plain loop over `rope-kv check`; and that it survives kill -9.

    python rope_kv/tests/benchmark_class.py throughput --students 1000 --loop 40
    python rope_kv/tests/benchmark_class.py kills --students 200 --kills 20

The students' files are right, each in one of 34 styles, and no two are the same.
"""

import argparse
import filecmp
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
RIGHT = sorted(HERE.glob("right/[!_]*.py"))
WRONG = sorted(HERE.glob("restyled/[!_]*.py"))
COMMAND = [sys.executable, "-m", "rope_kv"]


def write_class(folder, students, styles):
    """Write a file for each student, in one style after the other."""
    folder.mkdir()
    for number in range(students):
        source = styles[number % len(styles)].read_text(encoding="utf-8")
        path = folder / f"student-{number:04}.py"
        path.write_text(f"{source}\n# student {number}\n", encoding="utf-8")


def grade(folder, out, *options):
    """Return a process that grades a class."""
    command = [*COMMAND, "grade", str(folder), "--out", str(out), *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def peak_memory(pid):
    """Return the most memory that a process ever had, in MB; 0 if it has ended."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def throughput(work, given):
    """Grade a class, and a part of it one by one before and after; print what each takes."""
    write_class(work / "class", given.students, RIGHT)
    files = sorted((work / "class").iterdir())[: given.loop]
    half = len(files) // 2
    loop = [seconds_of_loop(files[:half])]
    process = grade(work / "class", work / "out")
    started, memory = time.perf_counter(), []
    while process.poll() is None:
        time.sleep(1)
        if (work / "out/state/done").is_dir():
            done = len(list((work / "out/state/done").iterdir()))
            if done >= (len(memory) + 1) * given.students / 10:
                seconds = time.perf_counter() - started
                memory.append(peak_memory(process.pid))
                print(f"{done} after {seconds:.0f} s, parent {memory[-1]} MB", flush=True)
    seconds = time.perf_counter() - started
    print(process.stdout.read())
    loop.append(seconds_of_loop(files[half:]))
    each = sum(loop) / len(files)
    print(f"grade: {seconds:.0f} s, {seconds / given.students:.3f} s a file")
    print(f"loop: {each:.3f} s a file ({loop[0]:.0f} s before, {loop[1]:.0f} s after)")
    print(f"grade is {each / (seconds / given.students):.2f} times faster")


def seconds_of_loop(files):
    """Return how long `rope-kv check` takes for some files, one after the other."""
    started = time.perf_counter()
    for file in files:
        subprocess.run([*COMMAND, "check", str(file), "--quiet"], stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def kills(work, given):
    """Grade a class undisturbed, and again with kill -9 at random moments; compare all files."""
    write_class(work / "class", given.students, RIGHT[:16] + WRONG[:4])
    harvests = [work / "harvest", work / "harvest-killed"]
    started = time.perf_counter()
    undisturbed = grade(work / "class", work / "out", "--harvest", str(harvests[0]))
    undisturbed.communicate()
    seconds = time.perf_counter() - started
    print(f"undisturbed: {seconds:.0f} s", flush=True)
    chance = random.Random(given.seed)
    killed, resumed = work / "killed", []
    for number in range(given.kills):
        process = grade(work / "class", killed, "--harvest", str(harvests[1]), *resumed, "--quiet")
        wait = chance.uniform(0, 2 * seconds / given.kills)
        try:
            process.communicate(timeout=wait)
            print(f"it ended after {number} kills", flush=True)
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        done = killed / "state/done"
        count = len(list(done.iterdir())) if done.is_dir() else 0
        print(f"kill {number + 1} after {wait:.1f} s: {count} done", flush=True)
        resumed = ["--resume"]
    process = grade(work / "class", killed, "--harvest", str(harvests[1]), "--resume")
    print(process.communicate()[0])
    different = compared(work / "out", killed) + compared(*harvests)
    count = sum(path.is_file() for path in (work / "out").rglob("*"))
    print(f"{count} files compared, {len(different)} different: {different[:10]}")
    return 1 if different else 0


def compared(one, other):
    """Return the names of the files that are not the same in two folders, or not there."""
    names = {
        path.relative_to(folder)
        for folder in (one, other)
        for path in folder.rglob("*")
        if path.is_file()
    }
    return sorted(
        str(name)
        for name in names
        if not (one / name).exists()
        or not (other / name).exists()
        or not filecmp.cmp(one / name, other / name, shallow=False)
    )


def main():
    """Do what is asked for in a new folder, which is taken away afterwards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("throughput", "kills"))
    parser.add_argument("--students", type=int, default=100)
    parser.add_argument("--loop", type=int, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="rope-kv-class-"))
    try:
        return {"throughput": throughput, "kills": kills}[given.what](work, given)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    raise SystemExit(main())
