package browser

import (
	"testing"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

func TestAQuestionWithOptionsHasAButtonForEach(t *testing.T) {
	t.Parallel()
	question := object{"question": "What comes first?", "options": []string{"main.go and go.mod", "tests", "README.md"}}
	model := providertest.Script(providertest.Call("ask", question), providertest.Call("ask", question),
		providertest.Call("ask", object{"question": "What is it called?"}), providertest.Say("So be it."))
	s := newSite(t, uimessage.V6, agent.Config{Provider: model, Tools: []tools.Tool{agent.AskTool()}})
	p := s.page("")
	p.say("Build it.")
	p.status("Waits for you")
	p.press(p.card("What comes first?"), "Tests")
	p.wait(`document.querySelectorAll(".record").length === 1`)
	card := p.card("What comes first?")
	p.press(card, "Reject with a reason")
	p.wait(`document.activeElement.matches(".card textarea")`)
	p.press(card, "Cancel")
	p.press(card, "README.md")
	p.wait(`document.querySelectorAll(".record").length === 2`)
	p.click(".card .input")
	p.keys("wc")
	p.press(".card", "Send answer")
	p.has("So be it.")
	model.AssertSaw(t, 1, providertest.ToolResult("ask"))
	p.calm()
}
