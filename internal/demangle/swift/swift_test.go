package swift

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"symkit/internal/demangle/lex"
)

type example struct{ in, want string }

// names are names of Swift 6.2's libraries, and of a program that uses what the language has, with the
// texts of "swift demangle --simplified".
func names(t testing.TB) (list []example) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "swift.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		in, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("a line without a text: %q", line)
		}
		list = append(list, example{in, want})
	}
	if len(list) < 400 {
		t.Fatalf("only %d names", len(list))
	}
	return list
}

// name returns the text of a name that is read alone.
func name(in string, known bool) (string, bool) {
	text, ok := new(Reader).Name([]byte(in), known)
	return string(text), ok
}

func TestNames(t *testing.T) {
	for _, test := range append(names(t), forms...) {
		if got, ok := name(test.in, false); !ok || got != test.want {
			t.Errorf("%s:\n got  %q, %v\n want %q", test.in, got, ok, test.want)
		}
	}
}

// forms are forms that the names of testdata have seldom or never. The texts are Swift's own as
// well.
var forms = []example{
	{"$sSi3swoE5cubedSiyF", "Int.cubed()"},
	{"_$sSi3swoE5cubedSiyF", "Int.cubed()"},
	{"$SSi3swoE5cubedSiyF", "Int.cubed()"},
	{"$e4main3fooyyF", "foo()"},
	{"$sTA.123", "partial apply"},
	{"$s4main3fooyyFTY0_", "foo()"},
	{"$s4main3fooyyFTQ1_", "foo()"},
	{"$s4main3fooyyF.cold", "foo()"},
	{"$s4main3fooyyFTm.12", "foo()"},
	{"$s4main3BoxVAARi_zrlE1xyyF", "Box<>.x()"},
	{"$s4main5outer1xS2i_tF5innerL0_yS2iF", "inner #2 (_:) in outer(x:)"},
	{"$sSa1aSLRzlE4hochxSgyF", "Array<A>.hoch()"},
	{"$sSa1aSiRszlE5summeSiyF", "Array<A>.summe()"},
	{"$s3Lib1EO2eeoiySbAC_ACtFZ", "static E.== infix(_:_:)"},
	{"$sSi1aE3xxxoPyS2iFZ", "static Int.^^^ postfix(_:)"},
	{"$s4main1topyS2iF", "~ prefix(_:)"},
	{"$sSa1aSLRzlE4hochxSgyF5innerL_yqd__qd___qd__tSLRzSLRd__r__lF", "inner #1 <A><A1>(_:_:) in Array<A>.hoch()"},
	{"$s1a4BaseC6geheim33_7B4656BF1539DEFFF13058C7EABF42C9LLSiyFSS_Tg5", "specialized Base.geheim()"},
	{"$s1a6SquareV4sideSdvw", "Square.side.willset"},
	{"$s1a3BoxVAARi_zrlE1vxvr", "Box<>.v.read"},
	{"$s1a6SquareVySSSiciM", "Square.subscript.modify"},
	{"$s1a4BaseC5klassSiyFZTq", "method descriptor for static Base.klass()"},
	{"$s1a2GACACycfC", "GA.__allocating_init()"},
	{"$s1a2GACfD", "GA.__deallocating_deinit"},
	{"$s1a3ActCfZ", "Act.__isolated_deallocating_deinit"},
	{"$s1a1WV4sizeACSi_tcfcfA_", "default argument 0 of W.init(size:)"},
	{"$s1a2UIC1sSSvpfi", "variable initialization expression of UI.s"},
	{"$s3Lib6SquareV3modSdvpACTK", "key path getter for Square.mod : Square"},
	{"$sSiTh", "key path index hash operator for (Int)"},
	{"$s1a1WV4sizeSivpfP", "property wrapper backing initializer of W.size"},
	{"$s1a5packs_1uxSgxQp_txxQp_q__Sitq_QptRvzRv_SQR_r0_lF", "packs<each A, B>(_:u:)"},
	{"$s1a3BoxVyAA2NCVGD", "Box<NC>"},
	{"$s1a2UIC2upyyYaFTu", "async function pointer to UI.up()"},
	{"$sIetH_yts5Error_pIegHrzo_TRTA", "partial apply for thunk for @escaping @convention(thin) @async () -> ()"},
	{"$s3Lib4WeakC3setyyFyycfU_TA.48", "partial apply for closure #1 in Weak.set()"},
	{"$s1a2S1V1AVAA2P2A2aFP1m1BQzyFTW", "protocol witness for P2.m() in conformance S1.A"},
	{"$s3Lib2P2P1m1BQzyFTj", "dispatch thunk of P2.m()"},
	{"$sxSglWOh", "outlined destroy of A?"},
	{"$s1a2GAC6shared_Wz", "one-time initialization token for shared"},
	{"$s3Lib009Gre_GkaIiVXMtD", "@thin Größe.Type"},
	{"$s1a009Gre_GkaIiV004BchaoiySbAC_ACtFZ", "static Größe.≠≠ infix(_:_:)"},
	{"$s1a009Gre_GkaIiV0024weirdname_kjaHHJHBdkvalaSiyF", "Größe.`weird name!`()"},
	{"$s1a5localyS2iF1LL_V1zSiyF", "z() in L #1 in local(_:)"},
	{"$s1a5localyS2iF2L2L_Cfd", "deinit in L2 #1 in local(_:)"},
	{"$s1a4MainV4mainyyYaKFZSbyXEfu1_", "implicit closure #3 in static Main.main()"},
	{"$s3Lib7opaque2Qr_QR_tyF", "opaque2()"},
	{"$sSl_pSi7ElementSlRts_XPD", "any Collection<Self.Collection.Element == Int>"},
	{"$s1a4MainV4mainyyYaKFZs5Int32VAFcfU4_To", "@objc closure #6 in static Main.main()"},
	{"$s1a2P1P1AAC_AA2P2Tn", "associated conformance descriptor for P1.P1.A: P2"},
	{"$s3Lib6isoAnyyyyyYaYbYAXEYaF", "isoAny(_:)"},
	{"$s1a3isoySiAA3ActCYiF", "iso(_:)"},
	{"$s1a5typedyS2iAA5MyErrOYKF", "typed(_:)"},
	{"$s1a7DerivedC1f_1y1zS2Sz_SSnSShtKFAA4BaseCAD_AeFxxz_xnxhtKFTV", "vtable thunk for Base.f(_:y:z:) dispatching to Derived.f(_:y:z:)"},
}

