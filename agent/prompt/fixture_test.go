package prompt_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

// mem returns a file system; the arguments are alternating names and texts.
func mem(namesAndTexts ...string) fstest.MapFS {
	out := make(fstest.MapFS)
	for i := 0; i < len(namesAndTexts); i += 2 {
		out[namesAndTexts[i]] = &fstest.MapFile{Data: []byte(namesAndTexts[i+1])}
	}
	return out
}

// load loads a valid prompt.
func load(t testing.TB, fsys fs.FS, cfg prompt.Config) *prompt.Set {
	t.Helper()
	s, err := prompt.Load(fsys, cfg)
	require.NoError(t, err)
	return s
}

// core returns the core that consists of a file with this text.
func core(t testing.TB, text string) string {
	t.Helper()
	return load(t, mem("a.md", text, "b.md", "included\n"),
		prompt.Config{Core: []string{"a.md"}, Vars: map[string]string{"x": "X"}}).Core()
}

// compose composes the text of an existing mode.
func compose(t testing.TB, s *prompt.Set, mode string) string {
	t.Helper()
	text, err := s.Compose(mode)
	require.NoError(t, err)
	return text
}

// An edited is a file system whose files change while it is read.
type edited struct {
	mu    sync.Mutex
	files fstest.MapFS
	// opened, if set, is called before a file is opened, without the lock held.
	opened func(name string)
}

func edit(namesAndTexts ...string) *edited { return &edited{files: mem(namesAndTexts...)} }

func (e *edited) Open(name string) (fs.File, error) {
	e.mu.Lock()
	opened := e.opened
	e.mu.Unlock()
	if opened != nil {
		opened(name)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.files.Open(name)
}

func (e *edited) set(name, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[name] = &fstest.MapFile{Data: []byte(text)}
}

func (e *edited) remove(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.files, name)
}

// A diary is a logger that stores the messages.
type diary struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.buf.Write(p)
}

func (d *diary) logger() *slog.Logger { return slog.New(slog.NewTextHandler(d, nil)) }

// lines returns the messages since the last call.
func (d *diary) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := strings.TrimSpace(d.buf.String())
	d.buf.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
