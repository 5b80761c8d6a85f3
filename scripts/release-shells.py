#!/usr/bin/env python3
"""Asks man, bash, zsh and fish of a root directory for the pages and completions of symkit.

    scripts/release-shells.py ROOT

The programs run in ROOT (chroot) and are asked as a user asks them: man by the name of a page or
of a command, the shells with keys on a terminal, or, for fish, with its complete -C. No directory
of ours is named here. Exits with 1 if an answer is not the expected one.
"""
import os
import pty
import re
import select
import subprocess
import sys
import time

PAGES = {  # what man is asked for: what only this page has
    "dump_syms": "--no-cfi",
    "symcheck": "--debug-dir",
    "symcheck lint": "check symbol files without their ELF files",
    "symcheck diff": "list the differences of two symbol files",
    "stackwalk": "--signature-lists",
    "stackwalk diff": "--fail-on",
    "minidump-stackwalk": "--evil-json",
    "minidump_stackwalk": "-f human|machine",
    "microdump_stackwalk": "show the stack of a microdump",
}

LINES = {  # what is typed before the completion key: a word that is offered then, and one that is not
    "dump_syms --inl": ("--inlines", None),
    "dump_syms --sframe o": ("only", "auto"),
    "symcheck --min": ("--min-coverage", None),
    "symcheck --limit 5 lint --for": ("--format", None),
    "symcheck lint --debug": (None, "--debug-dir"),
    "symcheck d": ("diff", "lint"),
    "stackwalk --source": ("--source-link", None),
    "stackwalk di": ("diff", None),
    "stackwalk diff --fail": ("--fail-on", None),
    "stackwalk diff --cach": (None, "--cache"),
    "stackwalk --exe x --fail": (None, "--fail-on"),
    "minidump-stackwalk --evil": ("--evil-json", None),
    "minidump-stackwalk --cach": (None, "--cache"),
    "minidump_stackwalk -f ma": ("machine", "human"),
    "microdump_stackwalk -": ("-s", "--symbols"),
}

# TERM is a terminal without colours, whose prompts and answers stay readable.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "TERM": "dumb", "LC_ALL": "C.UTF-8"}

READY = re.compile(r"\nready.*\$ ", re.DOTALL)


def command(root, *args):
    return subprocess.run(["chroot", root, *args], env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True)


class Shell:
    """An interactive shell on a terminal."""

    def __init__(self, root, *args):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("chroot", ["chroot", root, *args], ENVIRONMENT)

    def read(self, seconds=60.0):
        """Returns what the shell prints until it is ready: until the prompt, for earlier keys are no keys to it."""
        text, end = "", time.monotonic() + seconds
        while not READY.search(text) and select.select([self.terminal], [], [], max(0, end - time.monotonic()))[0]:
            text += os.read(self.terminal, 65536).decode(errors="replace")
        if not READY.search(text):
            raise TimeoutError(f"no prompt in {text!r}")
        return text

    def send(self, text):
        os.write(self.terminal, text.encode())

    def run(self, line):
        """Runs a line, and waits for its end. The line has no "ready" as it is typed."""
        self.send(line + "; echo re\"\"ady\r")
        return self.read()

    def complete(self, line):
        """Returns what the shell adds to a line, or lists below it, for two completion keys."""
        self.send(line + "\t\t\x15")  # Ctrl-U removes the line
        return self.run("true")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def bash(root):
    shell = Shell(root, "bash", "-l", "-i")
    shell.run("PS1='$ '")
    yield from ((line, shell.complete(line)) for line in LINES)
    shell.close()


def zsh(root):
    # What zsh-newuser-install writes into .zshrc if the user wants completions.
    shell = Shell(root, "zsh", "-i", "-f")
    shell.run("PS1='$ '; autoload -Uz compinit; compinit -u -D")
    yield from ((line, shell.complete(line)) for line in LINES)
    shell.close()


def fish(root):
    for line in LINES:
        # Each line has an answer and its description.
        answers = command(root, "fish", "-c", f"complete -C '{line}'").stdout.splitlines()
        yield line, "\n".join(answer.split("\t")[0] for answer in answers)


def words(text, line):
    """Returns the words of an answer; one that continues the line is joined with its last word."""
    last = line.split(" ")[-1]
    found = set()
    for word in text.replace("\x07", " ").replace("\x08", "").split():
        found |= {word.rstrip("="), (last + word).rstrip("=")}
    return found


def main(root):
    failures = 0

    def expect(ok, what):
        nonlocal failures
        if not ok:
            failures += 1
            print("FAIL ", what, file=sys.stderr)

    for page, want in PAGES.items():
        text = " ".join(command(root, "man", "--encoding=ascii", *page.split()).stdout.split())
        expect(want in text, f"man {page}: no {want!r} in {text[:200]!r}")
    for shell in bash, zsh, fish:
        for line, answer in shell(root):
            want, never = LINES[line]
            found = words(answer, line)
            expect(want is None or want in found, f"{shell.__name__}: {line!r}: no {want!r} in {answer!r}")
            expect(never is None or never not in found, f"{shell.__name__}: {line!r}: {never!r} in {answer!r}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
