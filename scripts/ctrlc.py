#!/usr/bin/env python3
"""Presses Ctrl-C in a terminal where a program waits, and looks how the program ends.

    ctrlc.py FILE PROGRAM [ARG...]

PROGRAM runs in a terminal of its own. In the arguments and in DEBUGINFOD_URLS, URL stands
for an HTTP server of this script, whose replies begin and never end, and PIPE for a named
pipe that gets the beginning of a symbol file. Ctrl-C is pressed as soon as PROGRAM has asked
the server or has read what is in the pipe. The program must say "interrupted" and end with exit code 1
within a second; the message of a later end begins with "slow". No file may be left in the
current directory but FILE, which may be a comma-separated list.
"""
import array
import fcntl
import os
import pty
import select
import socket
import sys
import termios
import threading
import time

asked = threading.Event()


def serve(server):
    connections = []
    while True:
        connection, _ = server.accept()
        connections.append(connection)  # an open connection: the reply goes on
        symbols = b".sym" in connection.recv(1 << 16)
        head = b"MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n" if symbols else b"\x7fELF\x02\x01\x01"
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n" + head + b"FILE 1 a.c\n" * 6000)
        asked.set()


def main():
    keep, args = sys.argv[1].split(","), sys.argv[2:]
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(server,), daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}"
    args = [a.replace("URL", url) for a in args]
    pipe = None
    if "PIPE" in args:
        os.mkfifo("PIPE")
        pipe = os.open("PIPE", os.O_RDWR)  # with a writer, reading the pipe does not end
        os.write(pipe, b"MODULE ")

    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["DEBUGINFOD_URLS"] = os.environ.get("DEBUGINFOD_URLS", "").replace("URL", url)
        os.execvp(args[0], args)

    output, status = b"", None

    def watch(seconds, until=lambda: False):
        """Reads the terminal for so long, or until the program ends or until() holds."""
        nonlocal output, status
        end = time.monotonic() + seconds
        while time.monotonic() < end and status is None and not until():
            if select.select([terminal], [], [], 0.01)[0]:
                try:
                    output += os.read(terminal, 1 << 16)
                except OSError:
                    pass  # the program has closed the terminal
            done, code = os.waitpid(pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(code)

    def ready():
        if pipe is None:
            return asked.is_set()
        left = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, left)
        return left[0] == 0

    watch(60, ready)
    watch(0.2)
    if pipe is not None:
        os.unlink("PIPE")
    if status is not None or not ready():
        sys.exit(f"before Ctrl-C: exit code {status}, at work: {ready()}: {output!r}")

    began = time.monotonic()
    os.write(terminal, b"\x03")
    watch(10)
    took = time.monotonic() - began
    if status is None:
        os.kill(pid, 9)
        sys.exit(f"goes on after Ctrl-C: {output!r}")

    left = [os.path.join(d, f) for d, _, files in os.walk(".") for f in files]
    left = [f for f in left if os.path.relpath(f) not in keep]
    if status != 1 or b"interrupted" not in output or left:
        sys.exit(f"ended after {took:.2f} s with exit code {status}, left {left}: {output!r}")
    if took > 1:
        sys.exit(f"slow: ended after {took:.2f} s")
    print(f"ended after {1000 * took:.0f} ms", file=sys.stderr)


main()
