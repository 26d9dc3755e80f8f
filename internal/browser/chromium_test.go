package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// out is the folder of bundles, and of screenshots of failures.
const out = "out"

// patience is how long a page may take for what a test waits for, on a machine that has other work.
const patience = 30 * time.Second

// screens says whether each state of a page is drawn, for somebody to look at.
var screens = flag.Bool("screens", false,
	"look at each state of a page in all sizes and both themes, and write screenshots into the folder out")

// A size is a width of the page, with a theme.
type size struct {
	width int64
	theme string
}

// allSizes are desktop, tablet and phone, in both themes.
var allSizes = []size{{1440, "light"}, {820, "light"}, {390, "light"}, {1440, "dark"}, {820, "dark"}, {390, "dark"}}

// sizes returns in which sizes a state of a page is looked at: desktop, tablet and phone, each in
// one theme; with -screens in all.
func sizes() []size {
	if *screens || *drawPictures {
		return allSizes
	}
	return []size{{1440, "light"}, {820, "light"}, {390, "dark"}}
}

// turn says with which state of a page the checks of accessibility begin.
var turn = rand.IntN(4)

// checked reports whether the accessibility of the nth state of a page is checked in this size: of
// four states one at the desktop, in the light theme, and one at the phone, in the dark one; with
// -screens each in both, because a check takes as long as all else that is looked at.
func (s size) checked(nth int) bool {
	desktop, phone := s == size{1440, "light"}, s == size{390, "dark"}
	of := (nth + turn) % 4
	return desktop && (of == 0 || *screens) || phone && (of == 2 || *screens)
}

// drawn writes a screenshot if -screens asks for it.
func (p *tab) drawn(name string) {
	if *screens {
		p.screenshot(name)
	}
}

// A chromium is a process of the browser.
type chromium struct {
	ctx  context.Context
	stop func()
}

// idle are the processes that no test uses, started or not. Tests run in parallel, each with a
// process of its own, because only one tab of a process has the focus. Much of the time a page
// waits for its server: three processes keep two cores busy.
var idle = make(chan *chromium, 3)

// inUse are the processes of tests, by the names of the tests.
var inUse sync.Map

func init() {
	for range cap(idle) {
		idle <- &chromium{}
	}
}

// browserOf returns the process that a test, or the test that it is a part of, has until it ends.
func browserOf(t *testing.T) context.Context {
	t.Helper()
	for name := t.Name(); name != ""; name = name[:max(0, strings.LastIndex(name, "/"))] {
		if c, ok := inUse.Load(name); ok {
			return c.(*chromium).ctx
		}
	}
	c := <-idle
	if c.ctx == nil || c.ctx.Err() != nil { // not started, or its process has died
		c.start(t)
	}
	inUse.Store(t.Name(), c)
	t.Cleanup(func() {
		inUse.Delete(t.Name())
		idle <- c
	})
	return c.ctx
}

func (c *chromium) start(t *testing.T) {
	t.Helper()
	if c.stop != nil {
		c.stop()
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		// else what is clicked before the first frame of a page was drawn is lost
		chromedp.Flag("allow-pre-commit-input", true),
		// the popups of the address bar are pages, too
		chromedp.Flag("disable-features", "Translate,WebUIOmniboxPopup,WebUIOmniboxAimPopup"))
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	first, end := chromedp.NewContext(allocator)
	c.stop = func() { end(); stop() }
	if err := chromedp.Do(first); err != nil {
		c.stop()
		idle <- &chromium{}
		t.Fatal(err)
	}
	c.ctx = first
}

// A tab is a page in Chromium.
type tab struct {
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	errors  []string // of its scripts
	console []string // errors in the console, and dialogs
}

// open opens a page in a tab of its own. The test fails if the page has an error that isn't caught.
func open(t *testing.T, address string) *tab {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		missing(t, "there is no chromium")
	}
	ctx, cancel := chromedp.NewContext(browserOf(t))
	p := &tab{t: t, ctx: ctx}
	require.NoError(t, chromedp.Do(ctx))
	require.NoError(t, chromedp.Listen(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *runtime.EventExceptionThrown:
			p.errors = append(p.errors, fmt.Sprintf("%s: %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				p.console = append(p.console, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				p.console = append(p.console, "console.error")
			}
		case *page.EventJavascriptDialogOpening:
			p.console = append(p.console, "dialog: "+e.Message)
		}
	}))
	t.Cleanup(func() {
		if t.Failed() {
			p.mu.Lock()
			t.Logf("errors of the page: %q, in its console: %q", p.errors, p.console)
			p.mu.Unlock()
			p.screenshot(strings.ReplaceAll(t.Name(), "/", "-") + ".png")
		}
		cancel()
	})
	p.run(chromedp.Navigate(address))
	return p
}

func (p *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	require.NoError(p.t, chromedp.Do(ctx, steps...))
}

// text evaluates a JavaScript expression whose value is text.
func (p *tab) text(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	require.NoError(p.t, err)
	return text
}

// wait waits until a JavaScript expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	p.waitFor(expression, p.state)
}

// waitFor is wait with what a failure shows of the page.
func (p *tab) waitFor(expression string, state func() string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience+5*time.Second)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void]("!!("+expression+")",
			chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(patience)))
		switch {
		case err == nil:
			return
		case ctx.Err() == nil && gone.MatchString(err.Error()):
			continue // another page is there by now, which is asked
		}
		p.t.Fatalf("%s: %v\nthe page: %s", expression, err, state())
	}
}

// gone finds the errors of a page that another one has taken the place of.
var gone = regexp.MustCompile(`Cannot find context with specified id|Execution context was destroyed|` +
	`[Ii]nspected target navigated|uniqueContextId not found`)

// click clicks the middle of what a selector selects, with the mouse.
func (p *tab) click(selector string) {
	p.t.Helper()
	p.clickOn("document.querySelector(" + quote(selector) + ")")
}

// clickOn clicks the middle of the element that an expression returns, when there is one.
func (p *tab) clickOn(element string) {
	p.t.Helper()
	at := p.middle(element)
	p.run(chromedp.MouseClickXY(at.X, at.Y))
}

// A point is a place on the screen.
type point struct{ X, Y float64 }

// middle returns the middle of the element that an expression returns, when there is one that stays
// in its place. In a card it is one that may be pressed.
func (p *tab) middle(element string) (at point) {
	p.t.Helper()
	p.wait(`(e => {
		if (!e) return false;
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(), before = window.lastPlace, card = e.closest("[data-settling]");
		window.lastPlace = JSON.stringify({X: r.x + r.width / 2, Y: r.y + r.height / 2});
		if (before !== window.lastPlace) window.lastMoved = performance.now();
		return before === window.lastPlace &&
			(!card || card.dataset.settling === "false" && performance.now() - window.lastMoved > 250);
	})(` + element + `)`)
	require.NoError(p.t, json.Unmarshal([]byte(p.text(`window.lastPlace`)), &at))
	return at
}

// state returns the state of the page, for messages of failures.
func (p *tab) state() string {
	p.t.Helper()
	return p.text(`JSON.stringify(window.chat ?? document.body?.textContent ?? "")`)
}

// screenshot writes a picture of the page into the folder out.
func (p *tab) screenshot(name string) {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if data, err := chromedp.Run(ctx, chromedp.FullScreenshot(100)); err == nil {
		_ = os.MkdirAll(filepath.Join(out, "screenshots"), 0o755)
		_ = os.WriteFile(filepath.Join(out, "screenshots", name), data, 0o644)
	}
}

func quote(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}
