package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/machine"
)

// holdFiles keeps every change of a file waiting, as another process at work in the folder does.
func (w *world) holdFiles() (release func()) {
	w.t.Helper()
	f, err := os.Open(w.dir)
	require.NoError(w.t, err)
	require.NoError(w.t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	return func() { _ = f.Close() }
}

// holdDB keeps everything that is recorded waiting, as another writer does.
func (w *world) holdDB() (release func()) {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.db+"?_pragma=busy_timeout(10000)&_txlock=immediate")
	require.NoError(w.t, err)
	tx, err := db.Begin()
	require.NoError(w.t, err)
	return func() {
		_ = tx.Rollback()
		_ = db.Close()
	}
}

// A stop is a place in an answer of the model where it waits, once.
type stop struct {
	reached chan struct{}
	used    atomic.Bool
}

func newStop() *stop { return &stop{reached: make(chan struct{})} }

// hold waits for the end of the connection the first time.
func (s *stop) hold(r *http.Request) bool {
	if s.used.Swap(true) {
		return true
	}
	close(s.reached)
	<-r.Context().Done()
	return false
}

const (
	goMod = "module example.com/shop\n\ngo 1.24\n"
	a1    = "package shop\n\n// A is one.\nconst A = 1\n"
	a2    = "package shop\n\n// A is two.\nconst A = 2\n"
	b1    = "package shop\n\n// B is one.\nconst B = 1\n"
)

func shop() map[string]string {
	return map[string]string{"go.mod": goMod, "a.go": a1}
}

var (
	change = use("file.edit", m{"path": "a.go", "old": "A is one.\nconst A = 1", "new": "A is two.\nconst A = 2"})
	create = use("file.write", m{"path": "b.go", "content": b1})
	commit = use("run", m{"program": "git", "args": []string{"commit", "-am", "two"}})
	tests  = use("run", m{"program": "go", "args": []string{"test", "-count=1", "./..."}})
	pay    = use("shop.pay", m{"why": "it is due"})
	look   = use("shop.look", m{})
)

// once requires that the model has been given one result for each call, with this status for each
// tool, and that no pause was decided twice.
func (w *world) once(want map[string]int) {
	w.t.Helper()
	got := make(map[string]int)
	calls, decided := make(map[string]bool), make(map[string]bool)
	for session, facts := range w.facts() {
		for _, f := range facts {
			switch f := f.(type) {
			case *agent.ToolFinished:
				key := session + f.Run() + f.Call.ID
				require.False(w.t, calls[key], "%s has two results", f.Call.Name)
				calls[key] = true
				if f.Result.Status.Good() {
					got[f.Call.Name]++
				}
			case *machine.Decided:
				require.False(w.t, decided[f.Decision.ID], "%s is decided twice", f.Decision.ID)
				decided[f.Decision.ID] = true
			}
		}
	}
	require.Equal(w.t, want, got)
}

// A killing is a moment at which the program is killed.
type killing struct {
	name  string
	mode  string
	turns func(k *killed) []turn
	// first leads the first process to the moment, and second the next one, which has been started,
	// to the end.
	first  func(k *killed)
	second func(k *killed)
	once   map[string]int // calls with a good result
	commit string         // subjects of git log
	a, b   string         // the files at the end; "": none
}

// A killed is the world of a killing.
type killed struct {
	*world
	c    *child
	stop *stop
	free []func() // what was held
}

// stopped waits until the model's answer is held.
func (k *killed) stopped() {
	k.t.Helper()
	select {
	case <-k.stop.reached:
	case <-k.c.done:
		require.Fail(k.t, "it has ended", k.c.text())
	}
}

func (k *killed) file(name string) string { return filepath.Join(k.at, name) }

// lines counts those of a file beside the folder.
func (k *killed) lines(name string) int {
	text, _ := os.ReadFile(k.file(name))
	return strings.Count(string(text), "\n")
}

