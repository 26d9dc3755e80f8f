package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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
	selected := `document.querySelector("[data-tab=` + name + `]").ariaSelected === "true"`
	for range 3 { // what is above may go between the look and the click; a second click is harmless
		if p.click("[data-tab=" + name + "]"); p.text("String("+selected+")") == "true" {
			return
		}
	}
	p.wait(selected)
}

// written waits until the text on the server is one.
func (p *contentPage) written(text string) {
	p.t.Helper()
	p.text(`window.stored = null, fetch("/api" + location.pathname).then(r => r.json()).then(a => (window.artifact = a, window.stored = a.content)), ""`)
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

// content is what the page shows of the text.
const content = `document.querySelector("[data-testid=artifact-content]")`

func TestTheToolbarAndItsKeysMarkTheText(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.draft("Small teams")
	p.edit()
	p.keys("one")
	p.keys("a", chromedp.ModifierCtrl)
	p.keys("b", chromedp.ModifierCtrl)
	p.wait(`document.querySelector("[data-testid=editor]").value === "**one**"`)
	p.keys("b", chromedp.ModifierCtrl)
	p.wait(`document.querySelector("[data-testid=editor]").value === "one"`)
	for _, v := range [][2]string{{"italic", "*one*"}, {"italic", "one"}, {"heading", "## one"}, {"list", "- one"},
		{"quote", "> one"}, {"quote", "one"}, {"link", "one[text](https://)"}} {
		p.click("[data-mark=" + v[0] + "]")
		p.wait(`document.querySelector("[data-testid=editor]").value === ` + quote(v[1]))
	}
	p.keys("http://localhost/")
	p.wait(`document.querySelector("[data-testid=editor]").value === "one[text](http://localhost/)"`)
	p.keys("z", chromedp.ModifierCtrl)
	p.wait(`document.querySelector("[data-testid=editor]").value !== "one[text](http://localhost/)"`)
	p.keys(kb.End, chromedp.ModifierCtrl)
	p.click("[data-mark=picture]")
	p.keys("a small table")
	p.wait(`document.querySelector("[data-testid=editor]").value.includes("\n\n[IMAGE: a small table]\n\n")`)
	p.press(".editor-panel", "Preview")
	p.wait(`document.querySelector("[data-testid=preview] a")`)
	p.calm()
}

func TestUnsavedTextIsSavedOrAskedAboutBeforeThePageIsLeft(t *testing.T) {
	t.Parallel()
	s := startContent(t)
	p := openContent(t, s, "ann")
	path := p.draft("Small teams")
	p.edit()
	p.keys("Saved on leaving.")
	p.click("nav [href=\"/portfolio\"]")
	p.wait(`document.querySelector("h1")?.textContent === "Portfolio"`)
	p.visit(path)
	p.wait(content + `?.textContent.includes("Saved on leaving.")`)

	// The server is away: the page asks, and keeps the text in the browser.
	p.edit()
	s.kill()
	p.keys("Not saved. ")
	p.click("nav [href=\"/portfolio\"]")
	p.wait(`document.querySelector("dialog[open] h2")?.textContent === "Leave without saving?"`)
	p.press("dialog[open]", "Cancel")
	p.wait(`document.querySelector("[data-testid=save-state]").textContent.startsWith("Not saved: ")`)
	require.Equal(t, "true",
		p.text(`String(!window.dispatchEvent(new Event("beforeunload", {cancelable: true})))`), "the browser asks, too")
	p.click("nav [href=\"/portfolio\"]")
	p.wait(`document.querySelector("dialog[open]")`)
	p.press("dialog[open]", "Leave")
	p.wait(`!document.querySelector("[data-testid=editor]")`)
	s.start()
	p.visit(path)
	p.edit()
	p.wait(`document.querySelector("[data-testid=editor]").value === "Not saved. Saved on leaving."`)
	p.state("Saved")
	p.calm("Failed to load resource", "ERR_")
}

func TestAtAConflictBothVersionsAreShownAndNeitherIsLost(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.draft("Small teams")
	p.edit()
	p.keys("Mine.")
	p.state("Saved")
	clash := func(theirs, mine string) {
		p.other(theirs)
		p.click("[data-testid=editor]")
		p.keys(mine)
		p.wait(`document.querySelector("[data-testid=conflict] .difference")`)
		p.wait(`document.querySelector("[data-testid=save-state]").textContent.startsWith("Not saved")`)
	}
	clash("Theirs.", " More.")
	require.Equal(t, "Mine. More.", p.text(`document.querySelector("[data-testid=mine]").value`))
	p.click("[data-testid=mine]")
	p.keys("a", chromedp.ModifierCtrl)
	p.keys("Merged by hand.")
	p.press("[data-testid=conflict]", "Keep mine")
	p.state("Saved")
	p.written("Merged by hand.")

	clash("Theirs again.", " My last words.")
	p.press("[data-testid=conflict]", "Take theirs")
	p.wait(`document.querySelector("[data-testid=editor]")?.value === "Theirs again."`)
	p.written("Theirs again.")
	p.text(`window.texts = [], fetch("/api" + location.pathname + "/versions").then(r => r.json()).then(async (all) => {
		for (const v of all.versions) window.texts.push((await (await fetch("/api" + location.pathname + "/versions/" + v.number)).json()).content);
		window.read = true;
	}), ""`)
	p.wait(`window.read`)
	require.Equal(t,
		`["Theirs again.","Merged by hand. My last words.","Theirs again.","Merged by hand.","Theirs.","Mine."]`,
		p.text(`JSON.stringify(window.texts)`))
	p.calm("409")
}

func TestAMarkedPassageIsProposedAcceptedUndoneAndRejected(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.draft("Small teams")
	p.edit()
	const text = "It is short. It is **not** long. It is the end."
	p.keys(text + "\r\rAnother paragraph.")
	p.keys("s", chromedp.ModifierCtrl)
	p.state("Saved")
	p.press(".editor-panel", "Done")

	p.mark(" long. It is the end.")
	p.wait(`document.querySelector("[data-testid=selection]:popover-open")`)
	p.press("[data-testid=selection]", "Friendlier")
	p.wait(`document.querySelector("[data-testid=proposal] h2")?.textContent.startsWith("The selection ")`)
	p.wait(content + `.textContent.includes("It is the end.")`) // nothing has changed yet
	p.press("[data-testid=proposal]", "Reject")
	p.wait(`!document.querySelector("[data-testid=proposal]")`)

	// The same in the editor.
	p.edit()
	p.keys("a", chromedp.ModifierCtrl)
	p.wait(`document.querySelector("[data-testid=selection]:popover-open")`)
	p.press("[data-testid=selection]", "Rewrite …")
	p.wait(`document.activeElement.matches("[data-testid=selection] input")`)
	p.keys("shorter, please\r")
	p.wait(`document.querySelector("[data-testid=proposal] del") && document.querySelector("[data-testid=proposal] ins")`)
	p.press("[data-testid=proposal]", "Accept")
	p.wait(`document.querySelector("[data-testid=editor]").value === "It is short. It is the end.\n\nAnother paragraph."`)
	p.wait(`document.querySelector("[data-testid=accepted]")`)
	p.press("[data-testid=accepted]", "Undo")
	p.wait(`document.querySelector("[data-testid=editor]").value.startsWith(` + quote(text) + `)`)

	// What the stand-in can't do is said, and nothing changes.
	p.press(".editor-panel", "Done")
	p.mark("Another paragraph.")
	p.press("[data-testid=selection]", "Translate …")
	p.wait(`document.activeElement.matches("[data-testid=selection] input")`)
	p.keys("Latin\r")
	p.wait(`document.querySelector("main .error-card")?.textContent.includes("can't translate")`)
	p.press("main .error-card", "Close this message")
	p.wait(`!document.querySelector("main .error-card")`)
	p.calm("400")
}

// A no in the chat takes the proposal away above the text, too; what is opened below one is
// scrolled to.
func TestANoInTheChatEndsTheProposalAboveTheText(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.made("Small teams")
	p.ask("Make it shorter")
	p.wait(`document.querySelector("[data-testid=proposal]")`)
	const seen = `(e => e && e.getBoundingClientRect().top < innerHeight / 2 && e.getBoundingClientRect().top >= 0)`
	p.text(`(document.getElementById("main").scrollTo(0, 0), "")`)
	p.tab("versions")
	p.wait(seen + `(document.querySelector("[data-testid=versions]"))`)
	p.text(`(document.getElementById("main").scrollTo(0, 0), "")`)
	p.edit()
	p.wait(seen + `(document.querySelector("[data-testid=editor]"))`)
	p.press(".editor-panel", "Done")
	p.wait(`!document.querySelector("[data-testid=editor]")`)
	p.ask("hm, no")
	p.said("The proposal is rejected.")
	p.wait(`!document.querySelector("[data-testid=proposal]")`)
	p.calm()
}

func TestASectionIsWrittenAgainAndAPictureIsReplaced(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.made("Remote teams that trust each other")
	section := p.text(content + `.querySelector("h2").textContent.trim()`)
	p.press("[data-testid=artifact-content]", "Change the section “"+section+"”")
	p.wait(`document.activeElement.matches(".part-menu:popover-open button")`)
	p.press(".part-menu:popover-open", "Write it again")
	p.wait(`document.querySelector("[data-testid=proposal] h2")?.textContent.startsWith(` + quote("The section “"+section) + `)`)
	p.press("[data-testid=proposal]", "Accept")
	p.wait(`document.querySelector("[data-testid=accepted]")`)

	first := p.text(content + `.querySelector("img").getAttribute("src")`)
	p.clickOn(content + `.querySelector(".figure button")`)
	p.wait(`document.activeElement.matches(".part-menu:popover-open input")`)
	p.keys("a", chromedp.ModifierCtrl)
	p.keys("an empty office\r")
	p.wait(`[...document.querySelectorAll("[data-testid=proposal] ins img")].some(i => i.alt === "an empty office" && i.naturalWidth > 0)`)
	p.press("[data-testid=proposal]", "Accept")
	p.wait(content + `.querySelector("img").alt === "an empty office"`)
	require.NotEqual(t, first, p.text(content+`.querySelector("img").getAttribute("src")`))
	p.tab("versions")
	p.press("[data-testid=versions]", "What changed")
	p.wait(`[...document.querySelectorAll("[data-testid=compared] del img")].some(i => i.naturalWidth > 0)`) // the old one is kept
	p.calm()
}

func TestSourcesAreFootnotesAndTheArticleIsExported(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.made("Remote teams that trust each other")
	p.clickOn(content + `.querySelector("a[href^='#source-']")`)
	p.wait(`document.activeElement.matches(".footnotes li") && document.activeElement.textContent.includes("Made up")`)
	p.text(`navigator.clipboard.writeText = (t) => (window.copied = t, Promise.resolve()), ""`)
	p.click("[data-testid=copy-markdown]")
	p.wait(`window.copied?.startsWith("---\ntitle: \"Remote teams that trust each other\"\n")`)
	p.wait(`/\[\^\d\]/.test(window.copied) && /\n\[\^\d\]: Made up/.test(window.copied)`)
	p.wait(`document.querySelector("[data-testid=download-markdown]").getAttribute("href").endsWith("/markdown")`)
	require.Equal(t, "true", p.text(`String(document.querySelector(".text .prose").clientWidth >= 720)`),
		"the text is at least 720 pixels wide beside the chat")
	require.Equal(t, "1", p.text(
		`String([...document.querySelectorAll("main *")].filter(e => e.children.length === 0 && e.textContent.trim() === "Remote teams that trust each other").length)`),
		"the title is there once")
	p.calm()
}

func TestTheHeadKeepsItsFocusAndSaysWherePatternsAre(t *testing.T) {
	t.Parallel()
	p := openContent(t, startContent(t), "ann")
	p.draft("Small teams")
	p.edit()
	p.keys("This is a testament to the team. It serves as a pivotal moment in the evolving landscape of work.")
	p.keys("s", chromedp.ModifierCtrl)
	p.state("Saved")
	p.press(".editor-panel", "Done")
	p.click(".patterns summary")
	p.wait(`document.querySelector(".patterns[open] q")?.textContent.length > 3`)
	p.wait(`document.activeElement.matches(".patterns summary")`)

	p.press(".article-head", "Change the title")
	p.wait(`document.activeElement.matches(".title-input")`)
	p.keys("Smaller teams\r")
	p.wait(`document.querySelector("h1")?.textContent === "Smaller teams"`)
	p.wait(`document.querySelector(".patterns[open]")`)
	p.text(`(e => (e.value = "friendly", e.dispatchEvent(new Event("change")), e.focus()))(document.querySelector(".facts select")), ""`)
	p.wait(`document.querySelector(".facts select").value === "friendly" && document.activeElement.matches(".facts select")`)
	p.click(".facts input")
	p.keys("one, two\r")
	p.wait(`document.querySelector(".facts input").value === "one, two"`)
	p.written("This is a testament to the team. It serves as a pivotal moment in the evolving landscape of work.")
	p.wait(`window.artifact.tone + " " + window.artifact.tags === "friendly one,two"`) // when it is saved
	p.calm()
}
