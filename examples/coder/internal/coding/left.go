package coding

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// mark is a variable of all programs that are run: which process has started them.
const mark = "PAWL_CODER_PID"

// alive reports whether there is a process with a number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// endLeft ends what programs have left behind that were run by processes which have died since: the
// system ends the program, but not what it has started. It needs /proc.
func (c *Coder) endLeft() {
	ended := 0
	here, _ := os.Readlink("/proc/self/ns/pid")
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range list {
		env, _ := os.ReadFile(name)
		_, after, found := strings.Cut("\x00"+string(env), "\x00"+mark+"=")
		value, _, _ := strings.Cut(after, "\x00")
		starter, err := strconv.Atoi(value)
		dir := filepath.Dir(name)
		if space, _ := os.Readlink(dir + "/ns/pid"); !found || err != nil || alive(starter) || space != here {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			ended++
		}
	}
	if ended > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("Ended what programs had left behind: %d processes.", ended))
	}
}
