package swift

import "symkit/internal/demangle/lex"

// kind is the kind of a node of a Swift name.
type kind uint8

const (
	swNone kind = iota

	// Contexts: what other entities can be declared in.
	swModule
	swClass
	swStruct
	swEnum
	swProtocol
	swAlias
	swOtherNominal
	swBuiltinTuple
	swExtension
	swAnonymous
	swOpaqueResultOf
	swFunction
	swVariable
	swSubscript
	swAccessor
	swAllocator
	swConstructor
	swDeinit // text: the name; children: context
	swInitial
	swDefaultArgument
	swClosure
	swStatic
	swDerivative

	// Names of declarations.
	swIdentifier
	swOperator
	swLocalName
	swPrivateName
	swRelatedName

	// Attributes of the whole symbol.
	swAttribute
	swSpecialization
	swPartialApply
	swSuffix

	// Markers that lists and function types are read from.
	swEmptyList
	swFirst
	swVariadic
	swThrows
	swSendable
	swAsync
	swIsolation
	swSendingResult
	swDifferentiable

	// Types. swType is around each of them.
	swType
	swBoundClass
	swBoundStruct
	swBoundEnum
	swBoundProtocol
	swBoundNominal
	swBoundAlias
	swBoundFunction
	swFunctionType // text: the convention in front of it
	swArguments
	swResult
	swTuple
	swTupleElement
	swTupleLabel
	swLabels
	swPack
	swTypeList
	swCommaList
	swPath
	swInOut
	swMetatype
	swExistentialMetatype
	swProtocols
	swProtocolsClass
	swProtocolsObject
	swConstrained
	swRequirements
	swBuiltin
	swSimple    // text: a type without parts
	swParameter // index: depth << parameterShift | index
	swMember
	swAssociated
	swAssociatedRef
	swGenericType
	swSignature
	swParameterCount
	swOpaque
	swBoxLayout
	swSugar
	swInteger

	// Parts of functions in the compiler's intermediate language.
	swImplFunction
	swImplParameter
	swImplResult
	swImplSubstitutions
	swImplInvocation
	swImplSending

	// Requirements of signatures, conformances.
	swPackMarker
	swValueMarker
	swRequirement
	swConformance
	swConcrete
	swDependentConformance
	swPackConformance
	swOpaqueConformance
	swConformanceInType
	swConformanceInProtocol
	swConformances
	swRetroactive

	swLabelled // a function's type with the labels of its parameters
	swMacro
	swExpansion
	swExpansionPlace
	swGenericParameterDecl
	swTemplate // text with %0, %1: the children
	swText     // text: all of it
	swKinds
)

const (
	swIsContext = 1 << iota
	swIsNominal
	swIsName
	swIsAttribute
	swIsRequirement
	swIsPlain // a type that needs no parentheses in front of a suffix
)

// traits are the sets that each kind is in.
var traits = [swKinds]uint8{
	swModule: swIsContext | swIsPlain, swExtension: swIsContext, swAnonymous: swIsContext, swOpaqueResultOf: swIsContext,
	swClass: swIsContext | swIsNominal | swIsPlain, swStruct: swIsContext | swIsNominal | swIsPlain,
	swEnum: swIsContext | swIsNominal | swIsPlain, swProtocol: swIsContext | swIsNominal | swIsPlain,
	swAlias: swIsContext | swIsNominal | swIsPlain, swOtherNominal: swIsContext | swIsNominal | swIsPlain,
	swBuiltinTuple: swIsContext | swIsNominal | swIsPlain,
	swFunction:     swIsContext, swVariable: swIsContext, swSubscript: swIsContext, swAccessor: swIsContext,
	swAllocator: swIsContext, swConstructor: swIsContext, swDeinit: swIsContext, swInitial: swIsContext,
	swDefaultArgument: swIsContext, swClosure: swIsContext, swStatic: swIsContext, swDerivative: swIsContext,

	swIdentifier: swIsName, swOperator: swIsName, swLocalName: swIsName, swPrivateName: swIsName, swRelatedName: swIsName,

	swAttribute: swIsAttribute, swSpecialization: swIsAttribute, swPartialApply: swIsAttribute,

	swBoundClass: swIsPlain, swBoundStruct: swIsPlain, swBoundEnum: swIsPlain, swBoundProtocol: swIsPlain,
	swBoundNominal: swIsPlain, swBoundAlias: swIsPlain, swBoundFunction: swIsPlain, swBuiltin: swIsPlain,
	swGenericType: swIsPlain, swMember: swIsPlain, swParameter: swIsPlain, swSimple: swIsPlain,
	swExistentialMetatype: swIsPlain, swMetatype: swIsPlain, swTuple: swIsPlain, swPack: swIsPlain,
	swRequirements: swIsPlain, swResult: swIsPlain, swTupleLabel: swIsPlain, swTypeList: swIsPlain, swLabels: swIsPlain,
	swAssociatedRef: swIsPlain, swBoxLayout: swIsPlain, swSugar: swIsPlain, swInteger: swIsPlain,

	swPackMarker: swIsRequirement, swValueMarker: swIsRequirement, swRequirement: swIsRequirement,
}

