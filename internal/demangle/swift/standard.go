package swift

import "symkit/internal/demangle/lex"

// standardType is a type of the standard library that has an abbreviation.
type standardType struct {
	kind kind
	name string
}

// standardTypes are the types after S.
var standardTypes = [128]standardType{
	'A': {swStruct, "AutoreleasingUnsafeMutablePointer"}, 'a': {swStruct, "Array"}, 'b': {swStruct, "Bool"},
	'D': {swStruct, "Dictionary"}, 'd': {swStruct, "Double"}, 'f': {swStruct, "Float"}, 'h': {swStruct, "Set"},
	'I': {swStruct, "DefaultIndices"}, 'i': {swStruct, "Int"}, 'J': {swStruct, "Character"},
	'N': {swStruct, "ClosedRange"}, 'n': {swStruct, "Range"}, 'O': {swStruct, "ObjectIdentifier"},
	'P': {swStruct, "UnsafePointer"}, 'p': {swStruct, "UnsafeMutablePointer"}, 'R': {swStruct, "UnsafeBufferPointer"},
	'r': {swStruct, "UnsafeMutableBufferPointer"}, 'S': {swStruct, "String"}, 's': {swStruct, "Substring"},
	'u': {swStruct, "UInt"}, 'V': {swStruct, "UnsafeRawPointer"}, 'v': {swStruct, "UnsafeMutableRawPointer"},
	'W': {swStruct, "UnsafeRawBufferPointer"}, 'w': {swStruct, "UnsafeMutableRawBufferPointer"},

	'q': {swEnum, "Optional"},

	'B': {swProtocol, "BinaryFloatingPoint"}, 'E': {swProtocol, "Encodable"}, 'e': {swProtocol, "Decodable"},
	'F': {swProtocol, "FloatingPoint"}, 'G': {swProtocol, "RandomNumberGenerator"}, 'H': {swProtocol, "Hashable"},
	'j': {swProtocol, "Numeric"}, 'K': {swProtocol, "BidirectionalCollection"}, 'k': {swProtocol, "RandomAccessCollection"},
	'L': {swProtocol, "Comparable"}, 'l': {swProtocol, "Collection"}, 'M': {swProtocol, "MutableCollection"},
	'm': {swProtocol, "RangeReplaceableCollection"}, 'Q': {swProtocol, "Equatable"}, 'T': {swProtocol, "Sequence"},
	't': {swProtocol, "IteratorProtocol"}, 'U': {swProtocol, "UnsignedInteger"}, 'X': {swProtocol, "RangeExpression"},
	'x': {swProtocol, "Strideable"}, 'Y': {swProtocol, "RawRepresentable"}, 'y': {swProtocol, "StringProtocol"},
	'Z': {swProtocol, "SignedInteger"}, 'z': {swProtocol, "BinaryInteger"},
}

// concurrencyTypes are the types after Sc.
var concurrencyTypes = [128]standardType{
	'A': {swProtocol, "Actor"}, 'C': {swStruct, "CheckedContinuation"}, 'c': {swStruct, "UnsafeContinuation"},
	'E': {swStruct, "CancellationError"}, 'e': {swStruct, "UnownedSerialExecutor"}, 'F': {swProtocol, "Executor"},
	'f': {swProtocol, "SerialExecutor"}, 'G': {swStruct, "TaskGroup"}, 'g': {swStruct, "ThrowingTaskGroup"},
	'h': {swProtocol, "TaskExecutor"}, 'I': {swProtocol, "AsyncIteratorProtocol"}, 'i': {swProtocol, "AsyncSequence"},
	'J': {swStruct, "UnownedJob"}, 'M': {swClass, "MainActor"}, 'P': {swStruct, "TaskPriority"},
	'S': {swStruct, "AsyncStream"}, 's': {swStruct, "AsyncThrowingStream"}, 'T': {swStruct, "Task"},
	't': {swStruct, "UnsafeCurrentTask"},
}

// standard reads what follows S: a module, Optional of the type before, or a type, with a
// count of how often it is pushed.
func (r *Reader) standard() ref {
	switch {
	case r.take('o'):
		return r.node(swModule, "__C", 0)
	case r.take('C'):
		return r.node(swModule, "__C_Synthesized", 0)
	case r.take('g'):
		list := r.with(swTypeList, r.popKind(swType))
		return r.substitutable(r.typ(r.with(swBoundEnum, r.standardType(swEnum, "Optional"), list)))
	}

	count := 0
	if lex.IsDigit(r.peek()) {
		count = r.natural()
		if count < 0 {
			return 0
		}
	}
	types := &standardTypes
	if r.take('c') {
		types = &concurrencyTypes
	}
	c := r.next()
	if c >= 128 || types[c].kind == swNone {
		return 0
	}
	return r.repeated(r.standardType(types[c].kind, types[c].name), count)
}

// standardType returns a type of the standard library.
func (r *Reader) standardType(k kind, name string) ref {
	return r.typ(r.with(k, r.node(swModule, "Swift", 0), r.node(swIdentifier, name, 0)))
}

// builtins are the built-in types without parts.
var builtins = [128]string{
	'A': "Builtin.ImplicitActor", 'b': "Builtin.BridgeObject", 'B': "Builtin.UnsafeValueBuffer", 'e': "Builtin.Executor",
	'I': "Builtin.IntLiteral", 'O': "Builtin.UnknownObject", 'o': "Builtin.NativeObject", 'p': "Builtin.RawPointer",
	'j': "Builtin.Job", 'D': "Builtin.DefaultActorStorage", 'd': "Builtin.NonDefaultDistributedActorStorage",
	'c': "Builtin.RawUnsafeContinuation", 't': "Builtin.SILToken", 'w': "Builtin.Word", 'P': "Builtin.PackIndex",
}

// builtin reads a built-in type.
func (r *Reader) builtin() ref {
	switch c := r.next(); c {
	case 'f':
		return r.sized("Builtin.FPIEEE", "")
	case 'i':
		return r.sized("Builtin.Int", "")
	case 'v':
		const prefix = "Builtin."
		element := r.popInType()
		text := r.nodes[element].text
		if r.kind(element) != swBuiltin {
			return 0
		}
		return r.sized(prefix+"Vec", "x"+text[len(prefix):])
	case 'V':
		element := r.popKind(swType)
		return r.typ(r.texted(swSugar, "Builtin.FixedArray<%0, %1>", r.popKind(swType), element))
	case 'T':
		return r.typ(r.node(swBuiltinTuple, "Builtin.TheTupleType", 0))
	default:
		if c >= 128 || builtins[c] == "" {
			return 0
		}
		return r.typ(r.node(swBuiltin, builtins[c], 0))
	}
}

// sized reads a size, and returns the built-in type that has it in its name.
func (r *Reader) sized(before, after string) ref {
	const most = 4096
	from := r.pos
	n := r.number() - 1
	if n <= 0 || n > most || len(after) > most {
		return 0
	}
	return r.typ(r.node(swBuiltin, before+r.in[from:r.pos-1]+after, 0))
}
