package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/internal/visible"
)

// A printer writes tables, or a line of JSON for each row.
type printer struct {
	w     *bufio.Writer
	json  bool
	names []string // of the columns
	table *tabwriter.Writer
}

// head ends the table before, and begins one with these columns.
func (o *printer) head(names ...string) {
	if o.flush(); o.names != nil && !o.json {
		fmt.Fprintln(o.w)
	}
	o.names = names
	if !o.json {
		o.table = tabwriter.NewWriter(o.w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(o.table, strings.ToUpper(strings.Join(names, "\t")))
	}
}

// below begins a table with the columns of the last one, and without their names.
func (o *printer) below() {
	if !o.json {
		o.table = tabwriter.NewWriter(o.w, 0, 0, 2, ' ', 0)
	}
}

// A diff is a text that a table shows as it is, line by line.
type diff string

// A reason is a text that a table shows whole, over several lines.
type reason string

// row prints a value for each column. JSON has none for those that a table shows as empty. Only the
// last one may be a [reason] or a [diff].
func (o *printer) row(values ...any) {
	line, cells := make(map[string]any), make([]string, len(values))
	for i, v := range values {
		if cells[i] = cell(v); cells[i] != "" {
			line[o.names[i]] = v
		}
	}
	if o.json {
		_ = json.NewEncoder(o.w).Encode(line) // w keeps the error
		return
	}
	last := len(cells) - 1
	for i, text := range strings.Split(cells[last], "\n") {
		if i > 0 {
			clear(cells)
		}
		cells[last] = text
		fmt.Fprintln(o.table, strings.Join(cells, "\t"))
	}
}

// flush ends a table.
func (o *printer) flush() {
	if o.table != nil {
		_ = o.table.Flush() // w keeps the error
		o.table = nil
	}
}

// widest is how many characters a line of a cell has at most.
const widest = 72

// cell returns a value as a table shows it: without characters that a terminal would act on, on one
// line that is cut to 72 characters, or a [reason] on as many lines as it needs, and a time as the
// time since then.
func cell(v any) string {
	if at, ok := v.(time.Time); ok {
		d := time.Since(at).Truncate(time.Second)
		switch {
		case at.IsZero():
			return ""
		case d < 0:
			return "in " + (-d).String()
		}
		return d.String() + " ago"
	}
	if lines, ok := v.(diff); ok {
		all := strings.Split(strings.TrimRight(string(lines), "\n"), "\n")
		for i := range all {
			all[i] = visible.Text(strings.ReplaceAll(all[i], "\t", "    "))
		}
		return strings.Join(all, "\n")
	}
	words := strings.Fields(visible.Text(fmt.Sprint(v)))
	if _, ok := v.(reason); ok {
		return wrap(words)
	}
	return fmt.Sprintf("%.*s", widest, strings.Join(words, " "))
}

// wrap breaks a text into lines. A longer word has a line of its own.
func wrap(words []string) string {
	var b strings.Builder
	used := 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
		case used+1+n > widest:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}