// left are names that cannot be read: they are damaged, or of other languages, or their texts would have
// names that are mangled.
var left = []string{
	"$s", "$ss", "_$s", "$s4main", "$s4main3foo", "$s4main3fooyyF3", "$s4main3fooyyFQQ", "$s4main9fooyyF", "$s4main3fooF",
	"$sSi3swoE5cubedSiy", "$sSi3swoE5cubedSiyFxx", "$sSi3swo5cubedSiyF", "$s1aAZ", "$s1a9999999999999999999b", "$s4main3fooyyFTg",
	"$s4main3fooyyFSi", "$syyF", "$sx", "$s4main3fooyySiF_", "$s4mainoi", "$s3FOO1xoi", "$s4main3fooyyFTQ", "$s4main3fooyyFTv",
	"$sSiXg", "$s0A", "$s00", "$s000", "$s004999a", "$s4main1a1bSi_SStF", "$s\x01\x00\x00\x00\x00", "$s4main3foo\xffyyF",
	"$s4main16$s4test3fooyyFfMu_V1xyyF", "$s_5", "$sum", "$e", "$start", "$self",
}

func TestLeft(t *testing.T) {
	for _, in := range left {
		if got, ok := name(in, true); ok {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestBounds: substitutions that repeat types with types of types in them end at a bound, soon.
func TestBounds(t *testing.T) {
	names := map[string]string{
		"repeated":          "$s4main3fooyy" + "1aV" + strings.Repeat("A2048a", 4000),
		"nested":            "$s4main" + strings.Repeat("1aV", 20000) + "N",
		"optional":          "$sSi" + strings.Repeat("Sg", 30000) + "N",
		"words":             "$s26abcdefghijklmnopqrstuvwxyz0" + strings.Repeat("a", 60000) + "A0",
		"parameter numbers": "$s1a1byyr" + strings.Repeat("999999999_", 1000) + "lF",
	}
	// Each level is a dictionary of two of the level before.
	var exponential strings.Builder
	exponential.WriteString("$s" + strings.Repeat("SDy", 26) + "SDySiSiG")
	for c := range 26 {
		exponential.WriteString("A" + string(rune('A'+c)) + "G")
	}
	names["exponential"] = exponential.String() + "N"

	for what, name := range names {
		var r Reader
		text, ok := r.Name([]byte(name), true)
		if ok {
			t.Errorf("%s: %d bytes", what, len(text))
		}
		if cap(r.nodes) > 1<<12 || cap(r.stack) > maxStack+1 {
			t.Errorf("%s: keeps %d nodes", what, cap(r.nodes))
		}
	}
}

// FuzzNames: a name of Swift is read completely or not at all, within bounds, and what is written does not
// have a name that is still mangled.
func FuzzNames(f *testing.F) {
	for _, test := range names(f) {
		f.Add([]byte(test.in))
	}
	for _, test := range forms {
		f.Add([]byte(test.in))
	}
	for _, name := range left {
		f.Add([]byte(name))
	}

	mangled := regexp.MustCompile(`\$[sSe][0-9S]`)
	f.Fuzz(func(t *testing.T, name []byte) {
		var r Reader
		out, ok := r.Name(name, true)
		text := string(out)
		if len(text) > lex.MaxLength || ok && text == "" {
			t.Fatalf("%q: %d bytes, %v", name, len(text), ok)
		}
		if len(r.nodes) > maxNodes+2 || len(r.kids) > 4*maxKids || len(r.stack) > maxStack+1 {
			t.Fatalf("%q: %d nodes, %d children, %d on the stack", name, len(r.nodes), len(r.kids), len(r.stack))
		}
		if m := mangled.FindString(text); ok && m != "" {
			t.Fatalf("%q: %q has %s", name, text, m)
		}
		if ok && utf8.Valid(name) && !utf8.ValidString(text) {
			t.Fatalf("%q: %q is not UTF-8", name, text)
		}
		if again, ok2 := r.Name(name, true); ok2 != ok || ok && string(again) != text {
			t.Fatalf("%q: once %q, once %q", name, text, again)
		}
	})
}
