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

// mark is a variable of all programs that are run: the process that has started them, and the
// folder.
const mark = "PAWL_CODER"

// alive reports whether there is a process with a number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// endLeft ends what programs have left behind in the folder that were run by processes which have
// died since: the system ends the program, but not what it has started. It needs /proc.
func (c *Coder) endLeft() {
	here, _ := os.Readlink("/proc/self/ns/pid")
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range list {
		env, _ := os.ReadFile(name)
		_, after, found := strings.Cut("\x00"+string(env), "\x00"+mark+"=")
		value, _, _ := strings.Cut(after, "\x00")
		number, folder, _ := strings.Cut(value, " ")
		starter, err := strconv.Atoi(number)
		dir := filepath.Dir(name)
		if !found || err != nil || folder != c.Dir || alive(starter) {
			continue
		}
		if space, _ := os.Readlink(dir + "/ns/pid"); space != here {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
			c.Notes = append(c.Notes, fmt.Sprintf("Ended what programs had left behind: process %d.", pid))
		}
	}
}
