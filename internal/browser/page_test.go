package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// A builtIn is the built-in page of package serve in a tab.
type builtIn struct{ *tab }

// openPage opens the built-in page of a server. Without a session, it is that of a new chat.
func openPage(t *testing.T, server, session string) *builtIn {
	t.Helper()
	p := &builtIn{open(t, "about:blank")}
	p.screen(1280, 800, "light")
	p.visit(server, session)
	return p
}

func (p *builtIn) visit(server, session string) {
	p.t.Helper()
	address := server + "/agent/"
	if session != "" {
		address += "?session=" + session
	}
	p.run(chromedp.Navigate(address))
	p.loaded()
}

// page opens the built-in page of the site.
func (s *site) page(session string) *builtIn {
	s.t.Helper()
	return openPage(s.t, s.http.URL, session)
}

func (p *builtIn) loaded() {
	p.t.Helper()
	p.wait(`document.querySelector(".app")`)
}

func (p *builtIn) reload() {
	p.t.Helper()
	p.run(chromedp.Reload())
	p.loaded()
}

// screen sets the size of the page and its theme, "light" or "dark".
func (p *builtIn) screen(width, height int64, theme string) {
	p.t.Helper()
	p.run(chromedp.EmulateViewport(width, height))
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
	require.NoError(p.t, err)
}

// keys presses keys. A key is one event, so that a page that handles it keeps it from writing a
// character.
func (p *builtIn) keys(keys string, modifiers ...chromedp.Modifier) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for _, r := range keys {
		events := kb.Encode(r)
		for _, e := range events {
			chromedp.KeyModifiers(modifiers...)(e)
			switch {
			case e.Type == kb.KeyChar:
				continue
			case e.Type == kb.KeyDown && len(events) == 3 && e.Modifiers&^int64(chromedp.ModifierShift) == 0:
				e.Type, e.Text = input.DispatchKeyEventTypeKeyDown, events[1].Text
			}
			_, err := chromedp.Call(ctx, input.DispatchKeyEvent, *e)
			require.NoError(p.t, err)
		}
	}
}

// say writes a message and sends it with the Enter key.
func (p *builtIn) say(text string) {
	p.t.Helper()
	p.click(".composer textarea")
	p.keys(text + "\r")
}

// press clicks the first button with a name in what a selector selects.
func (p *builtIn) press(scope, name string) {
	p.t.Helper()
	p.clickOn(named(scope, name))
}

// named returns an expression for a button.
func named(scope, name string) string {
	return fmt.Sprintf(
		`[...document.querySelectorAll(%s)].find(b => b.checkVisibility() && !b.disabled && (b.getAttribute("aria-label") ?? b.textContent.trim()) === %s)`,
		quote(scope+" button"), quote(name))
}

// card returns a selector for the card that is open and has a title.
func (p *builtIn) card(title string) string {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(".card")].find(c => c.querySelector("h2").textContent === %s)`,
		quote(title))
	p.wait(find)
	return "#" + p.text(`(c => c.id ||= "card" + Math.random().toString(36).slice(2))(`+find+`)`)
}

// has waits until the conversation has a text.
func (p *builtIn) has(text string) {
	p.t.Helper()
	p.wait(`document.querySelector(".column")?.textContent.includes(` + quote(text) + `)`)
}

// status waits until the head of the page shows a status.
func (p *builtIn) status(text string) {
	p.t.Helper()
	p.wait(`document.querySelector(".status:not([hidden])")?.textContent === ` + quote(text))
}

// session returns the session that is open.
func (p *builtIn) session() string {
	p.t.Helper()
	p.wait(`new URLSearchParams(location.search).get("session")`)
	return p.text(`new URLSearchParams(location.search).get("session")`)
}

// shownItems is a script that returns what the conversation shows, in order, one line for each.
const shownItems = `JSON.stringify([...document.querySelectorAll(".column :is(.user, .part, .call:not([hidden]), .card, .record, .notice)")].map(e => {
	const text = s => (e.querySelector(s)?.textContent ?? "").replace(/\s+/g, " ").trim();
	if (e.matches(".user")) return "user: " + text(".bubble");
	if (e.matches(".reasoning")) return "reasoning: " + text(".prose");
	if (e.matches(".part")) return "text: " + text(".prose");
	if (e.matches(".call")) return "call: " + text(".verb") + " " + text(".object") + ": " + text(".outcome").split(" · ")[0];
	if (e.matches(".card")) return "card: " + text("h2");
	if (e.matches(".record")) return "record: " + text(".what");
	return "notice: " + text("span");
}))`

// shown returns what the conversation shows.
func (p *builtIn) shown() (items []string) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal([]byte(p.text(shownItems)), &items))
	return items
}

// shows waits until the conversation shows exactly this, requires the same after a reload, and that
// the page had no errors.
func (p *builtIn) shows(items ...string) {
	p.t.Helper()
	want, err := json.Marshal(items)
	require.NoError(p.t, err)
	for i := range 2 {
		if i > 0 {
			p.reload()
		}
		p.waitFor(`JSON.stringify(JSON.parse(`+shownItems+`)) === `+quote(string(want)), func() string {
			return strings.Join(p.shown(), "\n")
		})
		p.calm()
	}
}

// calm requires that the page had no errors in its scripts and its console, and no dialogs. Errors
// that contain one of the texts are all right.
func (p *builtIn) calm(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.errors)
next:
	for _, line := range p.console {
		for _, text := range expected {
			if strings.Contains(line, text) {
				continue next
			}
		}
		require.Fail(p.t, "an error in the console", line)
	}
}
