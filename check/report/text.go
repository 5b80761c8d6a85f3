package report

import (
	"bufio"
	"fmt"
	"io"
	"text/tabwriter"

	"symkit/internal/printable"
	"symkit/internal/quantity"
)

// writeTexts writes the results as text, with a blank line between them.
func writeTexts(out io.Writer, results []Result) error {
	w := bufio.NewWriter(out)
	for i := range results {
		r := &results[i]
		if i > 0 {
			fmt.Fprintln(w)
		}
		r.writeTitle(w)
		err := r.Report.WriteText(w, r.File)
		if err != nil {
			return err
		}
		r.writeUnmet(w)
	}
	return w.Flush()
}

// writeTitle writes the names of the files.
func (r *Result) writeTitle(w io.Writer) {
	title := r.File
	if r.Against != "" {
		title += " and " + r.Against
	}
	fmt.Fprintf(w, "%s\n", printable.String(title))
}

// writeUnmet writes the requirements that the symbol file does not meet.
func (r *Result) writeUnmet(w io.Writer) {
	for _, text := range r.Unmet {
		fmt.Fprintf(w, "%s: %s\n", printable.String(r.File), printable.String(text))
	}
}

// WriteText writes whether the files are of one module and have debug information, the gaps, a
// table of the checks, the coverage, and the findings, each after the name of the file.
func (r *Report) WriteText(out io.Writer, file string) error {
	file = printable.String(file)
	w := bufio.NewWriter(out)
	r.writeCauses(w, file)

	// The table, then the notes of its checks.
	err := writeTable(w, r.Checks)
	if err != nil {
		return err
	}
	for i := range r.Checks {
		for _, note := range r.Checks[i].Notes {
			fmt.Fprintf(w, "%s: %s\n", r.Checks[i].Name, printable.String(note))
		}
	}

	// One line for the coverage.
	for i, c := range r.Coverage {
		if i == 0 {
			fmt.Fprintf(w, "of %s of code covered:", quantity.Bytes(c.Code))
		}
		fmt.Fprintf(w, " %s %s", c.Class, quantity.Share(c.Covered, c.Code))
		if i == len(r.Coverage)-1 {
			fmt.Fprintln(w)
		}
	}

	r.writeFindings(w, file)
	return w.Flush()
}

// writeCauses writes what most findings follow from, and the gaps.
func (r *Report) writeCauses(w io.Writer, file string) {
	for _, cause := range []string{r.OtherModule, r.NoDebugInfo} {
		if cause != "" {
			fmt.Fprintf(w, "%s: %s\n", file, printable.String(cause))
		}
	}
	for i := range r.Gaps {
		g := &r.Gaps[i]
		fmt.Fprintf(w, "%s: %s [%s]\n", file, printable.String(g.What), g.Kind)
	}
}

// writeTable writes the table of checks.
func writeTable(w io.Writer, all []Check) error {
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "check\tcompared\twrong\tmissing\tnot verified\tfindings\t\n")
	for i := range all {
		k := &all[i]
		unit := k.Unit
		if k.State != Checked {
			unit = string(k.State)
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t  %s\n", k.Name, k.Compared, k.Wrong, k.Missing, k.Unverified, k.Findings, unit)
	}
	return table.Flush()
}

// writeFindings writes the findings, and how many more there are.
func (r *Report) writeFindings(w io.Writer, file string) {
	for _, f := range r.Findings {
		sep := ":"
		if f.Line == 0 {
			sep = ": "
		}
		fmt.Fprintf(w, "%s%s%s [%s]\n", file, sep, printable.String(f.String()), f.rule())
	}

	// Findings above the limit are only counted.
	if more := r.Total() - uint64(len(r.Findings)); more > 0 {
		fmt.Fprintf(w, "%s: %s\n", file, quantity.Count(more, "more finding", "more findings"))
	}
}
