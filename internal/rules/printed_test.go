package rules

import (
	"flag"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var figures = flag.Bool("figures", false, "run the commands of the pages whose figures don't vary, and compare")

// A printed is a command of a page, and what of its output the page says.
type printed struct {
	page    string
	command string
	// says has, for what matches in the output, the sentence of the page; $1 is what the first
	// group has matched, written as on a page: see written.
	says map[string]string
}

// printedOnPages are the figures that are the same on every machine. Times of benchmarks aren't
// among them.
var printedOnPages = []printed{
	{"docs/call-path.md", "go run ./examples/gate", map[string]string{
		`answered +(\d+) of`:                           "Of $1 interactive calls",
		`p99 +(\S+) +\S+\n`:                            "99 % had their first word within $1",
		`p99 +\S+ +(\S+)\n`:                            "limiter it was $1",
		`longest +(\S+) `:                              "the slowest within $1",
		`longest +\S+ +(\S+)\n`:                        "and $1.",
		`of them in the outage \(529\) +(\d+) +\d`:     "called $1 times",
		`of them in the outage \(529\) +\d+ +(\d+)`:    "instead of $1,",
		`its budget +(\S+) `:                           "at its budget of $1",
		`a flood of 400 is done after, median +(\S+) `: "takes $1 instead",
		`is done after, median +\S+ +(\S+)\n`:          "instead of $1,",
	}},
	{"README.md", "go run ./examples/gate", map[string]string{
		`p99 +(\S+) +\S+\n`: "People wait $1 at most in 99 %",
		`p99 +\S+ +(\S+)\n`: "first-in first-out limiter it is $1",
	}},
	{"docs/memory.md", "go test ./agent -run ALongRun -count=1 -v", map[string]string{
		`(0\.\d\d)\d of each request as before; 0\.5`: "$1 of each request repeats",
		`(0\.5\d) of the tokens`:                      "it uses $1 of the tokens",
	}},
	{"docs/memory.md", "go test ./memory/index -run NaturalQueries -count=1 -v", map[string]string{
		`(\d+) queries: first 0\.989`:     "and $1 queries, the right resource comes first in 98.9 %",
		`wrong of those (0);`:             "no answer marked as sure was wrong",
		`queries: first (0\.989), in the`: "98.9 %",
	}},
}

// TestFiguresOfPagesAreWhatTheirCommandsPrint runs with -figures, as .ci/full does.
func TestFiguresOfPagesAreWhatTheirCommandsPrint(t *testing.T) {
	for _, p := range printedOnPages {
		page := textOf(t, p.page)
		if p.page != "README.md" {
			require.Contains(t, page, p.command, "%s: the command that prints its figures", p.page)
		}
		if !*figures {
			continue
		}
		args := strings.Fields(p.command)
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", p.command, out)
		for pattern, sentence := range p.says {
			found := regexp.MustCompile(pattern).FindStringSubmatch(string(out))
			require.NotNil(t, found, "%s prints nothing like %s: %s", p.command, pattern, out)
			require.Contains(t, page, strings.ReplaceAll(sentence, "$1", written(found[1])), p.page)
		}
	}
}

var (
	thousands = regexp.MustCompile(`^(\d)(\d{3})$`)
	minutes   = regexp.MustCompile(`^(\d+)m(\d+)s$`)
	seconds   = regexp.MustCompile(`^([\d.]+)s$`)
)

// written returns a figure that a program has printed as pages write it.
func written(figure string) string {
	figure = thousands.ReplaceAllString(figure, "$1,$2")
	figure = minutes.ReplaceAllString(figure, "$1 min $2 s")
	return seconds.ReplaceAllString(figure, "$1 s")
}
