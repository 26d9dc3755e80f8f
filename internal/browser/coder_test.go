package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// coderProgram builds the program coder, once, and returns its name.
var coderProgram = sync.OnceValues(func() (string, error) {
	program, err := filepath.Abs(filepath.Join(out, "coder"))
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./examples/coder")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return program, nil
})

// A coder is the program coder, at a pseudo-terminal of its own.
type coder struct {
	t       *testing.T
	keys    *os.File
	mu      sync.Mutex
	printed string
	seen    int // how much of that a test has waited for
}

func startCoder(t *testing.T, args ...string) *coder {
	t.Helper()
	program, err := coderProgram()
	require.NoError(t, err)
	c := &coder{t: t}
	c.keys, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	var unlocked, n int32
	size := [4]uint16{30, 100}
	c.control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked))
	c.control(syscall.TIOCGPTN, unsafe.Pointer(&n))
	c.control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	device, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	cmd := exec.Command(program, append([]string{"-web", "-addr", "127.0.0.1:0", "-model", "standin", "-pace", "1ms",
		"-session", "main"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "TERM=xterm", "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = device, device, device
	require.NoError(t, cmd.Start())
	require.NoError(t, device.Close())
	var reading sync.WaitGroup
	reading.Go(func() {
		b := make([]byte, 4096)
		for {
			n, err := c.keys.Read(b)
			c.mu.Lock()
			c.printed += string(b[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = c.keys.Close()
		reading.Wait()
	})
	return c
}

func (c *coder) control(request uintptr, arg unsafe.Pointer) {
	c.t.Helper()
	conn, err := c.keys.SyscallConn()
	require.NoError(c.t, err)
	require.NoError(c.t, conn.Control(func(fd uintptr) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
		require.Zero(c.t, errno)
	}))
}

// shows waits until the terminal shows something after what was waited for before, and returns it.
func (c *coder) shows(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		rest := c.printed[c.seen:]
		at := re.FindStringIndex(rest)
		if at != nil {
			c.seen += at[1]
		}
		c.mu.Unlock()
		if at != nil {
			return rest[at[0]:at[1]]
		}
		require.True(c.t, time.Now().Before(until), "%s isn't shown: %q", pattern, rest)
	}
}

func (c *coder) types(keys string) {
	c.t.Helper()
	_, err := c.keys.WriteString(keys)
	require.NoError(c.t, err)
}

// lookAt looks at a state of the page in all sizes.
func (p *builtIn) lookAt(nth int, name string) {
	p.t.Helper()
	for _, at := range sizes() {
		p.screen(at.width, 900, at.theme)
		p.drawn(fmt.Sprintf("coder-%s-%d-%s.png", name, at.width, at.theme))
		require.Equal(p.t, "[]", p.text(overflow), "%s at a width of %d", name, at.width)
		if at.checked(nth) {
			require.Empty(p.t, p.axe(), "%s at a width of %d, in %s", name, at.width, at.theme)
		}
	}
}

// TestCoderIsOneConversationInTheTerminalAndOnAPhone is the story of examples/coder -web: what one
// of them asks, the other one answers, and what one of them sets, the other one shows.
func TestCoderIsOneConversationInTheTerminalAndOnAPhone(t *testing.T) {
	t.Parallel()
	c := startCoder(t)
	at := c.shows(`http://127\.0\.0\.1:\d+/`)
	c.shows(`ask · .*\n`)
	c.types("Fix the failing test\r")
	c.shows(`\[\?\]: `)

	p := &builtIn{open(t, "about:blank")}
	p.screen(390, 800, "light")
	p.run(chromedp.Navigate(at + "?session=main"))
	p.loaded()
	p.card("Run go test ./...?")
	p.lookAt(0, "asked")
	p.screen(390, 800, "light")
	p.press(".card", "Approve") // on the phone
	c.shows(`approved by you`)
	c.shows(`it would change:(?s:.*)\[\?\]: `)
	p.wait(`document.querySelector(".card .diff .path")?.textContent === "wrap.go  +6 \u22123"`)
	p.lookAt(1, "diff")
	p.screen(390, 800, "light")
	c.types("a\r") // in the terminal
	p.wait(`document.querySelectorAll(".record").length === 2`)
	c.shows(`Run go test(?s:.*)\[\?\]: `)
	p.text(`(s => { s.value = "edits"; s.dispatchEvent(new Event("change")); })(document.querySelector(".composer select")), ""`)
	c.shows(`◦ mode: edits`) // while a question is open
	c.shows(`\[\?\]: `)
	c.types("/")
	c.types("mode auto\r")
	p.wait(`document.querySelector(".composer select").value === "auto"`)
	p.press(".card", "Always allow all go test here, in this chat")
	c.shows(`◦ always approved by you`)
	p.wait(`document.querySelector(".card h2")?.textContent.startsWith("Run git commit")`) // in each mode
	p.press(".card", "Reject with a reason")
	p.wait(`document.activeElement.matches(".card textarea")`)
	p.keys("I commit it myself.")
	p.press(".card", "Reject")
	c.shows(`◦ rejected by you(?s:.*)I commit it myself`)
	p.status("Done")
	c.shows(`auto · `)
	p.press(".turn", "Undo what this changed")
	p.wait(`document.querySelector(".undo-dialog").open`)
	if *screens {
		p.lookAt(0, "undo")
	}
	p.press(".undo-dialog", "Undo 2 changes")
	p.has("Undone as far as possible")
	c.types("/undo\r")
	c.shows(`Run go test (?s:.*) stays: `)
	p.calm()
}
