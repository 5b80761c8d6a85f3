package storecheck

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"symkit/check/internal/checks"
	"symkit/check/report"
	"symkit/elfx/identity"
	"symkit/emit"
	"symkit/internal/filename"
	"symkit/internal/storefiles"
)

// module is what the first records of a symbol file say.
type module struct {
	emit.Module
	codeID, codeFile string // of INFO CODE_ID
	line             string // the MODULE record
}

// moduleOf reads the MODULE record of a symbol file and INFO CODE_ID after it. The result is empty without a MODULE record
// in the first line.
func moduleOf(sym []byte) (m module) {
	for rec, err := range emit.NewReader(sym).Records() {
		if err != nil {
			return m
		}
		switch r := rec.(type) {
		case *emit.Module:
			m.Module = *r
			m.line = strings.TrimSuffix(string(r.Append(nil)), "\n")
		case *emit.Info:
			if r.Key == emit.KeyCodeID {
				m.codeID, m.codeFile, _ = strings.Cut(r.Text, " ")
			}
		default:
			return m
		}
	}
	return m
}

// buildIDs returns the build ids that the module can have, in lower-case hexadecimal digits.
func (m *module) buildIDs(p place) (ids []string) {
	if m.codeID != "" {
		ids = append(ids, strings.ToLower(m.codeID))
	}
	if p.Name == "" && p.ID != "" && !slices.Contains(ids, p.ID) {
		ids = append(ids, p.ID)
	}
	return ids
}

// is reports whether an id of a path is that of the module: of the MODULE record, or of the file.
func (m *module) is(id string) bool {
	if strings.EqualFold(id, m.ID) || strings.EqualFold(id, m.codeID) {
		return true
	}
	build, err := hex.DecodeString(id)
	return err == nil && (identity.ModuleID(build, false) == m.ID || identity.ModuleID(build, true) == m.ID)
}

// misplaced returns why a symbol file is not where readers look for it, or "". all has the places of the store.
func (m *module) misplaced(p place, has func(key string) bool) string {
	switch {
	case p.ID == "" || m.ID == "":
		return ""
	case !m.is(p.ID):
		return fmt.Sprintf("the store has the file under the id %s", p.ID)
	case p.Name == "":
		return ""
	}
	own, code := filename.Escape(m.Name), filename.Escape(m.codeFile)
	if strings.EqualFold(p.Name, own) || m.codeFile != "" && strings.EqualFold(p.Name, code) {
		return ""
	}
	// A store may have a module under the names of its links, too.
	place := own + "/" + m.ID + "/" + strings.TrimSuffix(own, ".pdb") + ".sym"
	if has(place) || slices.ContainsFunc(storefiles.Packed, func(suffix string) bool { return has(place + suffix) }) {
		return ""
	}
	return fmt.Sprintf("the store has the file under the name %s alone", p.Name)
}

// addModule adds a finding of the check of the MODULE record to a report.
func addModule(rep *report.Report, record, what string) {
	k := rep.Check(checks.Module)
	if k == nil {
		at := slices.IndexFunc(rep.Checks, func(k report.Check) bool { return order(k.Name) > order(checks.Module) })
		if at < 0 {
			at = len(rep.Checks)
		}
		rep.Checks = slices.Insert(rep.Checks, at, report.Check{Name: checks.Module, State: report.Checked, Unit: "fields"})
		k = &rep.Checks[at]
	}
	k.Compared++
	k.Wrong++
	k.Findings++
	at := slices.IndexFunc(rep.Findings, func(f report.Finding) bool { return order(f.Check) >= order(checks.Module) })
	if at < 0 {
		at = len(rep.Findings)
	}
	rep.Findings = slices.Insert(rep.Findings, at, report.Finding{Check: checks.Module, Line: 1, Record: record, What: what})
}

// order is the place of a check in a report.
func order(check string) int { return slices.Index(checks.All, check) }