// dead waits for the end of the processes whose numbers are in files beside the folder.
func (k *killed) dead(names ...string) {
	k.t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(k.file(name))
		require.NoError(k.t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(k.t, err)
		until(k.t, name+" "+string(text)+" ends", func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

// begun reports whether a call was begun, after the decision about it if there was one.
func (k *killed) begun() bool {
	for _, facts := range k.facts() {
		for _, f := range facts {
			if _, ok := f.(*machine.ToolStarted); ok {
				return true
			}
		}
	}
	return false
}

// leased reports whether a process has the session.
func (k *killed) leased() bool {
	store, err := sqlite.Open(k.db, sqlite.Config{})
	require.NoError(k.t, err)
	defer func() { require.NoError(k.t, store.Close()) }()
	head, err := store.Head(k.t.Context(), "s-1")
	require.NoError(k.t, err)
	return head.Owner != ""
}

// slowTest is a test of the folder that waits for a file, and says which process it is.
func slowTest(at string) string {
	return fmt.Sprintf(`package shop

import (
	"os"
	"strconv"
	"testing"
	"time"
)

func TestSlow(t *testing.T) {
	_ = os.WriteFile("%[1]s/test.pid", []byte(strconv.Itoa(os.Getpid())), 0o644)
	for range 60_000 {
		if _, err := os.Stat("%[1]s/gate"); err == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
`, at)
}

var killings = []killing{
	{name: "at an approval", turns: func(k *killed) []turn {
		return []turn{change, say1("It is all done now.")}
	},
		first:  func(k *killed) { k.c.sees("[?]") },
		second: func(k *killed) { k.c.sees("[?]").says("approve").sees("It is all done now.") },
		once:   map[string]int{"file.edit": 1}, a: a2},

	{name: "while text streams", turns: func(k *killed) []turn {
		return []turn{create, {text: "It is all done now.", held: k.stop.hold}}
	}, mode: "edits",
		first:  func(k *killed) { k.c.sees("It is all"); k.stopped() },
		second: func(k *killed) { k.c.sees("It is all done now.") },
		once:   map[string]int{"file.write": 1}, a: a1, b: b1},

	{name: "in a tool that reads", turns: func(k *killed) []turn {
		return []turn{create, look, say1("It is all done now.")}
	}, mode: "edits",
		first: func(k *killed) { until(k.t, "the tool begins", func() bool { return k.lines("looked") == 1 }) },
		second: func(k *killed) {
			until(k.t, "the tool begins again, unasked", func() bool { return k.lines("looked") == 2 })
			k.openGate()
			k.c.sees("It is all done now.")
		},
		once: map[string]int{"file.write": 1, "shop.look": 1}, a: a1, b: b1},

	{name: "between the write of a file and its record", turns: func(k *killed) []turn {
		return []turn{create, say1("It is all done now.")}
	},
		first: func(k *killed) {
			files := k.holdFiles()
			k.c.sees("[?]").says("approve")
			until(k.t, "the call begins", k.begun)
			k.free = append(k.free, k.holdDB())
			files()
			until(k.t, "it is written", func() bool { return exists(filepath.Join(k.dir, "b.go")) })
		},
		second: func(k *killed) { k.c.sees("It is all done now.") },
		once:   map[string]int{}, a: a1, b: b1}, // the second one finds the file

	{name: "between an edit and its record", turns: func(k *killed) []turn {
		return []turn{change, say1("It is all done now.")}
	},
		first: func(k *killed) {
			files := k.holdFiles()
			k.c.sees("[?]").says("approve")
			until(k.t, "the call begins", k.begun)
			k.free = append(k.free, k.holdDB())
			files()
			until(k.t, "it is written", func() bool { return k.read("a.go") == a2 })
		},
		// An edit can't be repeated, so the person is asked. The second one doesn't fit any more.
		second: func(k *killed) { k.c.sees("[a] run it again").says("a").sees("It is all done now.") },
		once:   map[string]int{}, a: a2},

	{name: "in go test", turns: func(k *killed) []turn {
		return []turn{change, tests, say1("It is all done now.")}
	}, mode: "auto",
		first: func(k *killed) { until(k.t, "the test begins", func() bool { return exists(k.file("test.pid")) }) },
		second: func(k *killed) {
			k.c.sees("Ended what programs had left behind")
			k.dead("test.pid")
			k.openGate()
			k.c.sees("[a] run it again").says("a").sees("It is all done now.")
		},
		once: map[string]int{"file.edit": 1, "run": 1}, a: a2},

	{name: "right after the decision", turns: func(k *killed) []turn {
		return []turn{change, say1("It is all done now.")}
	},
		first: func(k *killed) {
			k.free = append(k.free, k.holdFiles())
			k.c.sees("[?]").says("approve")
			until(k.t, "the call begins", k.begun)
			require.Equal(k.t, a1, k.read("a.go"))
		},
		second: func(k *killed) { k.c.sees("[a] run it again").says("a").sees("It is all done now.") },
		once:   map[string]int{"file.edit": 1}, a: a2},

	{name: "in a compaction", turns: func(k *killed) []turn {
		refused := turn{refuse: true, held: func(*http.Request) bool {
			if !k.stop.used.Swap(true) {
				k.free = append(k.free, k.holdDB())
				close(k.stop.reached)
			}
			return true
		}}
		return []turn{create, use("file.read", m{"path": "long.txt"}), refused}
	}, mode: "edits",
		first:  func(k *killed) { k.stopped() },
		second: func(k *killed) { k.c.sees("It is all done now.") },
		once:   map[string]int{"file.write": 1, "file.read": 1}, a: a1, b: b1},

	{name: "in a call of MCP", turns: func(k *killed) []turn {
		return []turn{pay, say1("It is all done now.")}
	}, mode: "auto",
		first: func(k *killed) {
			k.c.sees("[?]").says("approve")
			until(k.t, "it is paid", func() bool { return k.lines("paid") == 1 })
		},
		second: func(k *killed) {
			k.c.sees("[a] run it again").says("w").says("it is paid").sees("It is all done now.")
			require.Equal(k.t, 1, k.lines("paid"))
		},
		once: map[string]int{"shop.pay": 1}, a: a1},

	{name: "in a node of a plan", turns: func(k *killed) []turn {
		return []turn{use("plan.submit", m{"title": "Two", "why": "it is wanted", "nodes": []m{
			{"id": "one", "worker": "coder", "prompt": "The first part."},
			{"id": "two", "after": []string{"one"}, "worker": "coder", "prompt": "The second part."}}}),
			say1("It is all done now.")}
	},
		first: func(k *killed) {
			k.c.sees("[?]").says("approve")
			k.stopped()
		},
		second: func(k *killed) { k.c.sees("It is all done now.") },
		once:   map[string]int{"file.edit": 1, "file.write": 1, "plan.submit": 1}, a: a2, b: b1},

	{name: "in an undo", turns: func(k *killed) []turn {
		return []turn{change, create, say1("It is all done now.")}
	}, mode: "edits",
		first: func(k *killed) {
			k.c.sees("It is all done now.")
			until(k.t, "the run is let go", func() bool { return !k.leased() })
			k.c.says("/undo").sees("To undo, the newest first:").sees("[?]: ")
			until(k.t, "the trial is let go", func() bool { return !k.leased() })
			files := k.holdFiles()
			k.c.says("yes")
			until(k.t, "the undo begins", k.leased)
			k.free = append(k.free, k.holdDB())
			files()
			until(k.t, "one is undone", func() bool { return !exists(filepath.Join(k.dir, "b.go")) })
		},
		second: func(k *killed) {
			until(k.t, "it is asked", func() bool { // it's refused until the lease of the dead process ends
				k.c.says("/undo")
				time.Sleep(500 * time.Millisecond)
				return strings.Contains(k.c.text(), "[?]: ")
			})
			k.c.says("yes").sees("Undone:")
			until(k.t, "the rest is undone", func() bool { return k.read("a.go") == a1 })
		},
		once: map[string]int{"file.edit": 1, "file.write": 1}, a: a1},

	{name: "in a commit", turns: func(k *killed) []turn {
		return []turn{change, commit, say1("It is all done now.")}
	}, mode: "edits",
		first: func(k *killed) {
			k.c.sees("[?]").says("approve")
			until(k.t, "the hook begins", func() bool { return exists(k.file("hook.pid")) })
		},
		second: func(k *killed) {
			k.dead("hook.pid")
			k.c.sees("[a] run it again").says("w").says("it is committed").sees("It is all done now.")
		},
		once: map[string]int{"file.edit": 1, "run": 1}, a: a2, commit: "two\nfirst"},
}

func (k *killed) openGate() { require.NoError(k.t, os.WriteFile(k.file("gate"), nil, 0o644)) }

// The program is killed at each of these moments, and started again. Nothing is lost, and nothing
// happens twice.
func TestTheProgramIsKilledAt(t *testing.T) {
	for i := range killings {
		t.Run(killings[i].name, func(t *testing.T) {
			if *kills == 0 && i != 0 {
				t.Skip("-kills")
			}
			t.Parallel()
			killings[i].run(t)
		})
	}
}

func (one killing) run(t *testing.T) {
	k := &killed{stop: newStop()}
	var list []turn
	nodes := script(map[string][]turn{
		"The first part.":  {change, {text: "The first part is done.", held: k.stop.hold}},
		"The second part.": {create, say1("The second part is done.")},
	})
	k.world = newWorld(t, shop(), func(messages []said) turn {
		all, _ := json.Marshal(messages)
		switch {
		case strings.Contains(string(all), "The first part.") && !strings.Contains(string(all), "Do it."),
			strings.Contains(string(all), "The second part.") && !strings.Contains(string(all), "Do it."):
			return nodes(messages)
		case one.name == "in a compaction" && k.stop.used.Load() && len(all) < 45_000:
			return say1("It is all done now.")
		}
		return script(map[string][]turn{"Do it.": list})(messages)
	})
	list = one.turns(k)
	k.serve("shop", true, nil)
	switch one.name {
	case "in go test":
		k.write("a_test.go", slowTest(k.at))
	case "in a compaction":
		k.write("long.txt", strings.Repeat("A line of a long file.\n", 2400))
	case "in a commit":
		k.write(".git/hooks/post-commit", "#!/bin/sh\necho $$ > ../hook.pid\n"+
			"while [ -e ../state ]; do sleep 0.01; done\n")
		require.NoError(t, os.Chmod(filepath.Join(k.dir, ".git/hooks/post-commit"), 0o755))
	}
	args := []string{"-session", "s-1"}
	if one.mode != "" {
		args = append(args, "-mode", one.mode)
	}
	k.c = k.start(args...).says("Do it.")
	one.first(k)
	k.c.kill()
	for _, free := range k.free {
		free()
	}
	k.c = k.start("-session", "s-1")
	one.second(k)
	require.Zero(t, k.c.ends(), k.c.text())
	require.NotContains(t, k.c.text(), "There is no more.")
	k.once(one.once)
	require.Equal(t, one.a, k.read("a.go"))
	if one.b == "" {
		require.False(t, exists(filepath.Join(k.dir, "b.go")))
	} else {
		require.Equal(t, one.b, k.read("b.go"))
	}
	want := one.commit
	if want == "" {
		want = "first"
	}
	require.Equal(t, want, k.git("log", "--format=%s"))
}
