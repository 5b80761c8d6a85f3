package testfile

// Kinds are the first bytes of files that people give to the wrong program. The keys are
// the programs' names for such files.
var Kinds = map[string]string{
	"a Windows PDB, which Mozilla's dump_syms reads":           "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00\x00\x10\x00\x00",
	"a Windows program, which Mozilla's dump_syms reads":       "MZ\x90\x00\x03\x00\x00\x00",
	"a Mach-O file, which Mozilla's dump_syms reads":           "\xcf\xfa\xed\xfe\x07\x00\x00\x01",
	"a Mach-O universal file, which Mozilla's dump_syms reads": "\xca\xfe\xba\xbe\x00\x00\x00\x02",
	"a dump of a Linux kernel, which crash reads":              "KDUMP   \x06\x00\x00\x00Linux\x00",
	"a Java class":                       "\xca\xfe\xba\xbe\x00\x00\x00\x3d",
	"a microdump, which stackwalk reads": "W/google-breakpad(11522): -----BEGIN BREAKPAD MICRODUMP-----\nW/google-breakpad(11522): V Android:28\n",
	"gzip data, which gunzip unpacks":    "\x1f\x8b\x08\x00\x00\x00\x00\x00",
}
