package main

import "testing"

// TestJudgeError: an error names the file and a place in it, or is about the whole file.
func TestJudgeError(t *testing.T) {
	for _, test := range []struct {
		stderr string
		class  string // "" where it says too little
	}{
		{"symcheck: error: /t/mutant: ELF header+0x10: a core file has no symbols: give one of the programs that it names", "ELF header+0x10: a core file has no symbols: give one of the programs that it names"},
		{"dump_syms: error: /t/mutant: .gnu_debugdata+0x0: symbols of another program: build id differs: 0a, not 0b; no symbols are left",
			".gnu_debugdata+0x0: symbols of another program: build id differs: N, not N; no symbols are left"},
		{"dump_syms: error: /t/mutant: .sframe+0x0: this machine has none; no symbols are left", ".sframe+0x0: this machine has none; no symbols are left"},
		{"dump_syms: error: /t/mutant!/.gnu_debugdata: ELF header+0x4: unknown ELF class", "ELF header+0x4: unknown ELF class"},
		{"symcheck: error: /t/mutant.sym: line 7: too many records", "line N: too many records"},
		{"stackwalk: warning: /t/mutant: lost\nstackwalk: error: /t/mutant: SystemInfoStream: minidump+0x24: truncated", "SystemInfoStream: minidump+0x24: truncated"},
		{"dump_syms: error: /t/mutant: no symbols to dump: ELF type ET_CORE+5", "no symbols to dump: ELF type ET_CORE+N"},
		{"dump_syms: error: /t/mutant-1/a.elf: does not belong to /t/mutant-1/a.debug: build id differs: 0a and 0b",
			"does not belong to /t/mutant-N/a.debug: build id differs: N and N"},
		{"dump_syms: error: ELF header+0x4: unknown ELF class", ""},
		{"dump_syms: error: /t/mutant: truncated", ""},
		{"dump_syms: error: /t/mutant: build id differs: 0a, not 0b", ""},
		{"dump_syms: error: /t/mutant: .sframe: this machine has none", ""},
	} {
		failure, class := (&options{}).judgeError(test.stderr)
		if class != test.class || (failure == "") != (test.class != "") {
			t.Errorf("%s: class %q, failure %q", test.stderr, class, failure)
		}
	}
}
