python
# Writes to dump.txt what a core file is made of: "arch NAME", "reg NAME VALUE",
# "mem ADDRESS BYTES" for the pages of the stack and of signal trampolines.
import binascii
import re

arch = gdb.selected_inferior().architecture().name()
out = open("dump.txt", "w")
out.write("arch %s\n" % arch)
mask = (1 << 64) - 1

if arch.startswith("aarch64"):
    names = ["x%d" % i for i in range(31)] + ["sp", "pc"]
elif arch.startswith("riscv"):
    names = "ra sp gp tp t0 t1 t2 s0 s1".split() + ["a%d" % i for i in range(8)] + \
        ["s%d" % i for i in range(2, 12)] + ["t%d" % i for i in range(3, 7)] + ["pc"]
elif arch.startswith("s390"):
    names = ["r%d" % i for i in range(16)] + ["pswa"]
    for i in range(16):
        text = gdb.execute("info registers f%d" % i, to_string=True)
        out.write("reg f%d %s\n" % (i, re.search("raw 0x([0-9a-f]+)", text).group(1)))
else:
    names = ["r%d" % i for i in range(13)] + ["sp", "lr", "pc"]
for name in names:
    real = "fp" if name == "s0" else name
    out.write("reg %s %x\n" % (name, int(gdb.parse_and_eval("(unsigned long)$" + real)) & mask))

inferior, done = gdb.selected_inferior(), set()


def pages(address, count):
    address &= ~4095
    for page in range(address, address + 4096 * count, 4096):
        if page in done:
            continue
        done.add(page)
        try:
            data = bytes(inferior.read_memory(page, 4096))
        except gdb.error:
            continue
        out.write("mem %x %s\n" % (page, binascii.hexlify(data).decode()))


sp = int(gdb.parse_and_eval("(unsigned long)$sp")) & mask
pages(sp - 4096, 48)
frame = gdb.newest_frame()
while frame:
    if frame.type() == gdb.SIGTRAMP_FRAME:
        pages(int(frame.pc()), 1)
    pages((int(frame.read_register("sp")) & mask) - 4096, 8)
    try:
        frame = frame.older()
    except gdb.error:
        break
# The oracle may stop at a signal frame: what the link register and the stack
# name may be the trampoline.
word = 4 if arch.startswith("arm") else 8
order = "big" if arch.startswith("s390") else "little"
for at in range(sp & ~7, (sp & ~7) + 8192, word):
    try:
        value = int.from_bytes(bytes(inferior.read_memory(at, word)), order)
    except gdb.error:
        break
    if arch.startswith("s390") or value > 1 << 24:
        pages(value, 1) if value & 4095 != 0 and value > 4096 else None
out.close()
end
