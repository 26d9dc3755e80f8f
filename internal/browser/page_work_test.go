package browser

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

func TestStopOnThePageEndsTheAnswer(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := newSite(t, uimessage.V6, agent.Config{Provider: g.model()})
	p := s.page("")
	p.say("Work.")
	<-g.called
	p.has("Working")
	p.say("Leave the start page out.")
	p.has("The agent reads it at the next step")
	p.wait(`performance.getEntriesByType("resource").filter((e) => e.name.endsWith("sessions/send")).length === 2`)
	p.press(".composer", "Stop")
	p.status("Stopped")
	p.wait(`!document.querySelector(".sending") &&
		document.querySelector(".composer textarea").value === "Leave the start page out."`)
	p.say(" Again.")
	<-g.called
	g.open <- struct{}{}
	p.status("Done")
	p.shows("user: Work.", "text: Working", "notice: Stopped.", "user: Leave the start page out. Again.",
		"text: Working done.")
}

func TestANoteIsAddedWhileTheAgentWorks(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := newSite(t, uimessage.V6, agent.Config{Provider: g.model()})
	p := s.page("")
	p.say("Work.")
	<-g.called
	p.has("Working")
	p.lists("Work.") // the title that it will have
	p.wait(`document.querySelector(".composer textarea").placeholder === "Add a note to the running task"`)
	p.say("Leave the start page out.")
	p.has("The agent reads it at the next step")
	s.posted(p.session(), 1)
	g.open <- struct{}{}
	<-g.called
	p.has("Added while the agent was working")
	g.open <- struct{}{}
	p.status("Done")
	p.shows("user: Work.", "text: Working done.", "user: Leave the start page out.", "text: Working done.")
}

func TestTheModeIsSwitchedBeforeAndDuringWork(t *testing.T) {
	t.Parallel()
	g := newGate()
	s := newSite(t, uimessage.V6,
		agent.Config{Provider: g.model(), Modes: []agent.Mode{{Name: "plan"}, {Name: "write"}, {Name: "test"}}})
	p := s.page("")
	mode := `document.querySelector(".composer select").value`
	choose := func(name string) {
		p.text(`document.querySelector(".composer select").focus(), ""`)
		p.keys(name[:1])
		p.wait(mode + ` === ` + quote(name))
	}
	choose("write")
	p.say("Work.")
	<-g.called
	p.has("Working")
	choose("test")
	s.posted(p.session(), 1)
	p.say("Go on.")
	p.has("The agent reads it at the next step")
	s.posted(p.session(), 2)
	g.open <- struct{}{}
	<-g.called
	p.has("Mode: test")
	g.open <- struct{}{}
	p.status("Done")
	p.reload()
	p.wait(mode + ` === "test"`)
	var modes []string
	facts, err := s.hub.Agent().Session(p.session()).Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		switch f := f.(type) {
		case *agent.RunStarted:
			modes = append(modes, f.Mode)
		case *machine.ModeChanged:
			modes = append(modes, f.To)
		}
	}
	require.Equal(t, []string{"write", "test"}, modes)
	p.calm()
}

// layoutShift sums what moved without anybody having done something, from now on.
const layoutShift = `(window.shift = 0, new PerformanceObserver(list => {
	for (const e of list.getEntries()) if (!e.hadRecentInput) window.shift += e.value;
}).observe({type: "layout-shift"}), "")`

func TestNothingMovesWhileTextStreams(t *testing.T) {
	t.Parallel()
	var pieces []string
	for range 3 {
		for piece := range strings.SplitAfterSeq(markdown, " ") {
			pieces = append(pieces, piece)
		}
	}
	g := newGate()
	s := newSite(t, uimessage.V6, agent.Config{Provider: streams(g, pieces)})
	p := s.page("")
	p.say("Write.")
	<-g.called
	p.has("The end of the beginning")
	p.text(layoutShift)
	g.open <- struct{}{}
	p.wait(`document.querySelector(".scroller").scrollTop > 300`) // the view follows
	p.status("Done")
	p.wait(`!document.querySelector(".streaming")`)
	require.Less(t, p.number("window.shift"), 0.001)

	// Someone who reads further up isn't moved either.
	p.say("Again.")
	<-g.called
	p.has("Again.")
	p.status("Working")
	p.text(`document.querySelector(".scroller").scrollTo(0, 100), ""`)
	p.wait(`document.querySelector(".jump:not([hidden])")`)
	before := p.number(`document.querySelector(".scroller").scrollTop`)
	g.open <- struct{}{}
	p.status("Done")
	require.InDelta(t, before, p.number(`document.querySelector(".scroller").scrollTop`), 1)
	require.Less(t, p.number("window.shift"), 0.001)
	p.press(".bottom", "Jump to latest")
	p.wait(`document.querySelector(".jump").hidden`)
	p.calm()
}

func TestAReplyWithoutTextIsSaidToBeNoAnswer(t *testing.T) {
	t.Parallel()
	s := newSite(t, uimessage.V6, scripted(providertest.Call("look", object{"page": "home"}), providertest.Empty()))
	p := s.page("")
	p.say("Look.")
	p.wait(`!["", "Working"].includes(document.querySelector(".status").textContent)`)
	p.shows("user: Look.", "call: Look home: Done", "notice: The model didn't answer. Send the message again.")
}
