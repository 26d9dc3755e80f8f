package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// conditions are those of the network.
type conditions struct {
	Offline  bool    `json:"offline"`
	Latency  float64 `json:"latency"`            // in ms
	Download float64 `json:"downloadThroughput"` // in bytes per second; -1: no limit
	Upload   float64 `json:"uploadThroughput"`
}

// setConditions is older than what package network has, but all versions of Chromium know it.
var setConditions = cdp.Command[conditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// network sets the conditions of the network. The zero value is no limit.
func (p *builtIn) network(c conditions) {
	p.t.Helper()
	if c.Download == 0 {
		c.Download, c.Upload = -1, -1
	}
	_, err := chromedp.Call(p.ctx, setConditions, c)
	require.NoError(p.t, err)
}

func TestThePageIsLoadedAgainInTheMiddleOfAText(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := newSite(t, uimessage.V6, agent.Config{Provider: g.model()})
	p := s.page("")
	p.say("Work.")
	<-g.called
	for range 2 {
		p.has("Working")
		p.status("Working")
		require.Equal(t, []string{"user: Work.", "text: Working"}, p.shown())
		p.reload()
	}
	p.has("Working")
	g.open <- struct{}{}
	p.status("Done")
	p.shows("user: Work.", "text: Working done.")
}

func TestThePageIsLoadedAgainInTheMiddleOfAnApproval(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6,
		scripted(providertest.Reply(providertest.Say("I delete."), providertest.Calls(deletes("a"), deletes("b"))),
			providertest.Say("All gone.")))
	p := s.page("")
	p.say("Delete.")
	p.press(p.card("Delete “a”?"), "Approve")
	p.wait(`document.querySelectorAll(".card").length === 1`)
	p.reload()
	p.press(p.card("Delete “b”?"), "Approve")
	p.has("All gone.")
	require.ElementsMatch(t, []string{"a", "b"}, s.did())
	p.shows("user: Delete.", "text: I delete.", "call: Delete a: Done", "call: Delete b: Done",
		"record: Approved by ann · Delete “a”", "record: Approved by ann · Delete “b”", "text: All gone.")
}

func TestThePageGoesOnAfterTheServerWasKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir, "127.0.0.1:0", true)
	p := openPage(t, "http://"+first.address, "")
	p.say("Work.")
	p.has("Working")
	first.kill()
	p.wait(`document.querySelector(".bar:not([hidden])")`)
	start(t, dir, first.address, false)
	p.status("Done") // it has connected by itself
	p.wait(`!document.querySelector(".bar:not([hidden])")`)
	require.Equal(t, []string{"user: Work.", "text: Working done."}, p.shown())
	p.calm("network: Failed to load")
}

// TestAMessageWhoseAnswerIsLostStartsNothingTwice loses the answer to the first message of a chat,
// so that it is sent again.
func TestAMessageWhoseAnswerIsLostStartsNothingTwice(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Say("Hello."), providertest.Say("Hello again.")))
	p := s.page("")
	s.loses.Store(true)
	p.say("Good morning.")
	p.wait(`document.querySelector(".composer .trouble:not([hidden])")`)
	require.Equal(t, "Good morning.", p.text(`document.querySelector(".composer textarea").value`))
	p.press(".composer", "Send")
	p.status("Done")
	p.has("Hello.")
	require.Equal(t, []string{"user: Good morning.", "text: Hello."}, p.shown())
	p.wait(`document.querySelectorAll(".session").length === 1`)
	p.calm("502")
}

func TestADecisionOnThePageOutlivesTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, dir, "127.0.0.1:0", false)
	p := openPage(t, "http://"+first.address, "")
	p.say("Delete a.")
	card := p.card("Delete “a”?")
	first.kill()
	p.press(card, "Approve") // nobody is there to take it
	p.wait(`document.querySelector(".card .error-text").textContent`)
	start(t, dir, first.address, false)
	p.press(card, "Approve")
	p.has("Working done.")
	deleted, err := os.ReadFile(filepath.Join(dir, "deleted"))
	require.NoError(t, err)
	require.Equal(t, "a\n", string(deleted))
	require.Equal(t, []string{"user: Delete a.", "call: Delete a: Done", "record: Approved by ann · Delete “a”",
		"text: Working done."}, p.shown())
	p.calm("network: Failed to load")
}

func TestWhatOneTabDecidesTheOtherShows(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6,
		scripted(providertest.Calls(deletes("a"), deletes("b")), providertest.Say("Decided.")))
	one := s.page("")
	one.say("Delete.")
	one.status("Waits for you")
	two := s.page(one.session())
	two.card("Delete “b”?")
	two.press(two.card("Delete “a”?"), "Suggest a change") // this tab is about to decide
	one.press(one.card("Delete “a”?"), "Approve")
	two.has("Approved by ann")
	require.Equal(t, "1", two.text(`String(document.querySelectorAll(".card").length)`))
	two.press(two.card("Delete “b”?"), "Reject")
	one.has("Decided.")
	require.Equal(t, []string{"a"}, s.did())
	want := []string{"user: Delete.", "call: Delete a: Done", "call: Delete b: Rejected",
		"record: Approved by ann · Delete “a”", "record: Rejected by ann · Delete “b”", "text: Decided."}
	one.shows(want...)
	two.shows(want...)
}

func TestASlowNetworkShowsEverythingOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Slowly. ", 800) + "End."
	s := newSite(t, uimessage.V6,
		scripted(providertest.Reply(providertest.Say(text), providertest.Call("delete", object{"page": "a"})),
			providertest.Say("Gone.")))
	p := s.page("")
	p.network(conditions{Latency: 100, Download: 40_000, Upload: 40_000})
	p.say("Delete.")
	p.press(p.card("Delete “a”?"), "Approve")
	p.has("Gone.")
	p.network(conditions{})
	p.shows("user: Delete.", "text: "+text, "call: Delete a: Done", "record: Approved by ann · Delete “a”",
		"text: Gone.")
}

func TestThePageCatchesUpWhenItIsOnlineAgain(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := newSite(t, uimessage.V6, agent.Config{Provider: g.model()})
	p := s.page("")
	p.say("Work.")
	<-g.called
	p.has("Working")
	p.network(conditions{Offline: true})
	s.http.CloseClientConnections()
	p.wait(`document.querySelector(".bar:not([hidden])")`)
	g.open <- struct{}{}
	p.network(conditions{})
	p.status("Done")
	require.Equal(t, []string{"user: Work.", "text: Working done."}, p.shown())
	p.calm("network: Failed to load")
}

func TestTheBarGoesWhenNothingWasLost(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Say("One."), providertest.Say("Two.")))
	p := s.page("")
	for _, text := range []string{"One.", "Two."} { // without a connection that stays open, and with one
		p.network(conditions{Offline: true})
		p.wait(`document.querySelector(".bar:not([hidden])")`)
		p.network(conditions{})
		p.wait(`!document.querySelector(".bar:not([hidden])")`)
		p.say("Hello")
		p.has(text)
	}
	p.calm("ERR_INTERNET_DISCONNECTED")
}

func TestADraftSurvivesAReload(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Say("Hello.")))
	p := s.page("")
	draft := `document.querySelector(".composer textarea").value`
	p.click(".composer textarea")
	p.keys("Not yet finished")
	p.reload()
	require.Equal(t, "Not yet finished", p.text(draft))
	p.press(".composer", "Send")
	p.has("Hello.")
	p.click(".composer textarea")
	p.keys("Another")
	p.reload()
	require.Equal(t, "Another", p.text(draft))
	p.press(".sidebar", "New chat")
	p.wait(draft + ` === ""`)
	p.run(chromedp.NavigateBack())
	p.wait(draft + ` === "Another"`)
	p.calm()
}

func TestFiveHundredMessagesAreShownAndGoOn(t *testing.T) {
	t.Parallel()
	var steps []providertest.Step
	for i := range 251 {
		steps = append(steps, providertest.Say(fmt.Sprintf("Answer %d.", i)))
	}
	s := newSite(t, uimessage.V6, scripted(steps...))
	for i := range 250 {
		res, err := s.hub.Agent().Run(t.Context(), agent.Input{Session: "s-1", Prompt: fmt.Sprintf("Question %d?", i),
			Owner: "ann", User: "ann", Interactive: true})
		require.NoError(t, err)
		require.Equal(t, agent.Completed, res.Status)
	}
	p := s.page("s-1")
	shows := func(n int) {
		p.wait(fmt.Sprintf(`document.querySelectorAll(".column :is(.user, .part)").length === %d`, n))
	}
	shows(200)
	// it begins at the end
	p.wait(`(e => e.scrollHeight - e.scrollTop - e.clientHeight < 2)(document.querySelector(".scroller"))`)
	for n := 400; n <= 500; n += 100 { // older ones are put above what is in view
		const top = `document.querySelector(".column .user").getBoundingClientRect().top`
		p.text(`document.querySelector(".scroller").scrollTo(0, 0), ""`)
		first := p.text(`document.querySelector(".user .bubble").textContent`)
		before := p.number(top)
		p.drawn(fmt.Sprintf("page-older-1280-light-%d.png", n))
		p.press(".older", "Show older messages")
		shows(n)
		p.wait(fmt.Sprintf(`Math.abs([...document.querySelectorAll(".user")].find(e => e.querySelector(".bubble").textContent === %s)
			.getBoundingClientRect().top - %f) < 2`, quote(first), before))
	}
	require.Equal(t, "true", p.text(`String(document.querySelector(".older").hidden)`))
	p.say("One more?")
	p.has("Answer 250.")
	items := p.shown()
	require.Len(t, items, 502)
	require.Equal(t, []string{"user: Question 249?", "text: Answer 249.", "user: One more?", "text: Answer 250."},
		items[498:])
	p.calm()
}