// in reports whether a kind is in a set.
func (k kind) in(set uint8) bool { return traits[k]&set != 0 }

// ref is the number of a node, 0 for no node.
type ref int32

// node is a node of a name: a directed graph without cycles, since substitutions share nodes.
type node struct {
	kind             kind
	text             string
	index            int
	first, n, spaces int32 // children: kids[first:first+n], with place for spaces
}

// Bounds of one name. The largest of 213,000 names that compilers wrote has 283 nodes, 448 children
// and 138 nodes to write, and none has more than 5 nodes to write or 15 bytes of text for a byte of
// the name; repeated substitutions could ask for far more.
const (
	maxNodes = 1 << 14
	maxKids  = 1 << 16
	maxStack = 1 << 13
	maxDepth = 768 // of a written node, as in Swift's own program
)

// most returns the most nodes and bytes that are written for a name.
func most(name int) (steps, bytes int) {
	return 1<<12 + 64*name, min(1<<12+64*name, lex.MaxLength)
}

// arena has the nodes of one name, and their children.
type arena struct {
	nodes []node
	kids  []ref
}

// reset forgets all nodes. Node 0 is no node: it has no kind, no text, no children.
func (a *arena) reset() {
	a.nodes = append(a.nodes[:0], node{})
	a.kids = a.kids[:0]
}

// full reports whether a name has more nodes than any real one.
func (a *arena) full() bool { return len(a.nodes) > maxNodes || len(a.kids) > maxKids }

func (a *arena) kind(n ref) kind { return a.nodes[n].kind }

// children returns the children of a node; they are valid until the next one is added.
func (a *arena) children(n ref) []ref {
	node := &a.nodes[n]
	return a.kids[node.first : node.first+node.n]
}

// child returns a child of a node, 0 if the node has none with this number.
func (a *arena) child(n ref, i int) ref {
	if kids := a.children(n); i >= 0 && i < len(kids) {
		return kids[i]
	}
	return 0
}

// childOf returns the first child of a kind.
func (a *arena) childOf(n ref, k kind) ref {
	for _, c := range a.children(n) {
		if a.kind(c) == k {
			return c
		}
	}
	return 0
}

// node makes a node without children.
func (a *arena) node(k kind, text string, index int) ref {
	if a.full() {
		return 0
	}
	a.nodes = append(a.nodes, node{kind: k, text: text, index: index})
	return ref(len(a.nodes) - 1)
}

// with makes a node with children. Without one of them there is no node.
func (a *arena) with(k kind, children ...ref) ref {
	return a.texted(k, "", children...)
}

// texted is with for a node that has a text.
func (a *arena) texted(k kind, text string, children ...ref) ref {
	n := a.node(k, text, 0)
	for _, c := range children {
		n = a.add(n, c)
	}
	return n
}

// add appends a child, and returns the parent; without one of them it returns 0.
func (a *arena) add(parent, child ref) ref {
	if parent == 0 || child == 0 || a.full() {
		return 0
	}

	// A node's children are in one row. Where the row cannot grow, it moves to the end.
	p := &a.nodes[parent]
	if p.n == p.spaces {
		spaces := max(2, 2*p.spaces)
		from := p.first
		p.first = int32(len(a.kids))
		a.kids = append(a.kids, a.kids[from:from+p.n]...)
		for range spaces - p.n {
			a.kids = append(a.kids, 0)
		}
		p.spaces = spaces
	}
	a.kids[p.first+p.n] = child
	p.n++
	return parent
}

// typ wraps a node as a type.
func (a *arena) typ(n ref) ref { return a.with(swType, n) }

// inType returns what a type is, for other nodes the node itself.
func (a *arena) inType(n ref) ref {
	if a.kind(n) == swType {
		return a.child(n, 0)
	}
	return n
}

// functionTypes are the types of functions after X.
var functionTypes = [128]string{
	'E': " ", 'U': " ", 'A': "@autoclosure ", 'K': "@autoclosure ", 'f': "@convention(thin) ",
	'L': "@escaping @convention(block) ", 'B': "@convention(block) ", 'C': "@convention(c) ",
}
