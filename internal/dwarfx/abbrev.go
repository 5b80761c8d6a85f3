package dwarfx

import (
	"debug/dwarf"
	"hash/maphash"
	"sync"
)

// An abbreviation is compiled into a program of ops that reads a DIE's attributes:
// consecutive attributes of fixed size that are not wanted become one opSkip; wanted
// ones are opValue, and their values are put into slots. A table holds indexes into
// the abbrevSet of its kind of unit, so that equal abbreviations are compiled once.

// opKind is the kind of an op.
type opKind uint8

const (
	opSkip     opKind = iota // skip n bytes
	opSkipForm               // skip a value of form n, of variable size
	opValue                  // read a value of form n, into slot
	opValue4                 // the same of 4 bytes: most references and offsets
	opValue8                 // the same of 8 bytes: most addresses
	opConst                  // DW_FORM_implicit_const number n of the abbreviation, into slot
	opSibling                // a reference of form n to the next sibling
	opSibling4               // DW_FORM_ref4 to the next sibling
)

type op struct {
	kind opKind
	slot slot
	n    uint16
}

// slot is the index of a wanted attribute's value.
type slot uint8

const (
	slotName slot = iota
	slotLinkage
	slotLowPC
	slotHighPC
	slotRanges
	slotSpecification
	slotOrigin
	slotDeclaration
	slotCallFile
	slotCallLine
	slotCallColumn
	slotDiscriminator
	// The scan fills scanSlots slots; readAttrs fills the others, too.
	scanSlots
)

const (
	slotLanguage slot = iota + scanSlots
	slotLanguageName
	slotCompDir
	slotStmtList
	slotStrOffsetsBase
	slotAddrBase
	slotRngListsBase
	slotSplit
	slotGNUDwoID
	slotGNURangesBase
	slotSignature
	slotDeclFile
	slotDeclLine
	slotType
	slotLocation
	slotFrameBase
	slotLocListsBase
	slotByteSize
	slotCount
	slotLowerBound
	slotUpperBound
	slotTagOffset
	numSlots
)

// class decides how the scan treats a DIE.
type class uint8

const (
	classSkip   class = iota // neither it nor its children are of interest
	classScope               // its children may be of interest
	classFunc                // a function
	classInline              // an inlined call
)

// abbrev is a compiled abbreviation.
type abbrev struct {
	specs      uint32 // .debug_abbrev offset of its attribute specifications
	ops, nops  uint32 // its program: ops[ops:][:nops]
	consts     uint32 // its first constant
	tag        uint16
	class      class
	children   bool
	hasSibling bool
	crossing   bool // an attribute can refer to another unit
	typed      bool // it has DW_AT_type
}

// abbrevTable is one compiled abbreviation table.
type abbrevTable struct {
	codes    []uint32          // index of abbrevs, of code 1, 2, 3, …
	sparse   map[uint64]uint32 // the same, where codes are not 1, 2, 3, …
	crossing bool              // one of its abbreviations is
	typed    bool              // one of its abbreviations is
	err      error             // the limit that the table exceeds; then it has nothing
	compiled                   // of its set, as of when the table was read
}

// tableKey identifies the compiled form of a table.
type tableKey struct {
	off uint64
	setKey
}

// setKey has everything that the compiled form of an abbreviation depends on.
type setKey struct {
	version  uint16
	addrSize uint8
	dwarf64  bool
	family   family
}

// family is where functions can be declared, by the language of a unit.
type family uint8

const (
	familyAny family = iota // in any type
	familyCxx               // in classes, not in enumerations
	familyC                 // in no type
)

func familyOf(l Language) family {
	switch {
	case l.isC():
		return familyC
	case l.isCxx():
		return familyCxx
	}
	return familyAny
}

// lookup returns the abbreviation of a code, or nil.
func (t *abbrevTable) lookup(code uint64) *abbrev {
	if t.sparse != nil {
		i, ok := t.sparse[code]
		if !ok {
			return nil
		}
		return &t.abbrevs[i]
	}

	// Code 0 wraps to the largest number.
	if i := code - 1; i < uint64(len(t.codes)) {
		return &t.abbrevs[t.codes[i]]
	}
	return nil
}

