package rules

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A block is a fenced block of a page.
type block struct {
	page     string
	language string
	line     int // of its fence
	text     string
}

func (b *block) where() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// A program is a block of Go.
type program struct {
	block
	name  string // of its folder
	test  bool
	shown block // what it prints
}

var raced = flag.Bool("raced", false, "the programs of pages have the race detector; it takes longer to compile them")

// TestCodeOfPagesIsReal runs every program of the README and of docs, and compares what it prints
// with the text block after it. Test files must pass.
func TestCodeOfPagesIsReal(t *testing.T) {
	// A program may call a model of OpenAI: it gets this answer.
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/v1/chat/completions" {
			http.NotFound(w, req)
			return
		}
		_, _ = io.WriteString(w,
			`{"id":"1","model":"m","choices":[{"message":{"role":"assistant","content":"Hello!"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`)
	}))
	defer model.Close()
	programs := programsOf(t)
	dir := moduleOf(t, programs)
	run := func(dir, name string, arg ...string) string {
		cmd := exec.CommandContext(t.Context(), name, arg...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+model.URL+"/v1", "OPENAI_API_KEY=none",
			"GORACE=atexit_sleep_ms=0") // with the race detector each would wait a second when it exits
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		return string(out)
	}
	require.Empty(t, run(dir, "gofmt", "-l", "."), "not formatted")
	all := filepath.Join(dir, "all.bin")
	race := fmt.Sprint("-race=", *raced)
	// With -trimpath, what is compiled in one folder of a test serves the next.
	run(dir, "go", "build", "-trimpath", race, "-ldflags=-s -w", "-o", all, ".")
	run(dir, "go", "test", "-trimpath", race, "./...")
	runTutorial(t, all)
	for _, p := range programs {
		if !p.test && p.page != tutorialPage {
			same(t, &p.shown, run(root, all, p.name))
		}
	}
}

// programsOf returns the programs of the pages. Those of the tutorial are files.
func programsOf(t *testing.T) (programs []program) {
	t.Helper()
	for _, s := range stages(t) {
		programs = append(programs, program{block: block{page: tutorialPage, text: s.text}, name: s.name})
	}
	for _, page := range pages(t) {
		blocks := blocksOf(t, page)
		for i, b := range blocks {
			if b.language != "go" || page == tutorialPage {
				continue
			}
			p := program{block: b, test: strings.Contains(b.text, "_test\n")}
			p.name = fmt.Sprintf("%s-%d", strings.NewReplacer("/", "-", ".md", "", ".txt", "").Replace(b.page), b.line)
			if !p.test {
				require.True(t, strings.Contains(b.text, "package main\n"), "%s: the block isn't a whole program",
					b.where())
				require.True(t, i+1 < len(blocks) && blocks[i+1].language == "text",
					"%s: what does this program print? A text block should say", b.where())
				p.shown = blocks[i+1]
			}
			programs = append(programs, p)
		}
	}
	return programs
}

// moduleOf writes programs into a module of their own and returns its folder. Each is a package
// whose Main is called by one command, which takes its name: linking one is quicker than linking
// them all. The module has the dependencies of this repository.
func moduleOf(t *testing.T, programs []program) string {
	t.Helper()
	dir := t.TempDir()
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		if name == "go.mod" {
			text = bytes.Replace(text, []byte("module "+module), []byte("module pages"), 1)
			text = fmt.Appendf(text, "\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, strconv.Quote(top))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	var imports, calls strings.Builder
	for i, p := range programs {
		file, text := filepath.Join(dir, p.name, "page_test.go"), p.text
		if !p.test {
			file = filepath.Join(dir, p.name, "main.go")
			text = strings.Replace(text, "package main\n", "package program\n", 1)
			text = strings.Replace(text, "\nfunc main() {\n", "\nfunc Main() {\n", 1)
			fmt.Fprintf(&imports, "\tp%d \"pages/%s\"\n", i, p.name)
			fmt.Fprintf(&calls, "\t%q: p%d.Main,\n", p.name, i)
		}
		require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	main := fmt.Sprintf("package main\n\nimport (\n\t\"os\"\n\n%s)\n\nfunc main() { programs[os.Args[1]]() }\n\n"+
		"var programs = map[string]func(){\n%s}\n", imports.String(), calls.String())
	formatted, err := format.Source([]byte(main))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), formatted, 0o600))
	return dir
}

