package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func do(turns ...turn) func([]said) turn {
	return script(map[string][]turn{"Do it.": append(turns, say1("It is all done now."))})
}

// slow skips a test that takes a while, as the kills do.
func slow(t *testing.T) {
	t.Helper()
	if *kills == 0 {
		t.Skip("-kills")
	}
}

// What a person has approved is what they have seen: if the file has changed since, they are asked
// again, with the new difference.
func TestAFileThatChangesAfterTheQuestionIsAskedAboutAgain(t *testing.T) {
	w := newWorld(t, shop(), do(use("file.edit", m{"path": "a.go", "old": "const A = 1", "new": "const A = 2"})))
	c := w.start("-session", "s-1", "-mode", "ask").says("Do it.").sees("[?]: ")
	mine := strings.Replace(a1, "is one", "is mine", 1)
	w.write("a.go", mine)
	c.says("approve").sees("A is mine").sees("[?]: ")
	require.True(t, c.when(func(shown string) bool { return strings.Count(shown, "[?]: ") == 2 }), c.text())
	require.Equal(t, mine, w.read("a.go"))
	c.says("approve").sees("It is all done now.")
	require.Equal(t, strings.Replace(mine, "= 1", "= 2", 1), w.read("a.go"))
	require.Zero(t, c.ends())
	w.once(map[string]int{"file.edit": 1})
}

func TestALinkThatIsMadeAfterTheQuestionIsntFollowed(t *testing.T) {
	files := shop()
	files["docs/a.md"] = "# A\n"
	w := newWorld(t, files, do(use("file.write", m{"path": "docs/b.md", "content": "# B\n"})))
	outside := filepath.Join(w.at, "outside")
	require.NoError(t, os.Mkdir(outside, 0o755))
	c := w.start("-session", "s-1", "-mode", "ask").says("Do it.").sees("[?]: ")
	require.NoError(t, os.RemoveAll(filepath.Join(w.dir, "docs")))
	require.NoError(t, os.Symlink("../outside", filepath.Join(w.dir, "docs")))
	c.says("approve").sees("It is all done now.")
	require.False(t, exists(filepath.Join(outside, "b.md")))
	require.Zero(t, c.ends())
	w.once(map[string]int{})
}

// What a program has started ends with the call, unless it has made a session of its own.
func TestAProcessInTheBackgroundEndsWithTheCall(t *testing.T) {
	slow(t)
	files := shop()
	files["a_test.go"] = `package shop

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func TestLeave(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile("../sleep.pid", []byte(strconv.Itoa(cmd.Process.Pid)), 0o644)
}
`
	w := newWorld(t, files, do(tests))
	c := w.start("-session", "s-1", "-mode", "auto").says("Do it.").sees("It is all done now.")
	k := &killed{world: w, c: c}
	k.dead("sleep.pid")
	require.Zero(t, c.ends())
}

// However much a program prints, the model is shown a part of it.
func TestAHugeOutputIsCut(t *testing.T) {
	slow(t)
	files := map[string]string{"go.mod": goMod, "main.go": `package main

import "fmt"

func main() {
	for range 200_000 {
		fmt.Println("a line that nobody wants to read in full, and that is printed very often")
	}
}
`}
	w := newWorld(t, files, do(use("run", m{"program": "go", "args": []string{"run", "."}})))
	c := w.start("-session", "s-1", "-mode", "auto").says("Do it.").sees("It is all done now.")
	for _, r := range w.model.all() {
		require.Less(t, len(r), 128<<10)
	}
	require.Zero(t, c.ends())
}

// A mode that is set while a run is in progress counts from the next call on, and after kill -9.
func TestAModeThatIsSetDuringARunLasts(t *testing.T) {
	slow(t)
	w := newWorld(t, shop(), script(map[string][]turn{"Do it.": {look, create,
		{text: "It is all but done now, I think.", held: newStop().hold}}}))
	w.serve("shop", true, nil)
	k := &killed{world: w}
	start := func() *seat { return w.sit("-session", "s-1") }
	s := start()
	s.until(t, "\n> ")
	s.types(t, "/mode edits\r")
	s.until(t, "mode: edits")
	s.types(t, "Do it.\r")
	until(t, "the tool begins", func() bool { return k.lines("looked") == 1 })
	s.types(t, "/mode plan\r")
	s.until(t, "mode: plan")
	k.openGate()
	s.until(t, "It is all")
	require.False(t, exists(filepath.Join(w.dir, "b.go")))
	s.kill()
	s = start()
	s.until(t, "I think.")
	s.types(t, "/mode\r")
	s.until(t, "mode: plan")
	s.kill()
}

// A signal ends the program, and the run goes on when it is started again.
func TestARunGoesOnAfterASignal(t *testing.T) {
	slow(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		stop := newStop()
		w := newWorld(t, shop(), script(map[string][]turn{"Do it.": {create,
			{text: "It is all done now.", held: stop.hold}}}))
		c := w.start("-session", "s-1", "-mode", "edits").says("Do it.").sees("It is")
		require.NoError(t, c.cmd.Process.Signal(sig))
		select {
		case <-c.done:
		case <-time.After(patience):
			require.Fail(t, "it doesn't end", c.text())
		}
		c = w.start("-session", "s-1").sees("It is all done now.")
		require.Zero(t, c.ends())
		w.once(map[string]int{"file.write": 1})
	}
}
