package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Modules of others.
const (
	acpSDK       = "github.com/coder/acp-go-sdk"
	leaks        = "go.uber.org/goleak"
	mcpSDK       = "github.com/modelcontextprotocol/go-sdk"
	otel         = "go.opentelemetry.io/otel"
	porcupine    = "github.com/anishathalye/porcupine"
	pgx          = "github.com/jackc/pgx/v5"
	validate     = "github.com/santhosh-tekuri/jsonschema/v5"
	xsync        = "golang.org/x/sync"
	sqlite       = "modernc.org/sqlite"
	testify      = "github.com/stretchr/testify"
	adapter      = "provider/internal/adapter" // what the adapters do alike
	journaltest  = "agent/journal/journaltest"
	pgtest       = "internal/pgtest" // finds a PostgreSQL for tests
	providertest = "provider/providertest"
	filetest     = "internal/filetest"         // copies of a file for tests
	roletest     = "internal/roletest"         // starts a test binary again as another process
	wire         = "provider/internal/wire"    // runs recorded exchanges through adapters
	servers      = "provider/internal/servers" // what is known of servers with the API of OpenAI
)

const (
	programs   = "examples/..." // the row of all packages there
	everything = "..."          // of this module
)

// A row says what the files of a package may import besides the standard library.
type row struct {
	own   []string // packages of this module
	third []string // modules of others
	tests []string // what only its tests import: modules of others, and packages of this one that import it
}

