#!/usr/bin/env python3
"""Times programs on a small file, in turns, and prints a Markdown table.

    start.py [--copies N] [--runs N] [--cold] FILE PROGRAM PROGRAM ...

Each program is run as PROGRAM FILE, with its output into a pipe. A program that takes a few
milliseconds depends on where its pages lie in memory: two copies of one program differ by up to a
quarter. Each of N copies (default 12) of each program therefore has its own runs (default 40), and
the table has the median of the medians of the copies, with the least and the largest one, and the
ratio to the last program. With --cold, 16 MiB of other memory are written before each run, so that
no cache of the processor has the program.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=12, metavar="N")
    parser.add_argument("--runs", type=int, default=40, metavar="N")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("file")
    parser.add_argument("programs", nargs="+", metavar="program")
    args = parser.parse_args()

    medians = [[] for _ in args.programs]
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(args.copies):
            copies = [shutil.copy(p, os.path.join(directory, str(i))) for i, p in enumerate(args.programs)]
            for all_medians, times in zip(medians, measure(copies, args)):
                all_medians.append(statistics.median(times))
            for copy in copies:
                os.unlink(copy)

    print("| program | median [ms] | least | largest | ratio |\n|---|--:|--:|--:|--:|")
    last = statistics.median(medians[-1])
    for program, m in zip(args.programs, medians):
        middle = statistics.median(m)
        print(f"| {program} | {middle:.2f} | {min(m):.2f} | {max(m):.2f} | {middle / last:.3f} |")


def measure(programs, args):
    """Returns the times of each program in milliseconds. The first three rounds are not counted."""
    times = [[] for _ in programs]
    for run in range(-3, args.runs):
        for turn in range(len(programs)):
            i = (turn + run) % len(programs)
            if args.cold:
                bytearray(16 << 20).replace(b"\0", b"\1")
            t = timed([programs[i], args.file])
            if run >= 0:
                times[i].append(t)
    return times


def timed(command):
    """Returns the milliseconds from the start of a command to its end."""
    reading, writing = os.pipe()
    start = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_CLOSE, reading), (os.POSIX_SPAWN_CLOSE, writing)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    os.close(writing)
    while os.read(reading, 65536):
        pass
    _, status = os.waitpid(pid, 0)
    end = time.perf_counter()

    os.close(reading)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return 1000 * (end - start)


main()
