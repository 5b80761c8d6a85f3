#!/usr/bin/env python3
"""Runs a program in a terminal of its own and prints what the terminal would show, without
escape sequences and spaces at the ends of lines.

    console.py COLUMNS PROGRAM [ARG...]
"""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns, args = int(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, columns, 0, 0))
    os.execvp(args[0], args)

output = b""
while True:
    try:
        data = os.read(terminal, 1 << 16)
    except OSError:
        break  # the program has closed the terminal
    if not data:
        break
    output += data
_, status = os.waitpid(pid, 0)

text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", output.decode())
lines = [line.rstrip() for line in text.replace("\r", "").split("\n")]
print("\n".join(lines).rstrip("\n"))
sys.exit(os.waitstatus_to_exitcode(status))
