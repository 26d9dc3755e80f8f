package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider/fromenv"
)

func TestOptionsThatDontFitEndTheProgramWithTwo(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"list":                        `"list" is no command and no flag; a request goes after -p`,
		"serve -p x":                  "-p can't be combined with serve",
		"-p=":                         "the request of -p is empty",
		"-mode yolo -p x":             "Edit, Plan, Debug and Ask",
		"-nothing":                    "not defined",
		"-model nobody -p x":          "PAWL_MODEL",
		"-addr 99999":                 `PAGE_PORT (-addr) is "99999": it should be a port, such as 3000`,
		"-addr 0.0.0.0:3000":          "an address of this computer, such as localhost:3000",
		"-preview :4000":              "an address of this computer, such as localhost:3000",
		"-db sqlite:a.db":             "a file of SQLite, such as cms.db",
		"-db postgres://a/b":          "a file of SQLite, such as cms.db",
		"-hosts http://a.example/b":   `HTTP_FETCH_ALLOWLIST (-hosts) is "http://a.example/b"`,
		"-embeddings magic":           "local, openai or openrouter",
		"-embeddings openai":          "set OPENAI_API_KEY too, or choose local",
		"-templates /nowhere -addr 0": "it has no layout/page.html; begin with a copy",
	} {
		var out, errs bytes.Buffer
		if !strings.Contains(line, "-db") {
			line += " -db " + filepath.Join(t.TempDir(), "a.db")
		}
		code := run(t.Context(), strings.Fields(line), noKeys, strings.NewReader(""), &out, &errs)
		require.Contains(t, errs.String(), want, line)
		require.Equal(t, 2, code, line)
	}
	var errs bytes.Buffer
	require.Zero(t, run(t.Context(), []string{"-h"}, os.Getenv, strings.NewReader(""), &errs, &errs))
	require.Contains(t, errs.String(), "PAGE_PORT, NEXT_PORT")
}

func TestTheEnvironmentStandsInForFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "layout"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "layout", "page.html"), nil, 0o644))
	env := func(name string) string {
		return map[string]string{"NEXT_PORT": "3001", "EXPRESS_PORT": "127.0.0.1:8001", "PREVIEW_PORT": "4001",
			"DATABASE_URL": "file:" + dir + "/b.db", "HTTP_FETCH_ALLOWLIST": "example.org, www.example.org",
			"EMBEDDINGS_PROVIDER": "openrouter", "EMBEDDING_MODEL": "openai/text-embedding-3-small",
			"OPENROUTER_API_KEY": "k", "TEMPLATE_DIR": dir, fromenv.Variable: "standin"}[name]
	}
	o, err := readOptions([]string{"-preview", "4002"}, env, os.Stderr)
	require.NoError(t, err)
	require.Equal(t, []string{"localhost:3001", "127.0.0.1:8001", "localhost:4002", dir + "/b.db", dir},
		[]string{o.addr, o.api, o.preview, o.db, o.templates})
	require.NotNil(t, o.fetcher)
	require.Len(t, o.finding, 1)
	require.True(t, o.standIn)

	_, err = readOptions(nil, func(name string) string {
		return map[string]string{"PAGE_PORT": "a", "DATABASE_URL": "mysql://x", "HTTP_FETCH_ALLOWLIST": "none"}[name]
	}, os.Stderr)
	require.ErrorContains(t, err, `PAGE_PORT (-addr) is "a"`)
	require.ErrorContains(t, err, `DATABASE_URL (-db) is "mysql://x"`, "all that is wrong is said at once")
}

func TestNamesAreLookedUpByTheEmbeddingsOfAProvider(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		require.NoError(t, json.NewDecoder(r.Body).Decode(&in))
		require.Equal(t, "/v1/embeddings", r.URL.Path)
		asked.Add(int64(len(in.Input)))
		var data []any
		for i := range in.Input {
			data = append(data, map[string]any{"index": i, "embedding": append([]float32{1}, make([]float32, 1535)...)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]int{"total_tokens": 1}})
	}))
	defer server.Close()
	env := func(name string) string {
		return map[string]string{"EMBEDDINGS_PROVIDER": "openai", "EMBEDDING_MODEL": "text-embedding-3-small",
			"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", fromenv.Variable: "standin"}[name]
	}
	var out, errs bytes.Buffer
	args := []string{"-db", newBench(t).db, "-p", "show Services"}
	code := run(t.Context(), args, env, strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	require.Positive(t, asked.Load())
	require.Contains(t, out.String(), "/services")
	http.DefaultClient.CloseIdleConnections()
}

// The table of settings in the README is made of those of the program.
func TestTheReadmeHasAllSettings(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	o := &options{}
	var table strings.Builder
	table.WriteString("| variable | flag | without it | what |\n|---|---|---|---|\n")
	for _, s := range o.settings(noKeys) {
		otherwise := "–"
		if s.otherwise != "" {
			otherwise = "`" + s.otherwise + "`"
		}
		fmt.Fprintf(&table, "| `%s` | `-%s` | %s | %s |\n", strings.Join(s.variables, "`, `"), s.flag, otherwise,
			s.about)
	}
	require.Contains(t, string(readme), table.String())
}

// failing are what a provider answers with each of these status codes, and what a terminal says
// then.
var failing = map[int][2]string{
	401: {`{"error":{"message":"Incorrect API key provided: sk-1.","type":"invalid_request_error",` +
		`"code":"invalid_api_key"}}`, "Set OPENAI_API_KEY to a valid key"},
	404: {`{"error":{"message":"The model gpt-x does not exist.","type":"invalid_request_error",` +
		`"code":"model_not_found"}}`, "Set OPENAI_MODEL to the name of a model"},
	429: {`{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota",` +
		`"code":"insufficient_quota"}}`, "no credit or no quota left"},
}

func TestATerminalSaysWhatIsWrongWithTheModel(t *testing.T) {
	for status, c := range failing {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			fmt.Fprint(w, c[0])
		}))
		env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_MODEL": "gpt-x", "OPENAI_BASE_URL": server.URL}
		var out, errs bytes.Buffer
		require.Equal(t, 1, run(t.Context(), []string{"-db", newBench(t).db, "-p", "Rename Blog to Notes"},
			func(name string) string { return env[name] }, strings.NewReader(""), &out, &errs))
		require.Contains(t, errs.String(), c[1])
		require.NotRegexp(t, `sk-1|Config\.|level=`, out.String()+errs.String())
		server.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}
