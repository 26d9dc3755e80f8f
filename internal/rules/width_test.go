package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	maxComment = 100 // columns of a comment; a tab stops at each fourth column
	maxCode    = 120 // columns of any other line of Go, and of tables and code within comments
	maxLiteral = 40  // a longer string is data: it isn't counted
)

// TestLinesFitAScreen: comments wrap at maxComment columns, and code at maxCode.
func TestLinesFitAScreen(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.ast == nil || strings.Contains(f.text, "DO NOT EDIT") {
			continue
		}
		for _, line := range tooWide(f) {
			t.Errorf("%s:%d is too wide: break comments at %d columns, code at %d", f.path, line, maxComment, maxCode)
		}
	}
}

// TestProgramsOfPagesFitAScreen: what is copied from a page has lines like the rest.
func TestProgramsOfPagesFitAScreen(t *testing.T) {
	for _, p := range programsOf(t) {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, p.name, p.text, parser.ParseComments)
		require.NoError(t, err, p.where())
		require.Empty(t, tooWide(&file{path: p.name, text: p.text, ast: tree, fset: fset}), p.where())
	}
}

func TestTooWide(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for name, c := range map[string]struct {
		text string
		want []int
	}{
		"short":                {"package p\n", nil},
		"a comment":            {"package p\n\n// " + long + "\nvar A int\n", []int{3}},
		"an indented comment":  {"package p\n\nfunc f() {\n\t// " + strings.Repeat("w", 94) + "\n}\n", []int{4}},
		"code in a comment":    {"package p\n\n//\t" + strings.Repeat("w", 110) + "\nvar A int\n", nil},
		"wide code in comment": {"package p\n\n//\t" + long + "\nvar A int\n", []int{3}},
		"a link":               {"package p\n\n// [X]: https://example.org/" + strings.Repeat("w", 99) + "\n", nil},
		"an output": {"package p\n\nfunc ExampleF() {\n\t// Output:\n\t// " + long + "\n}\n\n// " + long + "\n",
			[]int{8}},
		"code":              {"package p\n\nvar A = 1" + strings.Repeat(" + 1", 30) + "\n", []int{3}},
		"a string":          {"package p\n\nvar A = \"" + long + "\"\n", nil},
		"short strings":     {"package p\n\nvar A = \"a\"" + strings.Repeat(` + "b"`, 30) + "\n", []int{3}},
		"text in backticks": {"package p\n\nvar A = `\n" + long + "\n`\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, "p.go", c.text, parser.ParseComments)
			require.NoError(t, err)
			require.Equal(t, c.want, tooWide(&file{path: "p.go", text: c.text, ast: tree, fset: fset}))
		})
	}
}

var (
	linkLine = regexp.MustCompile(`^// \[[^\]]+\]: `)
	output   = regexp.MustCompile(`(?i)^//\s*(unordered )?output:`)
	outside  = regexp.MustCompile(`^//(\t|  )`) // of a comment's text: code, a table, the text of a list
)

// tooWide returns the numbers of the lines of f that are too wide.
func tooWide(f *file) []int {
	literal := make(map[int]int) // by line: the columns that long strings take
	pos := f.fset.File(f.ast.FileStart)
	ast.Inspect(f.ast, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		for i, part := range strings.Split(lit.Value, "\n") {
			if width := columns(part); width > maxLiteral || i > 0 {
				literal[pos.Line(lit.Pos())+i] += width
			}
		}
		return true
	})
	var found []int
	inOutput := false
	for i, line := range strings.Split(f.text, "\n") {
		width, most := columns(line)-literal[i+1], maxCode
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "//") && literal[i+1] == 0 {
			inOutput = inOutput || output.MatchString(text)
			if inOutput || linkLine.MatchString(text) {
				continue
			}
			if !outside.MatchString(text) {
				most = maxComment
			}
		} else {
			inOutput = false
		}
		if width > most {
			found = append(found, i+1)
		}
	}
	return found
}

// columns returns the width of a line of text, with tab stops at each fourth column.
func columns(line string) int {
	n := 0
	for _, r := range line {
		if n++; r == '\t' {
			n = (n + 3) / 4 * 4
		}
	}
	return n
}
