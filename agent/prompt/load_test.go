package prompt_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

// product returns a prompt with all layers.
func product() (fstest.MapFS, prompt.Config) {
	return mem(
			"core/identity.md", "You are {{name}}.\n",
			"core/rules.md", "<rules>\n{{> parts.md#rule}}\n</rules>\n",
			"modes/crud.md", "Change, in {{steps}} steps.\n",
			"modes/ask.md", "Explain, in {{steps}} steps.\n",
			"parts.md",
			"{{#rule}}\nBe exact.\n{{/rule}}\n{{#loop}}\nThink, act, observe; {{steps}} times.\n{{/loop}}\n",
			"runtime.md", "Task: {{task}}\nFor {{name}}\n",
			"notes.md", "{{notes}}\n",
		), prompt.Config{
			Core: []string{"core/identity.md", "core/rules.md"},
			Modes: []prompt.Mode{
				{Name: "crud", Sections: []string{"modes/crud.md", "parts.md#loop"},
					Vars: map[string]string{"steps": "10"}},
				{Name: "ask", Sections: []string{"modes/ask.md", "parts.md#loop"},
					Vars: map[string]string{"steps": "6"}},
				{Name: "plain"},
			},
			Runtime: []string{"runtime.md", "notes.md"},
			Vars:    map[string]string{"name": "Pawl"}, RuntimeVars: []string{"task", "notes"},
		}
}

func TestTheCoreIsBeforeTheMode(t *testing.T) {
	fsys, cfg := product()
	s := load(t, fsys, cfg)
	const first = "You are Pawl.\n\n<rules>\nBe exact.\n</rules>"
	require.Equal(t, first, s.Core())
	for mode, own := range map[string]string{
		"crud": "Change, in 10 steps.\n\nThink, act, observe; 10 times.",
		"ask":  "Explain, in 6 steps.\n\nThink, act, observe; 6 times.",
	} {
		got, err := s.Mode(mode)
		require.NoError(t, err)
		require.Equal(t, own, got)
		require.Equal(t, first+"\n\n"+own, compose(t, s, mode))
	}
	require.Equal(t, first, compose(t, s, "plain"))
}

func TestWithoutModesTheCoreIsTheSystemText(t *testing.T) {
	s := load(t, mem("a.md", "core"), prompt.Config{Core: []string{"a.md"}})
	require.Equal(t, "core", compose(t, s, ""))
	_, err := s.Compose("x")
	require.EqualError(t, err, `prompt: there is no mode "x"; there are none`)
	_, err = s.Mode("")
	require.Error(t, err)
}

func TestAModeThatDoesNotExistIsAnErrorThatListsThem(t *testing.T) {
	fsys, cfg := product()
	s := load(t, fsys, cfg)
	for _, get := range []func(string) (string, error){s.Compose, s.Mode} {
		text, err := get("crdu")
		require.Empty(t, text)
		require.EqualError(t, err, `prompt: there is no mode "crdu"; there are "crud", "ask", "plain"`)
		_, err = get("")
		require.Error(t, err)
	}
}

func TestTheRuntimeLayerHasTheValuesOfTheCall(t *testing.T) {
	fsys, cfg := product()
	s := load(t, fsys, cfg)
	text, err := s.Runtime(map[string]string{"task": "a\xffb", "notes": ""})
	require.NoError(t, err)
	require.Equal(t, "Task: a\uFFFDb\nFor Pawl", text, "an empty section is left out")

	text, err = s.Runtime(map[string]string{"tsk": "x", "notes": "n", "name": "N"})
	require.Empty(t, text)
	require.Equal(t, []string{
		`prompt: there is no runtime variable "name"; there are "task", "notes"`,
		`prompt: there is no runtime variable "tsk"; there are "task", "notes"`,
		`prompt: runtime.md:1: the variable {{task}} has no value; pass one to Runtime, which may be empty`,
	}, strings.Split(err.Error(), "\n"))
	_, err = s.Runtime(nil)
	require.Error(t, err)
}

func TestAMissingSectionIsAnErrorOfLoad(t *testing.T) {
	fsys, cfg := product()
	cfg.Core[0] = "core/identty.md"
	cfg.Modes[1].Sections[1] = "parts.md#lop"
	cfg.Runtime = append(cfg.Runtime, "../secret")
	cfg.Runtime = append(cfg.Runtime, "no/such/file")
	_, err := prompt.Load(fsys, cfg)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.Equal(t, []string{
		`prompt: Config.Core[0] names "core/identty.md", and there is no such file`,
		`prompt: Config.Modes[1].Sections[1] names "parts.md#lop", and the file has no part "lop"; its parts are "rule", "loop"`,
		`prompt: Config.Runtime[2] names "../secret"; a path begins at the root of the file system, without / and without ..`,
		`prompt: Config.Runtime[3] names "no/such/file", and there is no such file`,
	}, strings.Split(err.Error(), "\n"))
}

