package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/coder/internal/coding"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

type m = map[string]any

// A program is the program over one folder, which may be started several times.
type program struct {
	t       *testing.T
	dir, db string
	model   provider.Provider
}

func newProgram(t *testing.T, model provider.Provider) *program {
	t.Helper()
	at, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &program{t: t, dir: filepath.Join(at, "project"), db: filepath.Join(at, "db", "runs.db"), model: model}
	require.NoError(t, os.Mkdir(p.dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(p.dir, "go.mod"), []byte("module shop\n\ngo 1.24\n"), 0o644))
	return p
}

// options returns those of a start.
func (p *program) options(args ...string) options {
	p.t.Helper()
	o, err := readOptions(append([]string{"-dir", p.dir, "-db", p.db}, args...), os.Stderr)
	require.NoError(p.t, err)
	if o.scripted = p.model; p.model == nil {
		o.scripted = providertest.Script()
	}
	return o
}

// start starts the program with an input, and returns its exit code and what it has printed.
func (p *program) start(in io.Reader, args ...string) (code int, out, errs string) {
	p.t.Helper()
	o := p.options(args...)
	var b, e bytes.Buffer
	code, err := o.start(p.t.Context(), func(string) string { return "" }, in, &b, &e)
	if err != nil {
		e.WriteString(err.Error())
		code = max(code, 1)
	}
	return code, b.String(), e.String()
}

// run starts it without an input.
func (p *program) run(args ...string) (code int, out, errs string) {
	p.t.Helper()
	return p.start(strings.NewReader(""), args...)
}

// open opens the folder as the program does, for a look between two starts.
func (p *program) open() *coding.Coder {
	p.t.Helper()
	o := p.options()
	c, err := o.open("", func(string) string { return "" }, io.Discard)
	require.NoError(p.t, err)
	return c
}

func write(name string) providertest.Step {
	return providertest.Call("file.write", m{"path": name, "content": "package shop\n"})
}

// say is a script of steps and texts.
func say(steps ...any) provider.Provider {
	var list []providertest.Step
	for _, s := range steps {
		if text, ok := s.(string); ok {
			s = providertest.Say(text)
		}
		list = append(list, s.(providertest.Step))
	}
	return providertest.Script(list...)
}
