package browser

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// cmsKills is how often the server is killed at a random moment of a task.
var cmsKills = flag.Int("cms-kills", 1,
	"how often TestKillsOfTheServerLoseAndRepeatNothing kills the server of the CMS")

// longTask is a task of eight steps.
const longTask = "Create a page called One with a hero titled First, then create a page called Two, " +
	"then create a page called Three, then create a page called Four, " +
	"then create a page called Six with a hero titled Sixth, then create a page called Seven, " +
	"then create a page called Eight, then create a page called Nine"

// longTaskTime is about how long it takes.
const longTaskTime = 400 * time.Millisecond

var longTaskDone = []string{"eight 0", "four 0", "nine 0", "one 1", "seven 0", "six 1", "three 0", "two 0"}

// fill writes a message without sending it.
func (p *cmsPage) fill(text string) {
	p.t.Helper()
	p.text(`(f => { f.value = ` + quote(text) + `; f.dispatchEvent(new Event("input", {bubbles: true}));
		f.focus(); return "" })(document.querySelector(".composer textarea"))`)
}

// killAfter kills the server some time after the log of a session has a row with a text. The
// channel is closed then.
func (s *cmsServer) killAfter(session, begins string, wait time.Duration) <-chan struct{} {
	s.t.Helper()
	resp, err := http.Get("http://" + s.page + "/assistant/log?session=" + session)
	require.NoError(s.t, err)
	kill, killed := s.kill, make(chan struct{})
	go func() {
		defer close(killed)
		defer kill()
		defer resp.Body.Close()
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if strings.Contains(lines.Text(), begins) {
				<-time.After(wait)
				return
			}
		}
	}()
	return killed
}

// plan asks for the long task in the mode Plan, and waits for the card of its plan.
func (p *cmsPage) plan() {
	p.t.Helper()
	p.mode("Plan")
	p.fill(longTask)
	p.keys("\r")
	p.asked("Carry out the plan")
}

// TestKillsOfTheServerLoseAndRepeatNothing kills the server with -9 at random moments of a plan,
// with the page open.
func TestKillsOfTheServerLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	s := startCMS(t)
	p := openCMS(t, s, "")
	p.plan()
	p.press(".card", "Approve")
	p.decided()
	want := s.contents()
	require.Subset(t, want, longTaskDone)
	for i := range *cmsKills { // not in parallel: while one waited for its turn, this test would keep a browser
		t.Run(fmt.Sprint(i), func(t *testing.T) { killIt(t, want) })
	}
}

// killIt kills a server in the middle of the plan, and starts it again. The page goes on by itself.
func killIt(t *testing.T, want []string) {
	p, ended := killedInTheMiddle(t)
	s := p.server
	s.start()
	p.wait(`!document.querySelector(".bar:not([hidden])")`)
	p.decided()
	p.wait(`document.querySelector(".plan .outcome")?.textContent.startsWith("Done")`)
	require.Equal(t, want, s.contents())
	require.Equal(t, ended+1, count(s.facts(p.session()), "run_ended"))
	p.reload()
	p.wait(`document.querySelector(".plan .outcome")?.textContent.startsWith("Done")`)
	p.done()
	p.calm("network: Failed to load", "ERR_")
}

// killedInTheMiddle returns the page of a server that was killed in the middle of the plan, and how
// many runs had ended or paused before. The work is fast: some kills come when it is done.
func killedInTheMiddle(t *testing.T) (*cmsPage, int) {
	t.Helper()
	for range 50 {
		p := openCMS(t, startCMS(t), "")
		p.plan()
		ended := count(p.server.facts(p.session()), "run_ended")
		killed := p.server.killAfter(p.session(), `"type":"approval_decided"`, rand.N(longTaskTime))
		p.press(".card", "Approve")
		<-killed
		facts := p.server.facts(p.session())
		if count(facts, "run_ended") == ended && count(facts, "decided") > 0 {
			return p, ended
		}
	}
	require.Fail(t, "the work always ended before the server was killed")
	return nil, 0
}

func count(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

// TestSomebodyWhoComesBackSeesWhatBecameOfARequest kills the server while an approval is open, and
// starts it when the time to decide is over.
func TestSomebodyWhoComesBackSeesWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	const expires = 4 * time.Second
	s := startCMS(t, "-expires", expires.String())
	p := openCMS(t, s, "")
	p.say("Delete the home page")
	p.asked("left")
	session := p.session()
	p.run(chromedp.Navigate("about:blank"))
	s.kill()
	<-time.After(expires)
	s.start()
	p.reach(session)
	p.wait(
		`[...document.querySelectorAll(".record .what")].some(e => e.textContent.includes("Nobody decided in time"))`)
	p.decided()
	require.Contains(t, strings.Join(s.contents(), " "), "home ")
	p.drawn("cms-comes-back.png")
}
