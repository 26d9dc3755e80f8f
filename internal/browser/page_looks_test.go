package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// looks is a model that brings the page into the state that the user asks for.
func looks(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	step := providertest.Say(strings.Repeat(markdown, 3))
	switch last := req.Messages[len(req.Messages)-1]; {
	case last.Role == provider.RoleTool:
		step = providertest.Say("That is what I found. Is there **anything else**?")
	case strings.HasPrefix(last.Text(), "stream"):
		step = providertest.HangAfter(3, providertest.SayChunks(markdown, "I am about to say"))
	case strings.HasPrefix(last.Text(), "look"):
		step = providertest.Reply(providertest.Think("Both pages matter."), providertest.Say("I look at both pages."),
			providertest.Calls(
				providertest.CallSpec{Tool: "look", Input: target{"home"}},
				providertest.CallSpec{Tool: "read", Input: target{"gone"}}))
	case strings.HasPrefix(last.Text(), "book"):
		step = providertest.Reply(providertest.Say("Please decide on both."), providertest.Calls(
			deletes("about"), providertest.CallSpec{Tool: "book_room", Input: booking{Room: "Blue", Guests: 2}}))
	case strings.HasPrefix(last.Text(), "create"):
		step = providertest.Calls(providertest.CallSpec{Tool: "create_page", Input: target{"jobs"}},
			providertest.CallSpec{Tool: "send_mail", Input: target{"news"}})
	case strings.HasPrefix(last.Text(), "write"):
		step = write("jobs")
	case strings.HasPrefix(last.Text(), "plan"):
		step = submits()
	case strings.HasPrefix(last.Text(), "break"):
		step = providertest.Fail(fault.Permanent)
	}
	return providertest.Script(step).Stream(ctx, req)
}

func looksConfig() agent.Config {
	store, pages := &journal.MapStore{}, new(shelf)
	draft, policy := writes(func(draft) {})
	return agent.Config{Provider: provider.Func(looks), PauseExpires: time.Hour,
		Modes: []agent.Mode{{Name: "plan"}, {Name: "write"}}, Journal: store,
		Policies: []tools.Policy{policy},
		Tools: append(append(planTools(store, 10), pages.tools()...), draft,
			tools.New(tools.Spec{Name: "read", Description: "Read a page.", ReadOnly: true, NoRetries: true},
				func(context.Context, target) (string, error) {
					return "", errors.New("the page doesn't exist")
				}),
			tools.New(tools.Spec{Name: "book_room", Description: "Book a room.", Approval: tools.AskAlways,
				AllowAlways: true}, func(context.Context, booking) (string, error) { return "booked", nil }),
		)}
}

// A look is a state of the page.
type look struct {
	name     string
	reach    func(p *builtIn)
	phone    bool     // it is one of narrow screens only
	rare     bool     // it is looked at only with -screens
	expected []string // errors in the console
}

var allLooks = []look{
	{name: "empty", reach: func(*builtIn) {}},
	{name: "streaming", reach: func(p *builtIn) { p.say("stream"); p.has("I am about to say") }},
	{name: "conversation", reach: func(p *builtIn) {
		p.say("Tell me.")
		p.status("Done")
		p.say(
			"Tell me more, in a message that is so long that it takes several lines on a narrow screen, as those of " +
				"people often do.")
		p.wait(`document.querySelectorAll(".part").length === 2`)
		p.status("Done")
	}},
	{name: "failure", reach: func(p *builtIn) {
		p.say("look")
		p.status("Done")
		p.text(`document.querySelectorAll(".calls, .call, .reasoning").forEach(d => d.open = true), ""`)
	}},
	{name: "approvals", reach: func(p *builtIn) {
		p.say("book")
		p.wait(`document.querySelectorAll(".card").length === 2`)
	}},
	{name: "edit", reach: func(p *builtIn) {
		p.say("book")
		p.press(p.card("Book room “Blue”?"), "Edit")
		p.clickOn(`document.querySelectorAll(".card input[type=text]")[1]`)
		p.keys("9")
		p.has("At most 4.")
	}},
	{name: "preview", reach: func(p *builtIn) { p.say("write"); p.card("Write page “jobs”?") }},
	{name: "fields", rare: true, reach: func(p *builtIn) {
		p.say("write")
		p.press(p.card("Write page “jobs”?"), "Edit")
	}},
	{name: "edited", rare: true, reach: func(p *builtIn) {
		p.say("create")
		p.status("Done")
		p.press(".user", "Edit message")
	}},
	{name: "decided", reach: func(p *builtIn) {
		p.say("book")
		p.press(p.card("Delete “about”?"), "Reject with a reason")
		p.keys("It is linked from the start page.")
		p.press(".card", "Reject")
		p.wait(`document.querySelectorAll(".card").length === 1`) // the other one has moved
		p.press(p.card("Book room “Blue”?"), "Approve")
		p.status("Done")
		p.text(`document.querySelectorAll(".record").forEach(d => d.open = true), ""`)
	}},
	{name: "undo", rare: true, reach: func(p *builtIn) {
		p.say("create")
		p.press(".turn", "Undo what this changed")
		p.wait(`document.querySelector(".undo-dialog").open`)
	}},
	{name: "undone", rare: true, reach: func(p *builtIn) {
		p.say("create")
		p.press(".turn", "Undo what this changed")
		p.press(".undo-dialog", "Undo 1 change")
		p.has("Undone as far as possible")
	}},
	{name: "plan", rare: true, reach: func(p *builtIn) {
		p.say("plan")
		p.card("Carry out the plan “A page about us”?")
	}},
	{name: "planned", rare: true, reach: func(p *builtIn) {
		p.say("plan")
		p.press(p.card("Carry out the plan “A page about us”?"), "Approve")
		p.has("has failed: the image is missing")
		p.has("1 of 4 steps")
	}},
	{name: "error", reach: func(p *builtIn) { p.say("break"); p.status("Failed") }},
	{name: "offline", reach: func(p *builtIn) {
		p.say("Tell me.")
		p.status("Done")
		p.network(conditions{Offline: true})
		p.wait(`document.querySelector(".bar:not([hidden])")`)
	}, expected: []string{"network: Failed to load"}},
	{name: "missing", rare: true, reach: func(p *builtIn) {
		p.visit(p.text(`location.origin`), "none")
		p.wait(`document.body.textContent.includes("This chat can’t be shown")`)
	}, expected: []string{"404 (Not Found)"}},
	{name: "shortcuts", rare: true, reach: func(p *builtIn) {
		p.press(".foot", "Keyboard shortcuts")
		p.wait(`document.querySelector("dialog").open`)
	}},
	{name: "list", phone: true, reach: func(p *builtIn) {
		p.wait(`document.querySelectorAll(".session").length > 3`)
		p.press(".top", "Show chats")
		p.wait(`document.querySelector(".app.open")`)
	}},
}

