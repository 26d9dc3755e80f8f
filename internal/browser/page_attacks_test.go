package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// script is HTML that sets window.pwned in many ways.
const script = `<script>window.pwned=1</script><img src=x onerror="window.pwned=2"><svg onload="window.pwned=3"><a href="javascript:window.pwned=4">a</a>`

// attack is Markdown that does.
var attack = strings.Join([]string{
	script,
	`[link](javascript:window.pwned=5) [spaced](java&#x0A;script:window.pwned=5) [data](data:text/html,<script>window.pwned=6</script>) [vb](vbscript:x) <javascript:window.pwned=5>`,
	`![image](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9IndpbmRvdy5wd25lZD03Ii8+) ![remote](https://tracker.example/x.png) ![x](x" onerror="window.pwned=8)`,
	"[ref]\n\n[ref]: javascript:window.pwned=9 \"t\"",
	`<iframe srcdoc="<script>parent.pwned=10</script>"></iframe><form action="javascript:window.pwned=11"><input autofocus onfocus="window.pwned=11"></form><style>body{display:none}</style><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=javascript:window.pwned=12">`,
	"```\"><img src=x onerror=window.pwned=13>\ncode </code></pre><img src=x onerror=window.pwned=14>\n```",
	`| <img src=x onerror=window.pwned=15> | ` + "`<script>window.pwned=16</script>`" +
		" |\n|---|---|\n| <svg><script>window.pwned=17</script></svg> | " +
		"<math><mtext></form><form><mglyph><style></math><img src onerror=window.pwned=18> |",
	`<details open ontoggle="window.pwned=19"><summary>x</summary></details><div id="main" class="card" data-action="copy">clobbered</div>`,
}, "\n\n")

// markup returns elements of the page that it never makes itself.
const markup = `JSON.stringify([...document.querySelectorAll("body :is(script, iframe, object, embed, style, base, meta, form[action], animate), body *")].flatMap(e => {
	const bad = e.matches("script, iframe, object, embed, style, base, meta, form[action], animate") ||
		e.getAttributeNames().some(n => n.startsWith("on") || n === "srcdoc" || n === "style" && e.closest(".prose")) ||
		/^\s*(javascript|data|vbscript):/i.test(e.getAttribute("href") ?? "") || e.matches(".prose :is(img, svg, form, input, [id], details)") ||
		(e.matches("img") && !e.src.startsWith(new URL("page/", document.baseURI).href) && !/^data:image\/(png|jpeg|gif|webp);/.test(e.getAttribute("src")));
	return bad ? [e.outerHTML.slice(0, 200)] : [];
}))`

// unharmed requires that nothing of an attack runs, or is part of the page.
func (p *builtIn) unharmed() {
	p.t.Helper()
	require.Equal(p.t, "undefined", p.text(`String(window.pwned)`))
	var found []string
	require.NoError(p.t, json.Unmarshal([]byte(p.text(markup)), &found))
	require.Empty(p.t, found)
	require.Equal(p.t, "true",
		p.text(
			`String(document.querySelector(".app").checkVisibility() && document.querySelectorAll("#main").length === 1)`))
	p.calm() // no dialog, and nothing that the Content Security Policy had to stop
}

func TestNothingOfAnAttackRunsOrIsMarkup(t *testing.T) {
	t.Parallel()
	model := providertest.Script(
		providertest.Reply(providertest.Think(attack), providertest.Say(attack),
			providertest.Unfit(providertest.Call(script, object{"page": script})),
			providertest.Source(provider.Source{Title: script, URL: "javascript:window.pwned=20"})),
		providertest.Calls(deletes(script), deletes("b")),
		providertest.Say("Done."))
	s := newSite(t, uimessage.V6, agent.Config{Provider: model, Modes: []agent.Mode{{Name: script}}})
	res, err := s.hub.Start(t.Context(), agent.Input{Session: "s-1", Prompt: attack, Owner: "ann", User: "ann",
		Interactive: true, Mode: script, Parts: []provider.Part{
			provider.MediaPart(provider.Media{Type: "image/svg+xml", Name: script + ".svg",
				Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=21"/>`)}),
			provider.MediaPart(provider.Media{Type: "image/png", Name: `" onerror="window.pwned=22`,
				Data: []byte("no image")}),
		}})
	require.NoError(t, err)
	<-res.Done
	require.NoError(t, s.hub.Agent().Session("s-1").SetTitle(t.Context(), script))

	p := s.page("s-1")
	p.has("Delete a page.")
	p.wait(`document.querySelector(".session .title")?.textContent === ` + quote(script))
	p.unharmed()
	p.text(`document.querySelectorAll("details").forEach(d => d.open = true), ""`)
	p.wait(`[...document.querySelectorAll(".call[open] .data")].some(e => e.textContent.includes("window.pwned"))`)
	require.Equal(t, "0",
		p.text(
			`(all => all.forEach(a => a.click()) || String(all.length))([...document.querySelectorAll(".prose a:not([href^=http]), .source[href]")])`))
	p.unharmed()

	p.press(".card", "Reject with a reason")
	p.keys(script)
	p.press(".card form", "Reject")
	p.has("Rejected by ann")
	p.has("A person rejected this call.") // its row has grown
	p.press(p.card("Delete “b”?"), "Suggest a change")
	p.keys(script)
	p.press(".card", "Send suggestion")
	p.has("Done.")
	p.text(`document.querySelectorAll("details").forEach(d => d.open = true), ""`)
	p.unharmed()
	p.screen(390, 800, "light")
	require.Equal(t, "[]", p.text(overflow))
	p.screen(1280, 800, "light")
	p.reload()
	p.has("Done.")
	p.press(".top", "Rename")
	p.wait(`document.activeElement.matches(".session input")`)
	p.keys(script + "2\r")
	p.wait(`document.querySelector("h1").textContent === ` + quote(script+"2"))
	p.unharmed()
}

func TestAnAttackThatStreamsInPiecesIsText(t *testing.T) {
	t.Parallel()
	g := newGate()
	var pieces []string
	for piece := range slices.Chunk([]byte(attack[:600]), 4) {
		pieces = append(pieces, string(piece))
	}
	s := newSite(t, uimessage.V6, agent.Config{Provider: streams(g, pieces)})
	p := s.page("")
	p.say("Write.")
	<-g.called
	g.open <- struct{}{}
	p.status("Done")
	p.has("window.pwned=1")
	p.unharmed()
}