// rows is the order of the packages: no package imports one of a higher layer.
var rows = map[string]row{
	".":             {}, // documentation; its example uses what it likes
	"circuit/fault": {own: []string{"internal/backoff"}},
	"circuit":       {own: []string{"circuit/fault"}},
	"ratelimit": {own: []string{"circuit/fault", "internal/backoff", "ratelimit/internal/calendar",
		"ratelimit/internal/list"}, tests: []string{"ratelimit/allowancetest"}},
	"ratelimit/allowancetest": {own: []string{"ratelimit"}},
	"ratelimit/budget": {own: []string{"circuit/fault", "ratelimit/internal/calendar",
		"ratelimit/internal/list"}},
	"ratelimit/internal/calendar": {},
	"ratelimit/internal/list":     {},
	"provider/internal/servers":   {},
	"provider":                    {own: []string{"circuit/fault", servers}},
	"provider/secret":             {},
	"internal/httpguard":          {own: []string{"provider/secret"}},
	"stream":                      {own: []string{"provider", "circuit/fault"}},
	"stream/sse":                  {own: []string{"circuit/fault", "internal/backoff", "internal/httpguard"}},
	"stream/agui":                 {own: []string{"circuit/fault"}, tests: []string{"internal/aguitest"}},
	"internal/aguitest":           {own: []string{"stream/agui"}},
	"stream/uimessage":            {},
	"agent/journal":               {},
	// The machine decides and folds; what it decides on comes in as facts. Its test
	// TestTheMachineIsPure says the rest.
	"agent/internal/session": {
		own: []string{"agent/internal/contain", "agent/internal/work", "agent/journal", "agent/machine",
			"circuit/fault", "internal/backoff"},
		tests: []string{"provider", "tools"}},
	"agent/internal/history": {
		own: []string{"agent/internal/session", "agent/internal/work", "agent/journal", "agent/machine",
			"circuit/fault", "provider"},
		tests: []string{"tools"}},
	"agent/internal/contain": {own: []string{"agent/journal", "circuit/fault", "internal/abandon", "tools"}},
	"agent/machine": {own: []string{"agent/journal", "circuit/fault", "internal/cut", "internal/schema",
		"internal/visible", "memory", "provider", "tools"},
		tests: []string{"agent/internal/history", "internal/erase"}},
	"agent/internal/durable": {own: []string{everything}, third: []string{sqlite}}, // tests alone
	"agent/internal/stops":   {own: []string{everything}},                          // tests alone
	"agent/internal/doors":   {own: []string{everything}, third: []string{mcpSDK}}, // tests alone
	// tests alone
	"agent/internal/transcripts": {own: []string{everything}, third: []string{"github.com/cockroachdb/datadriven"}},
	"internal/sim":               {own: []string{everything}, third: []string{porcupine}}, // tests alone
	"internal/desk":              {own: []string{everything}, third: []string{pgx}},       // tests alone
	"internal/storm":             {own: []string{everything}},                             // tests alone
	"internal/features":          {own: []string{"provider"}, third: []string{testify}},
	"internal/wirecases":         {own: []string{everything}}, // tests alone
	"internal/compat":            {own: []string{everything}}, // tests alone
	"agent/internal/carry": {own: []string{"agent", "agent/machine", "agent/notes", "provider"},
		tests: []string{"tools"}},
	"agent/internal/due": {own: []string{"agent/journal", "agent/machine", "internal/backoff"}},
	"agent/internal/work": {own: []string{"agent/journal", "agent/machine", "provider", "tools", "circuit/fault"},
		tests: []string{"agent", "provider/providertest"}},
	"agent/internal/display": {own: []string{"agent", "agent/machine", "provider"},
		tests: []string{"tools"}},
	"agent/internal/request": {own: []string{"agent", "agent/machine"}},
	"agent/internal/output": {own: []string{"agent/machine", "circuit/fault", "internal/schema", "provider",
		"provider/guard"}},
	"agent/notes": {own: []string{"agent/internal/output", "agent/machine", "circuit/fault", "internal/schema",
		"memory", "provider"}, tests: []string{"agent", "tools"}},
	"agent/stop": {own: []string{"provider"}, tests: []string{"agent", "tools"}},
	"agent/approvals": {own: []string{"agent", "agent/internal/contain", "agent/internal/session", "agent/journal",
		"agent/machine", "agent/plan",
		"circuit/fault", "provider", "tools"}},
	"agent/live": {own: []string{"agent", "agent/internal/due", "agent/internal/session", "agent/journal",
		"agent/machine", "circuit/fault", "tools"},
		tests: []string{"agent/journal", "agent/journal/sqlite", "internal/roletest", "provider"}},
	"agent/work": {own: []string{"agent", "agent/internal/contain", "agent/internal/due", "agent/internal/session",
		"agent/journal",
		"agent/machine", "circuit/fault"},
		tests: []string{"agent/journal/postgres", "agent/journal/sqlite", "internal/pgtest", "provider",
			"provider/providertest", "tools"}},
	"agent/eval": {own: []string{"agent", "agent/internal/output", "circuit/fault", "internal/schema", "provider",
		"provider/guard", "ratelimit", "ratelimit/budget", "tools"}, third: []string{xsync},
		tests: []string{"agent/journal", "agent/journal/sqlite", "provider/providertest", "tools/mock"}},
	"agent/policy": {own: []string{"agent", "agent/internal/work", "agent/machine", "circuit/fault",
		"internal/glob", "internal/schema", "ratelimit", "tools", "tools/file"},
		tests: []string{"agent/journal", "agent/journal/sqlite", "agent/notes", "internal/roletest", "memory",
			"provider", "provider/providertest", "tools/process", "tools/web"}},
	"agent/team": {own: []string{"agent", "agent/internal/due", "agent/internal/session", "agent/internal/work",
		"agent/journal", "agent/live", "agent/machine", "circuit/fault", "internal/schema", "provider", "tools"},
		tests: []string{"agent/approvals", "agent/journal/sqlite", "agent/skill", "internal/roletest",
			"provider/providertest"}},
	"agent/skill": {own: []string{"agent", "agent/internal/contain", "circuit/fault", "internal/visible", "memory",
		"tools"},
		third: []string{"go.yaml.in/yaml/v3", "golang.org/x/text"},
		tests: []string{"agent/journal", "provider/providertest"}},
	"agent/critic": {own: []string{"agent", "agent/internal/work", "agent/machine", "circuit/fault", "provider"},
		tests: []string{"provider/providertest", "tools"}},
	"agent/intent": {own: []string{"agent/internal/output", "circuit/fault", "internal/schema", "provider", "tools"},
		tests: []string{"agent", "agent/journal"}},
	"agent/plan": {own: []string{"agent", "agent/internal/display", "agent/internal/due", "agent/internal/session",
		"agent/internal/work", "agent/journal", "agent/machine", "circuit/fault", "internal/backoff", "internal/cut",
		"internal/schema", "provider", "tools"},
		tests: []string{"agent/journal/sqlite", "agent/policy", "internal/roletest", "provider/providertest"}},
	"agent/serve": {own: []string{"agent", "agent/approvals", "agent/internal/display", "agent/internal/request",
		"agent/journal", "agent/live", "agent/machine", "agent/plan", "agent/serve/page", "circuit/fault", "provider",
		"ratelimit", "stream/agui", "stream/sse", "stream/uimessage", "tools"},
		tests: []string{"provider/providertest"}},
	"agent/serve/page": {own: []string{"internal/cut", "agent", "agent/internal/display",
		"agent/machine", "agent/plan", "provider",
		"tools"},
		third: []string{"github.com/microcosm-cc/bluemonday", "github.com/yuin/goldmark"},
		tests: []string{"circuit/fault", "tools"}},
	"agent/terminal": {own: []string{"agent", "agent/internal/display", "agent/journal", "agent/live",
		"agent/machine", "agent/plan", "circuit/fault", "internal/visible", "provider", "tools"},
		third: []string{"github.com/rivo/uniseg", "golang.org/x/sys", "golang.org/x/term"},
		tests: []string{"agent/journal/sqlite", "provider/fromenv"}},
	"agent/acp": {own: []string{"agent", "agent/internal/display", "agent/live", "agent/machine", "agent/plan",
		"provider", "tools"}, third: []string{acpSDK},
		tests: []string{"agent/journal/sqlite", "circuit/fault", "memory/recall", "tools/file"}},
	"agent/prompt": {own: []string{"memory"}},
	"agent/telemetry": {own: []string{"internal/cut", "agent", "agent/internal/contain",
		"agent/journal", "agent/machine", "circuit",
		"circuit/fault", "internal/abandon", "provider", "ratelimit", "ratelimit/budget", "tools"},
		third: []string{otel},
		tests: []string{"agent/journal/sqlite", "provider/providertest"}},
	"agent/mcpserver": {own: []string{"agent", "agent/internal/request", "agent/live", "agent/machine",
		"agent/serve", "circuit/fault"}, third: []string{mcpSDK},
		tests: []string{"agent/journal", "provider/providertest", "tools", "tools/mcp"}},
	"tools/mcp": {own: []string{"circuit", "circuit/fault", "internal/backoff", "internal/schema", "provider", "tools",
		"tools/process"}, third: []string{mcpSDK, xsync, "golang.org/x/oauth2"},
		tests: []string{"agent", "agent/journal", "provider/providertest"}},
	"agent/screen": {own: []string{"agent", "tools", "provider", "provider/secret", "circuit/fault",
		"internal/visible"}, tests: []string{"agent/journal/sqlite"}},
	"internal/abandon": {own: []string{"circuit/fault"}},
	"internal/backoff": {},
	"internal/cut":     {},
	"internal/glob":    {},
	"internal/visible": {},
	"tools/process":    {own: []string{"internal/cut", "tools", "provider", "circuit/fault"}},
	"tools/file": {own: []string{"tools", "tools/file/internal/diff", "provider", "circuit/fault", "internal/glob",
		"internal/schema", "internal/visible"},
		third: []string{xsync}},
	"tools/file/internal/diff": {},
	"tools/web": {own: []string{"tools", "provider", "provider/secret", "circuit/fault",
		"internal/visible"}, third: []string{"github.com/JohannesKaufmann/html-to-markdown/v2", "golang.org/x/net",
		"golang.org/x/text"}},
	"tools/mock": {own: []string{"circuit/fault", "provider/secret"}, tests: []string{"tools"}},
	journaltest:  {own: []string{"agent/journal"}},
	// What the SQL stores share knows no driver, and each of them only its own; SQLite's is known
	// in one place.
	"internal/erase":      {own: []string{"provider"}},
	"internal/sqljournal": {own: []string{"agent/journal", "ratelimit"}},
	"internal/sqlrecall":  {own: []string{"memory", "memory/recall", "circuit/fault", "internal/erase"}},
	"internal/sqlrecall/scopetest": {own: []string{"memory", "memory/recall", "circuit/fault"},
		third: []string{testify}},
	"internal/pgpool": {own: []string{"circuit/fault"}, third: []string{pgx}},
	"internal/sqlitefile": {third: []string{sqlite},
		tests: []string{"agent/journal", "agent/journal/sqlite", "memory/recall", "memory/sqlmemory"}},
	// Its tests show that lists read few heads.
	"agent/journal/sqlite": {own: []string{"agent/journal", "internal/sqljournal", "internal/sqlitefile",
		"ratelimit"}, tests: []string{"agent", "agent/approvals", "agent/internal/due", "agent/machine",
		"ratelimit/allowancetest", "tools", sqlite}},
	"agent/journal/postgres": {own: []string{"agent/journal", "internal/pgpool", "internal/sqljournal", "ratelimit"},
		third: []string{pgx}, tests: []string{"agent", "agent/live", "agent/machine", "agent/policy", "provider",
			"provider/providertest", "ratelimit/allowancetest", "tools"}},
	pgtest:            {third: []string{pgx}},
	filetest:          {},
	roletest:          {},
	"internal/schema": {own: []string{"circuit/fault", "internal/cut"}, third: []string{validate}},
	"tools": {own: []string{"internal/backoff", "internal/cut", "provider", "circuit", "circuit/fault",
		"internal/schema"},
		third: []string{validate}},
	"memory": {own: []string{"internal/cut", "provider", "stream", "circuit/fault"}},
	"memory/tokens/tiktoken": {own: []string{"memory", "provider", "circuit/fault"},
		third: []string{"github.com/tiktoken-go/tokenizer"}},
	// its tests have the providers' embedders
	"memory/index": {own: []string{"internal/cut", "memory", "tools", "provider",
		"circuit/fault"}, third: []string{xsync},
		tests: []string{"circuit", "provider/gemini", "provider/guard", "provider/openai", "ratelimit",
			"ratelimit/budget"}},
	"memory/langchain": {own: []string{"memory/index", "stream", "circuit/fault", "internal/httpguard"},
		third: []string{"github.com/tmc/langchaingo"}},
	"memory/recall":            {own: []string{"memory", "tools", "provider", "provider/secret", "circuit/fault"}},
	"memory/recall/recalltest": {own: []string{"memory", "memory/recall", "circuit/fault"}},
	"memory/sqlmemory": {own: []string{"memory", "memory/recall", "memory/recall/recalltest", "circuit/fault",
		"internal/sqlitefile", "internal/sqlrecall"}, third: []string{xsync},
		tests: []string{"internal/sqlrecall/scopetest"}},
	"memory/pgmemory": {own: []string{"memory", "memory/recall", "circuit/fault", "internal/pgpool",
		"internal/sqlrecall"}, third: []string{pgx},
		tests: []string{"agent/journal/postgres", "internal/sqlrecall/scopetest", "memory/recall/recalltest"}},
	"provider/guard": {own: []string{"provider", "stream", "ratelimit", "ratelimit/budget", "circuit",
		"circuit/fault", "internal/abandon"}},
	providertest: {own: []string{"provider", "provider/secret", "stream", "circuit/fault",
		"internal/httpguard", "internal/schema"}},
	wire:                       {own: []string{"provider", "stream", "circuit/fault", providertest}},
	"provider/internal/replay": {own: []string{everything}}, // tests alone
	// What the adapters do alike.
	adapter: {own: []string{"internal/cut", "provider", "provider/secret", "stream", "stream/sse", "circuit/fault",
		"internal/httpguard"},
		tests: []string{"provider/anthropic", "provider/gemini", "provider/openai"}},
	"provider/anthropic": {own: []string{"provider", "stream", "stream/sse", "circuit/fault", adapter}},
	"provider/openai": {own: []string{"provider", "stream", "stream/sse", "circuit/fault", adapter, servers},
		tests: []string{"provider/guard"}},
	"provider/gemini": {own: []string{"provider", "stream", "stream/sse", "circuit/fault", adapter}},
	"provider/fromenv": {own: []string{"provider", "provider/anthropic", "provider/gemini", "provider/guard",
		"provider/openai", "circuit", "circuit/fault", "ratelimit", servers}},
	"provider/langchain": {own: []string{"provider", "stream", "circuit/fault", "internal/httpguard", adapter},
		third: []string{"github.com/tmc/langchaingo"}},
	"agent": {
		own: []string{"internal/cut", "agent/internal/contain", "agent/internal/due", "agent/internal/history",
			"agent/internal/output", "agent/internal/session", "agent/internal/work", "agent/journal",
			"agent/machine", "agent/notes", "agent/stop", "circuit", "circuit/fault",
			"internal/abandon", "internal/backoff", "internal/erase", "internal/schema", "memory", "provider",
			"provider/guard", "stream", "ratelimit", "ratelimit/budget", "tools"},
		third: []string{xsync},
		tests: []string{"agent/live", "provider/anthropic", "provider/gemini", "provider/openai", "provider/secret"},
	},
	"internal/rules":          {tests: []string{everything}},
	"internal/rules/sizes":    {own: []string{"internal/rules"}},
	"internal/rules/pictures": {},
	"internal/retry":          {},
	"cmd/pawl": {own: []string{"agent", "agent/approvals", "agent/journal", "agent/journal/postgres",
		"agent/journal/sqlite", "agent/machine", "internal/visible", "memory/pgmemory", "provider", "tools"},
		tests: []string{"circuit/fault"}},
	programs: {own: []string{everything}, third: []string{mcpSDK, sqlite, xsync,
		"github.com/microcosm-cc/bluemonday", otel, "github.com/yuin/goldmark", "golang.org/x/text",
		"golang.org/x/term"}},
}

