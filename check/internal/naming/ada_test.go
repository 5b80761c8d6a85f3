package naming

import (
	"testing"
)

// TestAdaName checks names as binutils' c++filt --format=gnat decodes them.
func TestAdaName(t *testing.T) {
	for encoded, want := range map[string]string{
		"_ada_main":                        "main",
		"hello__v__first__3":               "hello.v.first",
		"hello__v__Oconcat__4":             `hello.v."&"`,
		"pkg__One":                         `pkg."/="`,
		"ada_main___elabb":                 "ada_main'Elab_Body",
		"system__soft_links___elabs":       "system.soft_links'Elab_Spec",
		"p__t___size":                      "p.t'Size",
		"p__workerTKB":                     "p.worker",
		"p__workerTK__inner":               "p.worker.inner",
		"p__lock__heldP":                   "p.lock.held",
		"p__seize_E12s":                    "p.seize",
		"p__tSR":                           "p.t'Read",
		"p__tDF__2":                        "p.t.Finalize",
		"p__bodyXnb":                       "p.body",
		"p__f__2X":                         "p.f",
		"p__nested.5":                      "p.nested",
		"p__f__2_3":                        "p.f",
		"ada_main__finalize_library":       "ada_main.finalize_library",
		"ada__strings__unbounded__Oadd__2": `ada.strings.unbounded."+"`,
	} {
		if got, ok := adaName(encoded); !ok || got != want {
			t.Errorf("%s: %s, %v; want %s", encoded, got, ok, want)
		}
	}
	for _, name := range []string{"", "_ada_", "Main", "p__", "p__Onothing", "p___what", "__gnat_malloc", "a__TKB", "inst__rIP", "p__tSR__x", "_ZN1a1bEv"} {
		if got, ok := adaName(name); ok {
			t.Errorf("%s: %s", name, got)
		}
	}
}
