package browser

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// contentProgram builds the program content, once, and returns its name.
var contentProgram = sync.OnceValues(func() (string, error) {
	program, err := filepath.Abs(filepath.Join(out, "content"))
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./examples/content")
	build.Dir = filepath.Join("..", "..")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}
	return program, nil
})

// slow makes each step take so long that the page shows it.
var slow = []string{"MOCK_ALL_AI_TOOLS=MOCK", "MOCK_DELAY_MIN_MS=1000", "MOCK_DELAY_MAX_MS=1000"}

// A contentServer is the program content in a process of its own, with a file of its own.
type contentServer struct {
	t    *testing.T
	db   string
	env  []string
	at   string // the address with the port
	kill func() // with -9
}

func startContent(t *testing.T, env ...string) *contentServer {
	t.Helper()
	s := &contentServer{t: t, db: filepath.Join(t.TempDir(), "content.db"), env: append(env, "JWT_SECRET=for tests"),
		at: "127.0.0.1:0"}
	s.start()
	return s
}

// start starts the server, at the address that it had before, and waits until it listens.
func (s *contentServer) start() {
	s.t.Helper()
	program, err := contentProgram()
	require.NoError(s.t, err)
	cmd := exec.CommandContext(s.t.Context(), program, "-addr", s.at, "-db", s.db)
	cmd.Env = append(append(os.Environ(), "PAWL_MODEL=standin"), s.env...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(s.t, err)
	require.NoError(s.t, cmd.Start())
	s.kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s.t.Cleanup(s.kill)
	lines := bufio.NewScanner(stdout)
	require.True(s.t, lines.Scan(), lines.Err())
	_, at, ok := strings.Cut(lines.Text(), "http://")
	require.True(s.t, ok, lines.Text())
	s.at = at
}

// A contentPage is a page of the content agent.
type contentPage struct {
	*builtIn
	server *contentServer
}

// openContent logs a user in, in a tab of its own.
func openContent(t *testing.T, server *contentServer, user string) *contentPage {
	t.Helper()
	p := &contentPage{&builtIn{open(t, "about:blank")}, server}
	p.screen(1440, 900, "light")
	p.visit("/login")
	p.text(`localStorage.clear(), sessionStorage.clear(), ""`)
	p.click("[data-user=" + user + "]")
	p.wait(`location.pathname === "/" && document.querySelector("h1")?.textContent.startsWith("Hello")`)
	return p
}

func (p *contentPage) visit(path string) {
	p.t.Helper()
	p.run(chromedp.Navigate("http://" + p.server.at + path))
	p.wait(`document.querySelector("h1, .error-card")`)
}

// draft makes a draft in the dialog, and returns its path.
func (p *contentPage) draft(title string) string {
	p.t.Helper()
	p.press(".head", "New draft")
	p.wait(`document.querySelector("dialog[open] [name=title]") === document.activeElement`)
	p.insert(title)
	p.keys("\r")
	p.wait(`location.pathname.startsWith("/artifacts/") && document.querySelector("h1")?.textContent === ` +
		quote(title))
	return p.text(`location.pathname`)
}

// ask sends a message in the chat, and waits until there is an answer.
func (p *contentPage) ask(message string) {
	p.t.Helper()
	p.write(message)
	p.answered()
}

// write sends a message in the chat.
func (p *contentPage) write(message string) {
	p.t.Helper()
	const field = `document.querySelector("[data-testid=chat-input]")`
	p.wait(`document.querySelector(".chat .status").dataset.status !== "running"`)
	p.click("[data-testid=chat-input]")
	p.wait(`document.activeElement === ` + field)
	p.insert(message)
	p.keys("\r")
	p.wait(field + `.value === ""`)
}

// insert writes a text where the focus is, at once: each key takes a few milliseconds.
func (p *contentPage) insert(text string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, input.InsertText, input.InsertTextParams{Text: text})
	require.NoError(p.t, err)
}

// lastTurn is an expression for what the assistant has shown last.
const lastTurn = `document.querySelector(".chat .column > div:nth-of-type(2) > :last-child:not(.user)")`

// answered waits until the assistant has nothing more to do.
func (p *contentPage) answered() {
	p.t.Helper()
	p.wait(`!document.querySelector(".chat .sending") && document.querySelector(".chat .status").dataset.status !== "running" && ` +
		lastTurn)
}

// said waits until the last answer has a text.
func (p *contentPage) said(text string) {
	p.t.Helper()
	p.wait(lastTurn + `?.textContent.includes(` + quote(text) + `)`)
}

// anew begins a new conversation.
func (p *contentPage) anew() {
	p.t.Helper()
	p.press(".chat .top", "New conversation")
	p.wait(`document.querySelector(".chat .blank")`)
}

// choose presses a button below the last answer, and waits for the next one.
func (p *contentPage) choose(label string) {
	p.t.Helper()
	p.press(".chat .turn:last-child", label)
	p.answered()
}

// is waits until the artifact has a status.
func (p *contentPage) is(status string) {
	p.t.Helper()
	p.wait(`document.querySelector(".head .badge")?.dataset.status === ` + quote(status))
}

// made creates the content of a new draft with the button.
func (p *contentPage) made(title string) string {
	p.t.Helper()
	path := p.draft(title)
	p.click("[data-testid=create-content-button]")
	p.is("ready")
	p.wait(`document.querySelector("[data-testid=status-ready]")`)
	return path
}