// inTests is what test files may import as well.
var inTests = row{own: []string{journaltest, providertest, wire, pgtest, roletest, filetest},
	third: []string{testify, leaks}}

// TestImports looks at every file, whatever platform it is for.
func TestImports(t *testing.T) {
	unused := maps.Clone(rows)
	for _, f := range goFiles(t) {
		if f.nested() {
			continue
		}
		pkg := f.dir()
		if strings.HasPrefix(pkg, "examples/") {
			pkg = programs
		}
		allowed, ok := rows[pkg]
		delete(unused, pkg)
		if !ok {
			t.Errorf("%s: the package %s has no row: add one to rows, which says what it may import", f.path, pkg)
			continue
		}
		for _, spec := range f.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if !allowed.permits(name) && !(f.test() && allowed.permitsTests(f.dir(), name)) {
				t.Errorf("%s imports %s, which the row of %s doesn't allow", f.path, name, pkg)
			}
		}
	}
	require.Empty(t, unused, "rows of packages that don't exist")
}

// permits reports whether a file may import name.
func (r row) permits(name string) bool {
	if first, _, _ := strings.Cut(name, "/"); !strings.Contains(first, ".") {
		return true // the standard library
	}
	if own, ok := ownPackage(name); ok {
		return slices.Contains(r.own, own) || slices.Contains(r.own, everything)
	}
	return slices.ContainsFunc(r.third, func(m string) bool { return name == m || strings.HasPrefix(name, m+"/") })
}

