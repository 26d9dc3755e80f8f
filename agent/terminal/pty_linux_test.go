package terminal_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/terminal"
)

// A person is somebody at a pseudo-terminal: what they see, and what they type.
type person struct {
	*vt
	t       *testing.T
	keys    *os.File // what they type into
	device  *os.File // the terminal that the program has
	hub     *live.Hub
	cancel  context.CancelCauseFunc
	ended   chan struct{}
	code    int
	err     error
	reading sync.WaitGroup
	before  syscall.Termios
}

func ioctl(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	c, err := f.SyscallConn()
	require.NoError(t, err)
	var errno syscall.Errno
	require.NoError(t, c.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
	}))
	require.Zero(t, errno)
}

func (p *person) resize(width int) {
	p.mu.Lock()
	p.reflow(width)
	p.mu.Unlock()
	size := [4]uint16{24, uint16(width)}
	ioctl(p.t, p.keys, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
}

func (p *person) mode() (mode syscall.Termios) {
	ioctl(p.t, p.device, syscall.TCGETS, unsafe.Pointer(&mode))
	return mode
}

// sit opens a pseudo-terminal.
func sit(t *testing.T, width int) *person {
	t.Helper()
	p := &person{t: t, vt: newVT(width), ended: make(chan struct{})}
	var err error
	p.keys, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	var unlocked, n int32
	ioctl(t, p.keys, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	ioctl(t, p.keys, syscall.TIOCGPTN, unsafe.Pointer(&n))
	p.device, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	p.resize(width)
	p.before = p.mode()
	p.reading.Go(func() {
		b := make([]byte, 24) // small, so that a test can act at many moments
		for {
			n, err := p.keys.Read(b)
			if err != nil {
				return
			}
			_, _ = p.Write(b[:n])
		}
	})
	return p
}

// talk starts a conversation at a terminal of 80 columns.
func talk(t *testing.T, a *agent.Agent, cfg terminal.Config) *person {
	t.Helper()
	return talkAt(t, sit(t, 80), a, cfg)
}

func talkAt(t *testing.T, p *person, a *agent.Agent, cfg terminal.Config) *person {
	t.Helper()
	hub, err := live.New(live.Config{Agent: a, Recover: -1, Drain: 10 * time.Millisecond})
	require.NoError(t, err)
	p.hub = hub
	ctx, cancel := context.WithCancelCause(t.Context())
	p.mu.Lock() // its reader may call it
	p.cancel = cancel
	p.mu.Unlock()
	cfg.In, cfg.Out = p.device, p.device
	if cfg.Session == "" {
		cfg.Session = "s-1"
	}
	if cfg.Input.User == "" {
		cfg.Input.User = "ann"
	}
	go func() {
		defer close(p.ended)
		p.code, p.err = terminal.Run(ctx, hub, cfg)
	}()
	t.Cleanup(func() {
		cancel(context.Canceled)
		<-p.ended
		_ = hub.Close()
		p.keys.Close()
		p.device.Close()
		p.reading.Wait()
	})
	return p
}

// states matches state lines.
var states = regexp.MustCompile(`(?m)^(\w+ · )?(\S+ · )?((over )?\$\d+\.\d\d|cost unknown) · .*\n`)

// sees waits until a text is on the screen, not counting state lines.
func (p *person) sees(text string) *person {
	p.t.Helper()
	shown := p.until(func(all string) bool {
		return strings.Contains(all, text) || strings.Contains(states.ReplaceAllString(all, ""), text)
	}, p.ended)
	require.True(p.t, shown, "%q isn't shown:\n%s", text, p.text())
	return p
}

// asked waits for the prompt with that number.
func (p *person) asked(n int) *person {
	p.t.Helper()
	require.True(p.t, p.until(func(all string) bool {
		return strings.Count("\n"+all, "\n>") == n && strings.HasSuffix("\n"+all, "\n>\n")
	}, p.ended), "no prompt %d:\n%s", n, p.text())
	return p
}

// ask waits for the question with that number. What is typed before it is there doesn't answer it.
func (p *person) ask(n int) *person { return p.at("[?]:", n) }

// at waits until a prompt is there for the nth time.
func (p *person) at(prompt string, n int) *person {
	p.t.Helper()
	require.True(p.t, p.until(func(all string) bool {
		return count(all, prompt) == n && strings.HasSuffix(all, prompt+"\n")
	}, p.ended), "no %d of %q:\n%s", n, prompt, p.text())
	return p
}

// types presses keys.
func (p *person) types(keys string) *person {
	p.t.Helper()
	_, err := p.keys.WriteString(keys)
	require.NoError(p.t, err)
	return p
}

// says types a line at the prompt.
func (p *person) says(line string) *person { return p.types(line + "\r") }

// ends waits for the end, and requires that the terminal is what it was.
func (p *person) ends(code int) *person {
	p.t.Helper()
	<-p.ended
	require.True(p.t, p.until(func(string) bool { // what was written last is drawn, too
		return strings.Count(p.raw(), "\x1b[?2004h") == strings.Count(p.raw(), "\x1b[?2004l")
	}, nil))
	require.Equal(p.t, code, p.code, "%v\n%s", p.err, p.text())
	require.Equal(p.t, code == terminal.CodeFailed, p.err != nil, "%v", p.err)
	require.Equal(p.t, p.before, p.mode(), "the terminal isn't what it was")
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.odd, "unknown control sequences")
	return p
}

var updateGolden = flag.Bool("update", false, "rewrite the golden files")

// changing are the parts of screens that differ between runs.
var changing = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b[0-9.]+(ms|µs|s)\b`), "1ms"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "12:00:00"},
	{regexp.MustCompile(`run: plan/.*`), "run: plan/x"},
}

// golden compares the screen with a file.
func (p *person) golden(name string) {
	p.t.Helper()
	got := p.text()
	for _, c := range changing {
		got = c.re.ReplaceAllString(got, c.with)
	}
	path := filepath.Join("testdata", name+".screen")
	if *updateGolden {
		require.NoError(p.t, os.MkdirAll("testdata", 0o755))
		require.NoError(p.t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(p.t, err)
	require.Equal(p.t, strings.ReplaceAll(string(want), "\r", ""), got)
}