// TooManyAbbrevs reports whether a unit was lost because abbreviations take too much: which one
// depends on the order in which goroutines scan units.
func (d *Data) TooManyAbbrevs() bool { return d.abbrevsOver.Load() }

// rootKey is an abbreviation code in a table, by the table's offset.
type rootKey struct{ table, code uint64 }

// classOf returns the class of DIEs with a tag.
func classOf(tag dwarf.Tag, f family) class {
	switch tag {
	case dwarf.TagSubprogram, dwarf.TagEntryPoint:
		return classFunc
	case dwarf.TagInlinedSubroutine:
		return classInline
	case dwarf.TagCompileUnit, dwarf.TagPartialUnit, dwarf.TagSkeletonUnit, dwarf.TagNamespace, dwarf.TagModule,
		dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock, dwarf.TagWithStmt:
		return classScope
	case dwarf.TagClassType, dwarf.TagStructType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		if f != familyC {
			return classScope
		}
	case dwarf.TagEnumerationType, dwarf.TagVariantPart, dwarf.TagVariant:
		if f == familyAny {
			return classScope
		}
	}
	return classSkip
}

// compiled holds abbreviations and the slices that their numbers index.
type compiled struct {
	abbrevs  []abbrev
	ops      []op
	consts   []int64
	skips    [][numModes]skipOp // of abbrevs
	programs []skipInstr        // skip programs, one after the other
	calls    []callForm
}

// abbrevSet holds the abbreviations of units of one kind.
type abbrevSet struct {
	mu sync.Mutex
	compiled
	family family
	seed   maphash.Seed
	// known is a hash table with linear probing, at least half of it free.
	known []knownAbbrev
}

// knownAbbrev is a slot of abbrevSet.known.
type knownAbbrev struct {
	hash  uint32
	text  uint32 // .debug_abbrev offset of its bytes
	index uint32 // of abbrevs, + 1
}

// maxSet is the number of abbreviations after which the next table begins a new set.
const maxSet = 1 << 16

// skipOp is the operation that skips a DIE.
type skipOp struct {
	step  step
	opens int8   // 1 for a DIE with children, -1 for the null entry after the children
	size  uint16 // of the attributes in bytes
	n     uint32 // operand of step
}

// step is the kind of a skipOp.
type step uint8

const (
	stepPass        step = iota // the DIE ends after size bytes
	stepJump                    // seek the sibling, after the children; DW_AT_sibling is at offset n
	stepProgram                 // the DIE ends where skip program n ends
	stepProgramJump             // run skip program n, then seek the sibling; DW_AT_sibling comes last
	stepBelow                   // skip size bytes and, one by one, all DIEs below
	stepCall                    // read the DIE by callForm n
	stepVisit                   // the DIE cannot be skipped
)

// mode selects the DIEs that the scan looks for.
type mode uint8

const (
	modeOutside mode = iota // functions, but no inlined calls
	modeInside              // functions and inlined calls
	modeSkip                // nothing
	numModes
)

// callForm is where the wanted attributes of an inlined call are, in an abbreviation
// whose attributes are all of fixed size.
type callForm struct {
	origin     field // DW_FORM_ref4
	ranges     field // if its form is 0, low and high hold
	low, high  field // an address and a length
	file, line field
	column     field
	discr      field
	size       uint16 // of all attributes
	children   bool
}

// field is a number of up to 8 bytes among the attributes of a DIE.
type field struct {
	mask uint64 // of its bytes among the 8 bytes
	add  uint32 // DW_FORM_implicit_const
	at   uint16 // offset of the 8 bytes
	form uint16 // 0 without such an attribute: the number is then 0
}

// skipInstr is an instruction of a skip program.
type skipInstr struct {
	kind instrKind
	n    uint16
}

type instrKind uint8

// Bytes of memory that the parts of a compiled abbreviation take, with the slots of hash tables.
const (
	tableMemory  = 320
	abbrevMemory = 160
	specMemory   = 32
	codeMemory   = 8
	sparseMemory = 40
)