// permitsTests reports whether a test file of pkg may import name besides.
func (r row) permitsTests(pkg, name string) bool {
	own, ok := ownPackage(name)
	return ok && (own == pkg || pkg == ".") || inTests.permits(name) || row{own: r.tests, third: r.tests}.permits(name)
}

// ownPackage returns where a package of this module is, from the root.
func ownPackage(name string) (dir string, ok bool) {
	if name == module {
		return ".", true
	}
	return strings.CutPrefix(name, module+"/")
}

// TestRowsPointDown finds two packages that may import each other, by whatever way.
func TestRowsPointDown(t *testing.T) {
	var reach func(from, to string, seen map[string]bool) bool
	reach = func(from, to string, seen map[string]bool) bool {
		for _, next := range rows[from].own {
			if next == to {
				return true
			}
			if !seen[next] {
				seen[next] = true
				if reach(next, to, seen) {
					return true
				}
			}
		}
		return false
	}
	for pkg := range rows {
		require.False(t, reach(pkg, pkg, map[string]bool{}), "%s may import itself by way of others", pkg)
	}
}

// TestAMinimalProgramCompilesTwoModules counts what a user of the library's core takes in.
func TestAMinimalProgramCompilesTwoModules(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Module",
		module+"/agent", module+"/tools", module+"/"+providertest)
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	modules := make(map[string]bool)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Module     *struct{ Path string }
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil {
			modules[p.Module.Path] = true
		}
	}
	require.True(t, modules[module], "go list names no module")
	delete(modules, module)
	require.Equal(t, []string{validate, xsync}, slices.Sorted(maps.Keys(modules)))
}

// TestNeitherStoreCompilesTheOthersDriver looks at all that a user of one takes in.
func TestNeitherStoreCompilesTheOthersDriver(t *testing.T) {
	for pkg, not := range map[string][]string{
		"agent/journal/sqlite": {pgx}, "agent/journal/postgres": {sqlite}, "internal/sqljournal": {pgx, sqlite},
	} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"/"+pkg)
		cmd.Dir = root
		out, err := cmd.Output()
		require.NoError(t, err)
		require.Contains(t, string(out), module+"/agent/journal\n")
		for _, driver := range not {
			require.NotContains(t, string(out), driver, pkg)
		}
	}
}

// TestTheModuleAsksForThisGo keeps the version of Go that users need where it is said.
func TestTheModuleAsksForThisGo(t *testing.T) {
	for _, f := range repository(t) {
		if f.path == "go.mod" {
			require.Regexp(t, `(?m)^go 1\.26(\.0)?$`, f.text)
			return
		}
	}
	t.Error("there is no go.mod")
}