func TestAVariableOfALaterLayerIsRejectedInAnEarlierOne(t *testing.T) {
	fsys, cfg := product()
	fsys["core/rules.md"].Data = []byte("{{> modes/ask.md}}")
	fsys["modes/crud.md"].Data = []byte("Now {{task}}")
	fsys["runtime.md"].Data = []byte("{{steps}}")
	delete(cfg.Modes[1].Vars, "steps")
	_, err := prompt.Load(fsys, cfg)
	require.Error(t, err)
	require.Equal(t, []string{
		`prompt: modes/ask.md:1: the variable {{steps}} has no value in the core, which is the same for all modes and at all times; there are {{name}}, {{notes}}, {{steps}}, {{task}}`,
		`prompt: modes/ask.md:1: the variable {{steps}} has no value in the mode "ask"; there are {{name}}, {{notes}}, {{steps}}, {{task}}`,
		`prompt: modes/crud.md:1: the variable {{task}} changes from call to call, and would invalidate the prompt cache in the mode "crud"; use it only in the runtime layer`,
		`prompt: parts.md:5: the variable {{steps}} has no value in the mode "ask"; there are {{name}}, {{notes}}, {{steps}}, {{task}}`,
		`prompt: runtime.md:1: the variable {{steps}} has no value in the runtime layer; there are {{name}}, {{notes}}, {{steps}}, {{task}}`,
	}, strings.Split(err.Error(), "\n"))
}

func TestAnInvalidConfigIsRejected(t *testing.T) {
	for want, change := range map[string]func(*prompt.Config){
		"the Config has no sections": func(c *prompt.Config) {
			*c = prompt.Config{}
		},
		"Config.Modes[0] has no name": func(c *prompt.Config) {
			c.Modes[0].Name = ""
		},
		`two modes are named "ask"`: func(c *prompt.Config) {
			c.Modes[0].Name = "ask"
		},
		`the variable "task" is in Config.RuntimeVars and in another place`: func(c *prompt.Config) {
			c.Vars["task"] = ""
		},
		`the variable "steps" is in Config.Modes[0].Vars and in another place`: func(c *prompt.Config) {
			c.Vars["steps"] = ""
		},
		`the variable "steps" is in Config.RuntimeVars and in another place`: func(c *prompt.Config) {
			c.RuntimeVars = append(c.RuntimeVars, "steps")
		},
		`Config.Core[0] names ""; a path`:  func(c *prompt.Config) { c.Core[0] = "" },
		`Config.Core[0] names "."; a path`: func(c *prompt.Config) { c.Core[0] = "." },
	} {
		fsys, cfg := product()
		change(&cfg)
		s, err := prompt.Load(fsys, cfg)
		require.Nil(t, s)
		require.ErrorContains(t, err, want)
	}
}

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { panic("broken") }

func TestNothingPanics(t *testing.T) {
	_, err := prompt.Load(nil, prompt.Config{Core: []string{"a.md"}})
	require.ErrorContains(t, err, "the file system is nil")
	_, err = prompt.Load(brokenFS{}, prompt.Config{Core: []string{"a.md"}})
	require.EqualError(t, err, "prompt: a.md: reading it panicked: broken")
	_, err = prompt.Load((*fstest.MapFS)(nil), prompt.Config{Core: []string{"a.md"}})
	require.ErrorContains(t, err, "panicked")
	for _, s := range []*prompt.Set{nil, {}} {
		require.Empty(t, s.Core())
		require.Empty(t, s.Version())
		require.Empty(t, compose(t, s, ""))
		for _, get := range []func(string) (string, error){s.Mode, s.Compose} {
			_, err := get("x")
			require.Error(t, err)
		}
		text, err := s.Runtime(nil)
		require.NoError(t, err)
		require.Empty(t, text)
		_, err = s.Runtime(map[string]string{"x": ""})
		require.Error(t, err)
	}
}

func TestFilesThatIncludeEachOtherManyTimesEnd(t *testing.T) {
	fsys := mem("0.md", strings.Repeat("x", 1000))
	for i := 1; i < 100; i++ {
		fsys[fmt.Sprintf("%d.md",
			i)] = &fstest.MapFile{Data: []byte(strings.Repeat(fmt.Sprintf("{{> %d.md}}", i-1), 10))}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := prompt.Load(fsys, prompt.Config{Core: []string{"99.md"}})
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20))
	require.EqualError(t, err, "prompt: all sections with their includes have more than 4194304 bytes; "+
		"is one included many times?")
}

func TestAnErrorIsReportedOnce(t *testing.T) {
	_, err := prompt.Load(mem("a.md", "{{#p}}{{> no.md}}{{/p}} {{x}}{{run}}"), prompt.Config{
		Core: []string{"a.md", "a.md"}, RuntimeVars: []string{"run"},
	})
	require.Len(t, strings.Split(err.Error(), "\n"), 3, "%v", err)
	s := load(t, mem("a.md", "{{a}}{{b}}", "b.md", "{{a}}"),
		prompt.Config{Runtime: []string{"a.md", "b.md"}, RuntimeVars: []string{"a", "b"}})
	_, err = s.Runtime(nil)
	require.Len(t, strings.Split(err.Error(), "\n"), 2, "%v", err)
}

