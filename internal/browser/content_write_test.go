package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// edit opens the editor.
func (p *contentPage) edit() {
	p.t.Helper()
	p.press(".article-head", "Edit")
	p.wait(`document.activeElement?.matches("[data-testid=editor]")`)
}

// tab opens a part of the article.
func (p *contentPage) tab(name string) {
	p.t.Helper()
	p.click("[data-tab=" + name + "]")
	p.wait(`document.querySelector("[data-tab=` + name + `]").ariaSelected === "true"`)
}

// written waits until the text on the server is one.
func (p *contentPage) written(text string) {
	p.t.Helper()
	p.text(`window.stored = null, fetch("/api" + location.pathname).then(r => r.json()).then(a => window.stored = a.content), ""`)
	p.wait(`window.stored !== null`)
	require.Equal(p.t, text, p.text(`window.stored`))
}

// state waits until the editor says this about saving.
func (p *contentPage) state(text string) {
	p.t.Helper()
	p.wait(`document.querySelector("[data-testid=save-state]")?.textContent === ` + quote(text))
}

// other changes the text as another tab does.
func (p *contentPage) other(content string) {
	p.t.Helper()
	p.text(`window.done = false, fetch("/api" + location.pathname, {method: "PATCH", headers: {"Content-Type": "application/json"}, body: JSON.stringify({content: ` +
		quote(content) + `, newVersion: true})}).then(() => window.done = true), ""`)
	p.wait(`window.done`)
}

// mark selects a passage of the text as it is shown.
func (p *contentPage) mark(passage string) {
	p.t.Helper()
	p.wait(`document.querySelector("[data-testid=artifact-content]")?.textContent.includes(` + quote(passage) + `)`)
	p.text(`(() => {
		const walker = document.createTreeWalker(document.querySelector("[data-testid=artifact-content]"), NodeFilter.SHOW_TEXT);
		for (let n = walker.nextNode(); n; n = walker.nextNode()) {
			const i = n.data.indexOf(` + quote(passage) + `);
			if (i >= 0) {
				n.parentElement.scrollIntoView({block: "center"});
				getSelection().setBaseAndExtent(n, i, n, i + ` + quote(passage) + `.length);
			}
		}
		return "";
	})()`)
}

func TestTheEditorSavesByItselfAndHasOneVersionForASitting(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.draft("Small teams")
	p.edit()
	p.keys("First words.")
	p.state("Saved")
	p.written("First words.")
	p.keys(" More words.")
	p.state("Not saved yet")
	p.wait(`document.querySelector("[data-testid=word-count]").textContent === "4 words"`)
	p.state("Saved")
	p.written("First words. More words.")
	p.keys(" And these")
	p.keys("s", chromedp.ModifierCtrl)
	p.state("Saved")
	p.press(".editor-panel", "Done")
	p.wait(`document.querySelector("[data-testid=artifact-content]")?.textContent.includes("And these")`)
	p.press(".article-tabs", "Versions 1")
	p.wait(`document.querySelectorAll("[data-testid=versions] li").length === 1`)
	p.calm()
}
