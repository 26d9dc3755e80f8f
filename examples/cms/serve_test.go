package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/cms/internal/model"
	"github.com/pawlkit/pawl/stream/sse"
)

// A serving is the program, which serves in this process.
type serving struct {
	*bench
	at   map[string]string // the addresses of page, api and preview
	logs *locked
	stop func()
}

// A locked is a buffer for several goroutines.
type locked struct {
	mu    sync.Mutex // guards what follows
	buf   bytes.Buffer
	until string // if it was written, there is closed
	there chan struct{}
}

// wait returns a channel that is closed once a text was written.
func (l *locked) wait(text string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until, l.there = text, make(chan struct{})
	return l.there
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.buf.Write(b)
	if l.there != nil && strings.Contains(l.buf.String(), l.until) {
		close(l.there)
		l.there = nil
	}
	return n, err
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// serving starts the program, with a model that env names, at free ports.
func (b *bench) serving(env func(string) string) *serving {
	b.t.Helper()
	s := &serving{bench: b, at: map[string]string{}, logs: &locked{}}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"-db", b.db, "-addr", "0", "-api", "0", "-preview", "0"}
		ended <- run(ctx, args, env, strings.NewReader(""), w, s.logs)
		w.Close()
	}()
	s.stop = sync.OnceFunc(func() {
		cancel()
		require.Zero(b.t, <-ended, s.logs.String())
		http.DefaultClient.CloseIdleConnections()
	})
	b.t.Cleanup(s.stop)
	said := ""
	for next := make([]byte, 1); !strings.Contains(said, "ends the program"); said += string(next) {
		_, err := r.Read(next)
		require.NoError(b.t, err, s.logs.String())
	}
	go io.Copy(io.Discard, r)
	lines := strings.Split(said, "\n")
	for _, line := range lines[1:4] {
		name, address, _ := strings.Cut(line, " ")
		s.at[name] = strings.TrimSpace(address)
	}
	s.at["about"] = lines[0]
	return s
}

// get returns the status and the text of an answer.
func (s *serving) get(address string, header ...string) (int, string) {
	s.t.Helper()
	return s.ask(http.MethodGet, address, nil, header...)
}

func (s *serving) ask(method, address string, body any, header ...string) (int, string) {
	s.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(s.t, err)
	req, err := http.NewRequestWithContext(s.t.Context(), method, address, bytes.NewReader(raw))
	require.NoError(s.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, string(text)
}

const contents = "v1/teams/t/sites/s/environments/e/"

func TestThePageHasTheAPIAndForeignPagesHaveNothing(t *testing.T) {
	t.Parallel()
	s := newBench(t).serving(noKeys)
	require.Equal(t, model.About, s.at["about"], "the first line")
	for _, address := range []string{s.at["page"], s.at["api"], s.at["page"] + "assistant/",
		s.at["preview"], s.at["page"] + contents + "pages", s.at["api"] + contents + "pages",
		s.at["page"] + "api/elements", strings.Replace(s.at["page"], "localhost", "127.0.0.1", 1)} {
		code, text := s.get(address)
		require.Equal(t, http.StatusOK, code, "%s: %s", address, text)
	}
	_, config := s.get(s.at["page"] + "assistant/cms/config")
	require.Contains(t, config, "This stand-in is a script", "the page says it, too")
	for _, door := range []string{"page", "api", "preview"} {
		code, _ := s.get(s.at[door], "Host", "evil.example:80")
		require.Equal(t, http.StatusForbidden, code, door)
		code, _ = s.get(s.at[door], "Origin", "https://evil.example")
		require.Equal(t, http.StatusForbidden, code, door)
	}
	page := strings.TrimSuffix(s.at["page"], "/")
	for _, origin := range []string{page, strings.Replace(page, "localhost", "127.0.0.1", 1)} {
		code, text := s.ask(http.MethodPost, s.at["api"]+contents+"pages", map[string]string{"name": origin[7:12]},
			"Origin", origin)
		require.Equal(t, http.StatusCreated, code, text)
	}
	code, _ := s.get(s.at["preview"]+"pages/home", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate",
		"Sec-Fetch-Dest", "iframe")
	require.Equal(t, http.StatusOK, code, "the page shows it in a frame")
}

func TestAllPortsThatAreTakenAreNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var addresses []string
	for range 2 {
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer taken.Close()
		addresses = append(addresses, taken.Addr().String())
	}
	o := b.must(2, "-addr", addresses[0], "-api", "0", "-preview", addresses[1])
	for i, door := range []string{"page (-addr)", "preview (-preview)"} {
		require.Contains(t, o.err, "the "+door+": listen tcp "+addresses[i]+": bind: address already in use")
	}
	require.NotContains(t, o.err, "-api")
	require.Contains(t, o.err, "0 is any free port")
}

