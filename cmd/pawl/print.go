package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

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

// row prints a value for each column. JSON has none for those that a table shows as empty.
func (o *printer) row(values ...any) {
	line, cells := make(map[string]any), make([]string, len(values))
	for i, v := range values {
		if cells[i] = cell(v); cells[i] != "" {
			line[o.names[i]] = v
		}
	}
	if !o.json {
		fmt.Fprintln(o.table, strings.Join(cells, "\t"))
	} else {
		_ = json.NewEncoder(o.w).Encode(line) // w keeps the error
	}
}

// flush ends a table.
func (o *printer) flush() {
	if o.table != nil {
		_ = o.table.Flush() // w keeps the error
		o.table = nil
	}
}

// cell returns a value as a table shows it: on one line, without characters that a terminal would
// act on, cut to 72 characters, and a time as the time since then.
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
	return fmt.Sprintf("%.72s", strings.Join(strings.Fields(visible.Text(fmt.Sprint(v))), " "))
}
