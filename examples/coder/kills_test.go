package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

var kills = flag.Int("kills", 0, "how often the program is killed at random moments")

// steps is how many files are written in a trial of random kills.
const steps = 12

// The program is killed at random moments, while it writes file after file and pays for each. Each
// file is written, and each payment is made once, or a person was asked about it.
func TestTheProgramIsKilledAtRandom(t *testing.T) {
	if *kills == 0 {
		t.Skip("-kills")
	}
	var done int
	for trial := 0; done < *kills; trial++ {
		var list []turn
		for i := range steps {
			name := fmt.Sprintf("f%d.go", i)
			list = append(list, turn{text: "The next one is " + name, calls: []toolCall{
				{"file.write", fmt.Sprintf(`{"path":%q,"content":"package shop\n"}`, name)},
				{"shop.pay", `{"why":"` + name + `"}`}}})
		}
		w := newWorld(t, shop(), script(map[string][]turn{"Do it.": append(list, say1("It is all done now."))}))
		w.serve("shop", true, nil)
		require.NoError(t, os.WriteFile(filepath.Join(w.at, "gate"), nil, 0o644))
		w.args = append(w.args, "-mode", "auto")
		c := w.start("-session", "s-1").says("Do it.")
		doubts, asked := 0, 0
		for begun := time.Now(); !strings.Contains(c.text(), "It is all done now."); {
			require.Less(t, time.Since(begun), 2*time.Minute, c.text())
			if n := strings.Count(c.text(), "[?]: "); n > asked {
				asked = n
				if strings.HasSuffix(c.text(), "[w] say what it did, [?]: ") {
					c.says("w").says("it is paid, perhaps")
					doubts++
				} else {
					c.says("approve")
				}
			}
			if done < *kills && rand.IntN(3) == 0 {
				time.Sleep(time.Duration(rand.IntN(900)) * time.Millisecond)
				c.kill()
				done++
				c, asked = w.start("-session", "s-1"), 0
				continue
			}
			if !w.begun() { // what was typed wasn't read, or is refused until the dead process's lease ends
				time.Sleep(time.Second)
				c.says("Do it.")
			}
			time.Sleep(30 * time.Millisecond)
		}
		require.Zero(t, c.ends(), c.text())
		for i := range steps {
			require.Equal(t, "package shop\n", w.read(fmt.Sprintf("f%d.go", i)))
		}
		text, err := os.ReadFile(filepath.Join(w.at, "paid"))
		require.NoError(t, err)
		paid := strings.Count(string(text), "\n")
		require.LessOrEqual(t, paid, steps)
		require.GreaterOrEqual(t, paid, steps-doubts)
		results := make(map[string]bool)
		for session, facts := range w.facts() {
			for _, f := range facts {
				if f, ok := f.(*agent.ToolFinished); ok {
					key := session + f.Run() + f.Call.ID
					require.False(t, results[key], "%s has two results", f.Call.Name)
					results[key] = true
				}
			}
		}
		require.Len(t, results, 2*steps)
		t.Logf("trial %d: %d kills so far, %d calls in doubt, %d of %d paid", trial, done, doubts, paid, steps)
	}
}

// begun reports whether a run has been recorded.
func (w *world) begun() bool {
	for _, facts := range w.facts() {
		for _, f := range facts {
			if _, ok := f.(*agent.RunStarted); ok {
				return true
			}
		}
	}
	return false
}
