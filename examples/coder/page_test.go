package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A screen is what is printed.
type screen struct {
	printed chan string
	all     string
}

func newScreen() *screen { return &screen{printed: make(chan string, 1000)} }

func (s *screen) Write(p []byte) (int, error) {
	s.printed <- string(p)
	return len(p), nil
}

// shows waits for something that is printed, and returns it.
func (s *screen) shows(t *testing.T, pattern string) string {
	t.Helper()
	for re := regexp.MustCompile(pattern); ; {
		if found := re.FindString(s.all); found != "" {
			return found
		}
		select {
		case text := <-s.printed:
			s.all += text
		case <-t.Context().Done():
			require.Fail(t, "it isn't shown", "%s: %s", pattern, s.all)
		}
	}
}

// A site is the page of a program as a browser uses it.
type site struct {
	t  *testing.T
	at string
}

func (s site) get(path string, into any) {
	s.t.Helper()
	res, err := http.Get(s.at + path)
	require.NoError(s.t, err)
	defer res.Body.Close()
	require.Equal(s.t, http.StatusOK, res.StatusCode)
	require.NoError(s.t, json.NewDecoder(res.Body).Decode(into))
}

func (s site) post(path, origin string, body any) int {
	s.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.at+path, bytes.NewReader(raw))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// pending returns the ids of what waits.
func (s site) pending(session string) (ids []string) {
	s.t.Helper()
	var body struct{ Pending []struct{ ID string } }
	s.get("sessions/pending?session="+session, &body)
	for _, p := range body.Pending {
		ids = append(ids, p.ID)
	}
	require.NotEmpty(s.t, ids)
	return ids
}

var address = `http://127\.0\.0\.1:\d+/`

// What the terminal asks is answered on the page, and both show it; pages of others get nothing.
func TestAnApprovalThatTheTerminalAsksIsGivenOnThePage(t *testing.T) {
	p := newProgram(t, say(write("a.go"), "Done."))
	ctx, stop := context.WithCancel(t.Context())
	in, type_ := io.Pipe()
	out := newScreen()
	o := p.options("-web", "-addr", "127.0.0.1:0", "-session", "s-1")
	var working sync.WaitGroup
	working.Go(func() {
		code, err := o.start(ctx, func(string) string { return "" }, in, out, io.Discard)
		require.NoError(t, err)
		require.Zero(t, code)
	})
	defer working.Wait()
	defer http.DefaultClient.CloseIdleConnections()
	defer stop()
	defer type_.Close()
	page := site{t, out.shows(t, address)}
	_, err := io.WriteString(type_, "Do it.\n")
	require.NoError(t, err)
	out.shows(t, "Approval needed")
	ids := page.pending("s-1")
	decision := m{"session": "s-1", "decisions": []m{{"id": ids[0], "decision": "approve"}}}
	require.Equal(t, http.StatusForbidden, page.post("sessions/decide", "http://example.com", decision))
	require.Equal(t, http.StatusAccepted, page.post("sessions/decide", strings.TrimSuffix(page.at, "/"), decision))
	out.shows(t, "Done.")
	require.FileExists(t, filepath.Join(p.dir, "a.go"))
}

func TestThePageIsOfThisComputerAlone(t *testing.T) {
	code, _, errs := newProgram(t, nil).run("-web", "-addr", "0.0.0.0:0")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "isn't an address of this computer")
	code, _, errs = newProgram(t, nil).run("-web", "-addr", "nowhere")
	require.Equal(t, 2, code)
	require.Contains(t, errs, "nowhere")
}
