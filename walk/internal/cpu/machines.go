package cpu

import (
	"maps"
	"slices"
	"sync"
)

// makers have the machines by the name in MODULE records.
var makers = map[string]func(variant) *CPU{
	"x86": newI386, "x86_64": newAMD64,
	"arm": newARM, "arm64": newARM64,
	"mips": newMIPS, "mips64": newMIPS,
	"ppc": newPPC, "ppc64": newPPC,
	"riscv": newRISCV, "riscv64": newRISCV,
	"s390x": newS390X,
	"sparc": newSPARC,
}

// made has the machines that have been asked for.
var (
	madeLock sync.Mutex
	made     = map[variant]*CPU{}
)

// For returns the machine with a name, or nil if the machine is not known. Its instructions
// are big-endian only on MIPS and PowerPC in a big-endian process, and where they always are.
func For(name string, big bool, sys System) *CPU {
	madeLock.Lock()
	defer madeLock.Unlock()
	v := variant{name, big, sys}
	c := made[v]
	if c == nil && makers[name] != nil {
		c = makers[name](v)
		made[v] = c
	}
	return c
}

// Names returns the names of all machines.
func Names() []string { return slices.Sorted(maps.Keys(makers)) }