// axe returns what the accessibility checker says of the page.
func (p *builtIn) axe() (violations []string) {
	p.t.Helper()
	source, err := os.ReadFile(filepath.Join("clients", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		missing(p.t, "axe-core isn't installed")
	}
	if p.text(`typeof axe`) == "undefined" {
		p.text(string(source) + `; ""`)
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx,
		chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(
		r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 150) + " " + n.failureSummary))))`,
			chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal([]byte(result), &violations))
	return violations
}

// overflow returns the elements that stick out of the page, or whose text is cut without an
// ellipsis.
const overflow = `JSON.stringify([...document.querySelectorAll("body *")].filter(e => {
	const r = e.getBoundingClientRect();
	return e.checkVisibility() && r.width > 1 && (r.right > innerWidth + 1 || r.left < -1) && !e.closest(".code, .table, .scroll, .sidebar, .skip, .hidden-visually, [hidden]");
}).map(e => e.outerHTML.slice(0, 120)))`

// faintIcons returns the icons whose contrast with what is behind them is less than 3:1, as WCAG
// computes it. What can't be used now is left out, but for the button that sends.
const faintIcons = `(() => {
	const pixel = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
	const rgba = (color) => {
		pixel.clearRect(0, 0, 1, 1);
		pixel.fillStyle = color;
		pixel.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const over = (below, [r, g, b, a], opacity) => [r, g, b].map((c, i) => c * a * opacity + below[i] * (1 - a * opacity));
	const light = (c) => c.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	return [...document.querySelectorAll("svg")].filter((e) => e.checkVisibility({visibilityProperty: true}) && (!e.closest(":disabled") || e.closest(".composer [type=submit]"))).map((icon) => {
		const above = [];
		for (let e = icon; e; e = e.parentElement) above.unshift(getComputedStyle(e));
		let behind = [255, 255, 255], opacity = 1;
		for (const s of above) behind = over(behind, rgba(s.backgroundColor), (opacity *= Number(s.opacity)));
		const [a, b] = [light(behind), light(over(behind, rgba(above.at(-1).color), opacity))];
		return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), icon.parentElement.outerHTML.slice(0, 120)];
	}).filter(([ratio]) => ratio < 3);
})()`

// seesIcons waits until no icon is faint: colors change in a moment.
func (p *builtIn) seesIcons(where string) {
	p.t.Helper()
	p.waitFor(faintIcons+`.length === 0`, func() string {
		return where + ": " + p.text(`JSON.stringify(`+faintIcons+`)`)
	})
}

func TestThePageLooksRightAndIsAccessible(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, looksConfig())
	for n, l := range allLooks {
		t.Run(l.name, func(t *testing.T) {
			if l.rare && !*screens {
				t.Skip("it is looked at with -screens")
			}
			p := openPage(t, s.http.URL, "")
			if l.phone {
				p.screen(390, 800, "light")
			}
			l.reach(p)
			for _, at := range sizes() {
				width, theme := at.width, at.theme
				if l.phone && width > 400 {
					continue
				}
				p.screen(width, 900, theme)
				p.drawn(fmt.Sprintf("page-%s-%d-%s.png", l.name, width, theme))
				require.Equal(t, "[]", p.text(overflow), "at a width of %d", width)
				p.seesIcons(fmt.Sprint(width, " ", theme))
				if at.checked(n) || l.phone {
					require.Empty(t, p.axe(), "at a width of %d, in %s", width, theme)
				}
			}
			p.calm(l.expected...)
			if l.name == "streaming" {
				require.NoError(t, s.hub.Cancel(t.Context(), p.session()))
			}
		})
	}
}
