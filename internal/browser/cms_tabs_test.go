package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hides is a script of pages and of frames in them that makes them hidden until a page says
// something else. A browser does the same to tabs behind others, but not while it has no window.
const hides = `(hidden => {
	Object.defineProperty(Document.prototype, "hidden", { get: () => hidden });
	const set = yes => (hidden = yes, document.dispatchEvent(new Event("visibilitychange")));
	addEventListener("message", e => { if (typeof e.data?.hidden === "boolean") { e.stopImmediatePropagation(); set(e.data.hidden); } }, true);
	self.hide = yes => { set(yes); for (const f of document.querySelectorAll("iframe")) f.contentWindow.postMessage({ hidden: yes }, "*"); };
})(false)`

// TestTheCMSWorksInManyTabs has one session open in more tabs than the six that a browser has
// connections for; in twelve with -screens. Each can be used when somebody comes to it.
func TestTheCMSWorksInManyTabs(t *testing.T) {
	t.Parallel()
	server := startCMS(t)
	session := ""
	tabs := make([]*cmsPage, 8)
	if *screens {
		tabs = make([]*cmsPage, 12)
	}
	for i := range tabs {
		p := &cmsPage{&builtIn{open(t, "about:blank")}, server}
		_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: hides})
		require.NoError(t, err)
		p.screen(1440, 900, "light")
		p.reach(session)
		if i == 0 {
			p.say("Create an About page with a hero titled Hello")
			p.done()
			session = p.session()
		}
		p.previews("/pages/about")
		p.wait(`document.querySelector(".page-bar h2").textContent === "About"`) // the frame is loaded
		p.text(`hide(true), ""`)
		tabs[i] = p
	}
	for i, p := range []*cmsPage{tabs[len(tabs)-1], tabs[0]} {
		p.text(`hide(false), ""`)
		p.say(fmt.Sprintf("Create a page called Tab %d", i))
		p.done()
		p.listed(fmt.Sprint("Tab ", i), true)
		p.previews(fmt.Sprint("/pages/tab-", i))
		p.text(`hide(true), ""`)
		p.calm()
	}
}