// What the disk does wrong is said in words, to the page too, and the cause is in the log.
func TestAFileThatIsGoneOrCantBeWrittenIsSaidInWords(t *testing.T) {
	t.Parallel()
	gone := newBench(t).serving(noKeys)
	for _, name := range []string{gone.db, gone.db + "-wal", gone.db + "-shm"} {
		require.NoError(t, os.Remove(name))
	}
	for door, path := range map[string]string{"page": contents + "pages", "api": contents + "media",
		"preview": "pages/home"} {
		code, text := gone.get(gone.at[door] + path)
		require.GreaterOrEqual(t, code, 500, "%s: %s", door, text)
		require.Contains(t, text, "was deleted or replaced while it was open", door)
	}
	code, text := gone.ask(http.MethodPost, gone.at["page"]+"assistant/sessions/send",
		map[string]any{"session": "s-1", "text": "list pages"})
	require.Equal(t, http.StatusServiceUnavailable, code)
	require.Contains(t, text, "was deleted or replaced while it was open", "the chat says it")
	require.GreaterOrEqual(t, strings.Count(gone.logs.String(), "level=ERROR"), 3, gone.logs.String())

	if os.Getuid() == 0 {
		t.Skip("root may write a file that is read-only")
	}
	fixed := newBench(t)
	require.NoError(t, os.Chmod(fixed.db, 0o400))
	require.Contains(t, fixed.must(1, "-addr", "0", "-api", "0", "-preview", "0").err, "can't be written")
}

func TestServeOpensABrowserAndDrainsOnSIGTERM(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("another program opens a browser there")
	}
	b := newBench(t)
	cmd := b.process("", "-open", "-addr", "0", "-api", "0", "-preview", "0")
	opened := filepath.Join(t.TempDir(), "opened")
	require.NoError(t, exec.Command("mkfifo", opened).Run())
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(opened), "xdg-open"),
		[]byte("#!/bin/sh\nprintf %s \"$1\" >"+opened), 0o755))
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(opened))
	h := b.start(cmd, "ends the program")
	address, err := os.ReadFile(opened)
	require.NoError(t, err)
	res, err := http.Get(string(address))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, h.Process.Signal(syscall.SIGTERM))
	require.Zero(t, h.ended(), h.err.String())
}

// A model behind OpenAI's API edits the site over HTTP, as the page does: a call, a question, a
// decision, an answer.
func TestAModelBehindOpenAIsAPIEditsTheSite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	writes := newScripted(t, map[string][]reply{"clean up": {
		{tool: "cms.createPage", input: map[string]any{"name": "About"}},
		{tool: "cms.createPage", input: map[string]any{"name": "About", "slug": "about"}},
		{tool: "cms.createPage", input: map[string]any{"name": "About", "slug": "about-us"}},
		{tool: "cms.deletePage", input: map[string]any{"page": "about"}},
		{text: "The page About us is there, and the old one is gone."}}})
	s := b.serving(writes.env)
	require.Equal(t, "The model is openai scripted at "+strings.TrimPrefix(writes.URL, "http://")+".", s.at["about"])
	code, text := s.ask(http.MethodPost, s.at["page"]+"assistant/sessions/send",
		map[string]any{"session": "s-1", "text": "Please clean up.", "mode": "cms-crud"})
	require.Equal(t, http.StatusAccepted, code, text)
	said, statuses := "", []string{}
	res, err := http.Get(s.at["page"] + "assistant/events?session=s-1")
	require.NoError(t, err)
	defer res.Body.Close()
	events := sse.NewReader(res.Body, 0)
	for decided, over := false, false; !over; {
		raw, err := events.Next()
		require.NoError(t, err)
		ev, err := agent.UnmarshalEvent(raw.Data)
		require.NoError(t, err)
		switch ev := ev.(type) {
		case *agent.Replied:
			said = ev.Message.Text()
		case *agent.ToolFinished:
			statuses = append(statuses, string(ev.Result.Status))
		case *agent.Suspended:
			require.False(t, decided)
			decided = true
			require.Contains(t, ev.Pause.Title, "about")
			code, text := s.ask(http.MethodPost, s.at["page"]+"assistant/sessions/decide", map[string]any{
				"session": "s-1", "decisions": []any{map[string]string{"id": ev.Pause.ID, "decision": "approve"}}})
			require.Less(t, code, 300, text)
		case *agent.RunEnded:
			over = ev.Status == agent.Completed
		}
	}
	require.Equal(t, "The page About us is there, and the old one is gone.", said)
	require.Equal(t, []string{"ok", "failed", "ok", "ok"}, statuses, "the taken address was corrected")
	require.Contains(t, b.pages(), "about-us")
	require.NotContains(t, b.pages(), "about")
	first := writes.asked()[0]
	require.Equal(t, "system", first[0].Role)
	require.Contains(t, first[0].text(), systemText("cms-crud"))
}
