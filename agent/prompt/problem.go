package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A problem is an error in a prompt file or in the Config.
type problem struct {
	file  string // the path in the fs.FS; "" if the Config is wrong
	line  int    // from 1; 0 if the error isn't on one line
	text  string // what is wrong, and how to correct it
	cause error  // such as fs.ErrNotExist; may be nil
}

func (p *problem) Error() string {
	switch {
	case p.file == "":
		return "prompt: " + p.text
	case p.line <= 0:
		return fmt.Sprintf("prompt: %s: %s", p.file, p.text)
	}
	return fmt.Sprintf("prompt: %s:%d: %s", p.file, p.line, p.text)
}

func (p *problem) Unwrap() error { return p.cause }

// problems collects errors.
type problems struct{ list []*problem }

func (p *problems) add(next *problem) { p.list = append(p.list, next) }

func (p *problems) at(file string, line int, format string, args ...any) {
	p.add(&problem{file: file, line: line, text: fmt.Sprintf(format, args...)})
}

// err joins the problems by file and line, each once, those without a file first.
func (p *problems) err() error {
	slices.SortStableFunc(p.list, func(a, b *problem) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	var errs []error
	for _, one := range p.list {
		if !slices.ContainsFunc(errs, func(err error) bool { return err.Error() == one.Error() }) {
			errs = append(errs, one)
		}
	}
	return errors.Join(errs...)
}

func quote(s string) string  { return fmt.Sprintf("%.64q", s) }
func braces(s string) string { return "{{" + s + "}}" }

// list returns the end of an error about an unknown name: the known ones.
func list(are string, known []string, show func(string) string) string {
	if len(known) == 0 {
		return "; there are none"
	}
	shown := make([]string, len(known))
	for i := range known {
		shown[i] = show(known[i])
	}
	return "; " + are + strings.Join(shown, ", ")
}
