#!/usr/bin/env python3
"""Dumps many small programs, with --memory and without, and prints wall-clock time, processor time and peak memory.

    many.py N DUMP_SYMS [MEMORY]    N programs below a temporary directory; MEMORY is 50M without the argument

It fails if the run with --memory takes more than three times the other's processor or wall-clock time, or if the
process needs more than 48 MiB and 1,200 bytes for each file. The programs are testdata/elf/hello-x86_64-gcc12-O2-dw5.elf
without debug information (strip), each with a build id of its own."""
import os
import subprocess
import sys
import tempfile
import time

BASE, PER_FILE, TIMES = 48 << 20, 1200, 3


def programs(directory, count):
    """Writes the programs, a thousand a directory, and returns a list of their paths."""
    source = os.path.join(os.path.dirname(__file__), "../testdata/elf/hello-x86_64-gcc12-O2-dw5.elf")
    stripped = os.path.join(directory, "stripped")
    subprocess.run(["strip", "-o", stripped, source], check=True)
    with open(stripped, "rb") as file:
        data = bytearray(file.read())
    at = data.index(b"GNU\0", data.index(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")) + 4
    names = os.path.join(directory, "list")
    with open(names, "w") as out:
        for i in range(count):
            data[at:at + 8] = b"%08d" % i
            where = os.path.join(directory, "in", str(i // 1000))
            os.makedirs(where, exist_ok=True)
            path = os.path.join(where, "p%d" % i)
            with open(path, "wb") as file:
                file.write(data)
            out.write(path + "\n")
    return names


def run(program, names, directory, *flags):
    """Returns the seconds, the processor time and the peak of a run, which must write each program."""
    args = [program, "-s", os.path.join(directory, "store" + "".join(flags)), "--files-from", names,
            "--manifest", "/dev/null", *flags]
    start = time.time()
    process = subprocess.Popen(args, stderr=subprocess.PIPE, text=True)
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("%s: %d: %s" % (args, status, text[-1000:]))
    print(text.strip().splitlines()[-1])
    seconds, cpu, peak = time.time() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss << 10
    print("%-14s %7.1f s, processor time %7.1f s, peak %6d MiB" % (" ".join(flags) or "no flag", seconds, cpu, peak >> 20), flush=True)
    return seconds, cpu, peak


def main():
    count, program = int(sys.argv[1]), sys.argv[2]
    memory = sys.argv[3] if len(sys.argv) > 3 else "50M"
    with tempfile.TemporaryDirectory() as directory:
        names = programs(directory, count)
        free, limited = run(program, names, directory), run(program, names, directory, "--memory", memory)
    most = BASE + PER_FILE * count
    if limited[0] > TIMES * free[0] or limited[1] > TIMES * free[1]:
        sys.exit("--memory %s takes more than %d times the time" % (memory, TIMES))
    if max(free[2], limited[2]) > most:
        sys.exit("more than %d MiB" % (most >> 20))


main()