func TestAModeKeepsItsFirstLinesWithoutACore(t *testing.T) {
	s, err := prompt.Load(mem("m.md", "{{x}}"), prompt.Config{
		Modes: []prompt.Mode{{Name: "m", Sections: []string{"m.md"}, Vars: map[string]string{"x": "\n\ntext"}}}})
	require.NoError(t, err)
	own, err := s.Mode("m")
	require.NoError(t, err)
	require.Equal(t, "\n\ntext", own)
}

func TestAConfigMayBeChangedAfterLoad(t *testing.T) {
	fsys, cfg := product()
	cfg.Reload = true
	s := load(t, fsys, cfg)
	want, version := compose(t, s, "crud"), s.Version()
	cfg.Core[0], cfg.Modes[0].Sections[0], cfg.Modes[0].Name, cfg.RuntimeVars[0] = "x", "x", "x", "x"
	cfg.Vars["name"], cfg.Modes[0].Vars["steps"] = "x", "x"
	fsys["runtime.md"] = &fstest.MapFile{Data: []byte("{{task}}!")} // so that everything is compiled again
	require.Equal(t, want, compose(t, s, "crud"))
	require.NotEqual(t, version, s.Version())
}

func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	fsys, cfg := product()
	dir := t.TempDir()
	for name, f := range fsys {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), f.Data, 0o600))
	}
	for i := range 20 { // enough for several iteration orders of a map with 20 variables
		cfg.Vars[fmt.Sprintf("v%d", i)] = "x"
	}
	first := load(t, fsys, cfg)
	for range 20 {
		again := cfg
		again.Vars = maps.Clone(cfg.Vars)
		for _, s := range []*prompt.Set{first, load(t, fsys, again), load(t, os.DirFS(dir), cfg)} {
			require.Equal(t, first.Version(), s.Version())
			for _, mode := range []string{"crud", "ask", "plain"} {
				require.Equal(t, compose(t, first, mode), compose(t, s, mode))
				require.True(t, strings.HasPrefix(compose(t, s, mode), s.Core()))
			}
		}
	}
	require.Regexp(t, "^[0-9a-f]{12}$", first.Version())
}

func TestAnotherTextHasAnotherVersion(t *testing.T) {
	seen := make(map[string]string)
	for name, change := range map[string]func(fstest.MapFS, *prompt.Config){
		"nothing": func(fstest.MapFS, *prompt.Config) {},
		"a core file": func(m fstest.MapFS, _ *prompt.Config) {
			m["core/identity.md"].Data = []byte("You were {{name}}.")
		},
		"a mode file": func(m fstest.MapFS, _ *prompt.Config) {
			m["modes/ask.md"].Data = []byte("Ask, in {{steps}}.")
		},
		"a runtime file": func(m fstest.MapFS, _ *prompt.Config) {
			m["notes.md"].Data = []byte("Notes: {{notes}}")
		},
		"a runtime variable": func(m fstest.MapFS, _ *prompt.Config) { m["notes.md"].Data = []byte("{{task}}") },
		"a runtime section": func(m fstest.MapFS, c *prompt.Config) {
			m["runtime.md"].Data, m["notes.md"].Data = []byte("{{task}}"), []byte("{{notes}}")
		},
		"a runtime section less": func(m fstest.MapFS, c *prompt.Config) {
			m["runtime.md"].Data, c.Runtime = []byte("{{task}}{{notes}}"), []string{"runtime.md"}
		},
		"a variable":        func(_ fstest.MapFS, c *prompt.Config) { c.Vars["name"] = "Ratchet" },
		"a mode's variable": func(_ fstest.MapFS, c *prompt.Config) { c.Modes[0].Vars["steps"] = "11" },
		"the order":         func(_ fstest.MapFS, c *prompt.Config) { c.Core[0], c.Core[1] = c.Core[1], c.Core[0] },
		"a section's layer": func(_ fstest.MapFS, c *prompt.Config) {
			c.Runtime, c.Core = []string{"notes.md"}, append(c.Core, "parts.md#rule")
		},
		"the name of a mode": func(_ fstest.MapFS, c *prompt.Config) { c.Modes[2].Name = "simple" },
		"where sections part": func(_ fstest.MapFS, c *prompt.Config) {
			c.Modes[2].Sections = []string{"parts.md#rule"}
		},
	} {
		fsys, cfg := product()
		change(fsys, &cfg)
		v := load(t, fsys, cfg).Version()
		require.Empty(t, seen[v], name)
		seen[v] = name
	}
	fsys, cfg := product() // a comment is no part of the text
	fsys["core/identity.md"].Data = []byte("{{! author: x }}\nYou are {{name}}.")
	require.Equal(t, "nothing", seen[load(t, fsys, cfg).Version()])
}

type failingFS struct{ error }

func (f failingFS) Open(string) (fs.File, error) { return nil, f.error }

func TestAFileSystemsErrorIsKept(t *testing.T) {
	cause := errors.New("no disk")
	_, err := prompt.Load(failingFS{cause}, prompt.Config{Core: []string{"a.md", "b.md"}})
	require.ErrorIs(t, err, cause)
	require.EqualError(t, err, "prompt: a.md: no disk\nprompt: b.md: no disk")
}
