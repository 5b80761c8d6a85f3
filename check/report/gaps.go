package report

// Kinds of Gap.
const (
	// GapUnverified: a limit, or a form that no reader here knows, kept a part of a check's
	// records from being compared.
	GapUnverified = "unverified"
	// GapIncomplete: a companion file that was not found, or what no record can say, kept
	// a part of a check's records from being compared.
	GapIncomplete = "incomplete"
	// GapLoss: the symbol file lacks a large part of what the ELF file has.
	GapLoss = "loss"
)

// Gaps lists the kinds that count as findings unless they are allowed.
func Gaps() []string { return []string{GapUnverified, GapLoss} }

// Gap is a large part of a check's units that the Report says nothing of, or that the symbol
// file lacks: what to know before reading the rest of the Report.
type Gap struct {
	Kind  string `json:"kind"` // "unverified", "incomplete" or "loss"
	Check string `json:"check"`
	// Units is how many of All the gap is about. Both count what the Check does.
	Units uint64 `json:"units"`
	All   uint64 `json:"all"`
	// Allowed: the gap is no finding, by its kind or because Options.Allow has the kind.
	Allowed bool `json:"allowed"`
	// What says the same in words, with the reason if one is known.
	What string `json:"what"`
}