// TestCommandsOfPagesAreRun: .ci/run takes its commands out of the pages' sh blocks, so a command
// in any other kind of block would be one that nobody has tried. internal/browser tests the js.
func TestCommandsOfPagesAreRun(t *testing.T) {
	for _, page := range pages(t) {
		for _, b := range blocksOf(t, page) {
			require.Contains(t, []string{"sh", "go", "js", "text", "diff"}, b.language, b.where())
			for line := range strings.Lines(b.text) {
				command := strings.HasPrefix(line, "go ") || strings.HasPrefix(line, "bash ") ||
					strings.HasPrefix(line, "$ ")
				require.False(t, b.language != "sh" && command, "%s: the command %q would never be run", b.where(),
					line)
			}
		}
	}
	readme := blocksOf(t, "README.md")
	for _, want := range []string{`go run ./examples/cms -p "Create an About page with a hero section titled Hello"`,
		testCommand} {
		require.True(t, slices.ContainsFunc(readme, func(b block) bool {
			return b.language == "sh" && strings.Contains(b.text, want+"\n")
		}), want)
	}
	ci, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	require.NoError(t, err)
	require.Contains(t, string(ci), fmt.Sprintf("\"the README's test command\" retried %s \"$json\"\n", testCommand))
}

// testCommand is what the README says for running the tests. .ci/run runs it as a step of its own,
// with one package compiled in another way, and once more what .ci/retry names.
const testCommand = "go test -race -shuffle=on -p 4 ./..."

func TestTheReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), 9<<10, "the rest belongs into docs")
}

// TestTheReadmeListsEachPage: a page that the README doesn't name isn't found.
func TestTheReadmeListsEachPage(t *testing.T) {
	readme := textOf(t, "README.md")
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "docs/") {
			require.True(t, strings.Contains(readme, "("+page), "the README has no row for %s", page)
		}
	}
}

var (
	link     = regexp.MustCompile(`\]\(([^)]+)\)|(?:src|srcset|href)="([^"]+)"`)
	headline = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchor   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	notWord  = regexp.MustCompile(`[^\p{L}\p{N}\-_ ]`)
)

// TestLinksOfPagesLeadSomewhere follows the links and pictures into the repository, and those that
// name a heading to it.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	for _, page := range append(pages(t), "CHANGELOG.md") {
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(textOf(t, page), ""), -1) {
			if m[1]+m[2] == "" || strings.Contains(m[1]+m[2], "://") {
				continue
			}
			name, fragment, _ := strings.Cut(m[1]+m[2], "#")
			to := page
			if name != "" {
				to = path.Join(path.Dir(page), name)
				_, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
				require.NoError(t, err, "%s: %s", page, m[0])
			}
			if fragment != "" {
				require.Contains(t, anchorsOf(t, to), fragment, "%s: %s", page, m[0])
			}
		}
	}
}

// anchorsOf returns what links may name on a page: its headings, as GitHub names them, and anchors.
func anchorsOf(t *testing.T, page string) (names []string) {
	t.Helper()
	text := fenced.ReplaceAllString(textOf(t, page), "")
	for _, m := range headline.FindAllStringSubmatch(text, -1) {
		name := strings.ReplaceAll(notWord.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")
		names = append(names, name)
	}
	for _, m := range anchor.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
}

// pages returns the pages for users, relative to the top: those at the top except for the
// CHANGELOG, those in docs, those of examples, and what coding assistants read.
func pages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/README.md", "llms.txt", "skills/*/*.md",
		"skills/*/references/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, name := range found {
			name, err = filepath.Rel(root, name)
			require.NoError(t, err)
			if name != "CHANGELOG.md" {
				pages = append(pages, filepath.ToSlash(name))
			}
		}
	}
	require.Greater(t, len(pages), 10)
	return pages
}

// blocksOf returns the fenced blocks of a page.
func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	var blocks []block
	open := false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		switch {
		case strings.HasPrefix(line, "```") && open:
			open = false
		case strings.HasPrefix(line, "```"):
			open = true
			blocks = append(blocks, block{page: page, language: strings.TrimSpace(line[3:]), line: n})
		case open:
			blocks[len(blocks)-1].text += line
		}
	}
	require.False(t, open, "a block of %s has no end", page)
	return blocks
}
