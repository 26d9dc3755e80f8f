package browser

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// cmsProgram builds the program cms, once, and returns its name.
var cmsProgram = sync.OnceValues(func() (string, error) {
	program, err := filepath.Abs(filepath.Join(out, "cms"))
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./examples/cms")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return program, nil
})

// A cmsServer is the program cms in a process of its own, with a site and a folder of its own.
type cmsServer struct {
	t                  *testing.T
	db                 string
	flags, env         []string
	page, api, preview string // addresses, with the port
	kill               func() // with -9
}

// startCMS starts a server with a new site.
func startCMS(t *testing.T, flags ...string) *cmsServer { return startCMSWith(t, nil, flags...) }

// startCMSWith is startCMS with additions to the environment.
func startCMSWith(t *testing.T, env []string, flags ...string) *cmsServer {
	t.Helper()
	s := &cmsServer{t: t, db: filepath.Join(t.TempDir(), "cms.db"), flags: flags, env: env, page: "127.0.0.1:0",
		api: "127.0.0.1:0", preview: "127.0.0.1:0"}
	s.start()
	return s
}

// start starts the server, at the addresses that it had before, and waits until it listens.
func (s *cmsServer) start() {
	s.t.Helper()
	cmd := s.command(append([]string{"serve", "-addr", s.page, "-api", s.api, "-preview",
		s.preview}, s.flags...)...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s.t.Cleanup(s.kill)
	lines := bufio.NewScanner(stdout)
	for _, address := range []*string{&s.page, &s.api, &s.preview} {
		at, ok := "", false
		for !ok { // other lines come before
			require.True(s.t, lines.Scan(), lines.Err())
			_, at, ok = strings.Cut(lines.Text(), "http://")
		}
		*address = strings.Trim(at, "/")
	}
}

// command returns a command of the program with the server's file.
func (s *cmsServer) command(args ...string) *exec.Cmd {
	s.t.Helper()
	program, err := cmsProgram()
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), program, append(args, "-db", s.db)...)
	cmd.Env = append(append(os.Environ(), "PAWL_MODEL=standin"), s.env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// contents returns the pages with how many sections they have, and the entries: "home 1",
// "hello-world".
func (s *cmsServer) contents() (all []string) {
	s.t.Helper()
	text, err := s.command("export").Output()
	require.NoError(s.t, err)
	var site struct {
		Pages    []struct{ ID, Slug string }
		Sections []struct {
			Page string `json:"page_id"`
		} `json:"page_sections"`
		Entries []struct{ Slug string } `json:"collection_entries"`
	}
	require.NoError(s.t, json.Unmarshal(text, &site))
	sections := make(map[string]int)
	for _, section := range site.Sections {
		sections[section.Page]++
	}
	for _, p := range site.Pages {
		all = append(all, fmt.Sprint(p.Slug, " ", sections[p.ID]))
	}
	for _, e := range site.Entries {
		all = append(all, e.Slug)
	}
	slices.Sort(all)
	return all
}

// get returns what one of the servers answers.
func (s *cmsServer) get(host, path string) string {
	s.t.Helper()
	resp, err := http.Get("http://" + host + path)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	return string(body)
}

// facts returns the kinds of what is in the journal of a session. A call that can't be repeated
// begins with "tool_started once".
func (s *cmsServer) facts(session string) (kinds []string) {
	s.t.Helper()
	text, err := s.command("history", "-json", "-session", session).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 2 {
		return nil // there is no such session
	}
	require.NoError(s.t, err)
	for line := range strings.Lines(string(text)) {
		var fact struct {
			Kind string
			Data struct{ Repeatable bool }
		}
		require.NoError(s.t, json.Unmarshal([]byte(line), &fact))
		if fact.Kind == "tool_started" && !fact.Data.Repeatable {
			fact.Kind += " once"
		}
		kinds = append(kinds, fact.Kind)
	}
	return kinds
}
