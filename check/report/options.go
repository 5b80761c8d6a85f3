package report

// Options say what a Report holds.
type Options struct {
	// Limit is the number of findings kept of each check: 0 means
	// DefaultLimit, a negative number none. All are counted.
	Limit int
	// Only names the checks whose outcome is wanted; empty means all.
	Only []string
	// Allow are the kinds of Gap that do not count as findings, of those that Gaps lists.
	Allow []string
}
