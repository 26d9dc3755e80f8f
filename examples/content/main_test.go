package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/internal/filetest"
	"github.com/pawlkit/pawl/internal/roletest"
	"github.com/pawlkit/pawl/provider/providertest"
)

var plays = roletest.Roles{"serve": func(args []string) error {
	if status := run(context.Background(), args, os.Getenv, strings.NewReader(""), os.Stdout, io.Discard); status != 0 {
		return fmt.Errorf("status %d", status)
	}
	return nil
}}

func TestMain(m *testing.M) {
	plays.Play()
	goleak.VerifyTestMain(m)
}

// newFile returns the path of a file in which nobody has done anything yet. To copy it is quicker
// than to make tables.
var newFile = filetest.Copies(func(path string) error {
	s, err := assistant.New(assistant.Config{DB: path, Model: standin.Model(), Images: providertest.Draw(),
		Sources: standin.Sources()})
	if err != nil {
		return err
	}
	return s.Close()
})

// command runs the program, and returns its status and what it prints.
func command(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, func(string) string { return "" }, strings.NewReader(""), &stdout, &stderr)
	return status, stdout.String(), stderr.String()
}

func TestARequestInATerminal(t *testing.T) {
	db := filepath.Join(t.TempDir(), "content.db")
	status, out, errs := command(t, "-db", db, "-p", "Create content for a social post about remote work")
	require.Zero(t, status, out)
	require.Contains(t, errs, "A stand-in writes")
	require.Contains(t, errs, "sources: made up")
	require.Regexp(t, `(?s)  Research\n.*  Outline\n.*  Text\n.*  Revision\n.*Done: research, outline, text, revision and images\.`,
		out)
	id := regexp.MustCompile(`artifact (\S+), ready`).FindStringSubmatch(out)
	require.NotNil(t, id, out)

	status, out, _ = command(t, "-db", db, "-artifact", id[1], "-p", "Research this topic")
	require.Zero(t, status)
	require.Contains(t, out, "was researched before")
	require.Contains(t, out, "1: Yes")
	status, out, _ = command(t, "-db", db, "-artifact", id[1], "-p", "ok, wait, don't do that")
	require.Zero(t, status)
	require.Contains(t, out, "All right, nothing was changed.")
	status, out, _ = command(t, "-db", db, "-user", "ben", "-artifact", id[1], "-p", "What's the status?")
	require.Equal(t, 1, status)
	require.Contains(t, out, "There is no such article.")
	status, out, _ = command(t, "-db", db, "-p", "Give me three ideas about pricing for LinkedIn")
	require.Zero(t, status)
	require.Regexp(t, `(?i)^.+\n(  - .*pricing.*\n){3}$`, out)
	status, out, _ = command(t, "-db", db, "-p", "Give me topic ideas for LinkedIn")
	require.Zero(t, status)
	require.Regexp(t, `(?s)(  - .+){5}`, out)
}

func TestAConversationInATerminal(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"-db", newFile(t), "-chat"},
		func(string) string { return "" }, strings.NewReader(
			"Create content for a social post about remote work\nArchive it\nr\n\nGive me two ideas about pricing\n/quit\n"),
		&stdout, &stderr)
	require.Zero(t, status, stderr.String())
	out := stdout.String()
	require.Contains(t, out, "Done: research, outline, text, revision and images.")
	require.Contains(t, out, "1: Publish it")
	require.Contains(t, out, "It leaves your portfolio; you can take it out of the archive again.")
	require.Contains(t, out, "All right, nothing was changed.")
	require.Regexp(t, `(?i)Here are 2 ideas.*\n(  - .*pricing.*\n){2}`, out)
}

func TestArgumentsThatAreWrong(t *testing.T) {
	db := filepath.Join(t.TempDir(), "content.db")
	status, _, errs := command(t, "-nonsense")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "flag provided but")
	status, _, errs = command(t, "-db", db, "-p", "Show my drafts", "please")
	require.Equal(t, 2, status)
	require.Contains(t, errs, `there is nothing to do with "please"`)
	for _, blank := range []string{"", " \n"} {
		status, _, errs = command(t, "-db", db, "-p", blank)
		require.Equal(t, 2, status)
		require.Contains(t, errs, "the request after -p is empty")
	}
	status, _, errs = command(t, "-db", db, "-addr", "nowhere")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "nowhere")
	status, out, _ := command(t, "-db", db, "-user", "nobody", "-p", "Show my drafts")
	require.Equal(t, 2, status)
	require.Empty(t, out)
	status, _, errs = command(t, "-db", filepath.Join(t.TempDir(), "none", "content.db"), "-p", "Show my drafts")
	require.Equal(t, 1, status)
	require.NotEmpty(t, errs)
}

// serving starts the server, and returns its address. stop ends it, and requires success.
func serving(t *testing.T, getenv func(string) string, stderr io.Writer, args ...string) (at string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	path := newFile(t)
	go func() {
		args = append([]string{"-db", path, "-addr", "127.0.0.1:0"}, args...)
		ended <- run(ctx, args, getenv, strings.NewReader(""), write, stderr)
		write.Close()
	}()
	line, err := bufio.NewReader(read).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line), func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		require.Zero(t, <-ended)
	}
}

func TestTheServerStartsAndEnds(t *testing.T) {
	at, stop := serving(t, func(string) string { return "" }, io.Discard)
	res, err := http.Get(at + "/api/users")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
	stop()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestSIGTERMDrainsTheServer(t *testing.T) {
	p := roletest.Start(t, "serve", "-db", filepath.Join(t.TempDir(), "content.db"), "-addr", "127.0.0.1:0", "-model",
		"standin")
	at := p.Line()
	res, err := http.Get(at + "/api/users")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.Wait())
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
		for _, message := range []string{"Give me topic ideas", "Create content for a blog post about tea"} {
			var out, errs bytes.Buffer
			require.Equal(t, 1, run(t.Context(), []string{"-db", newFile(t), "-p", message},
				func(name string) string { return env[name] }, strings.NewReader(""), &out, &errs))
			require.Contains(t, out.String(), c[1])
			require.NotRegexp(t, `sk-1|[A-Z]+_ERROR|trace|Config\.`, out.String()+errs.String())
		}
		server.Close()
	}
	http.DefaultClient.CloseIdleConnections()
}
