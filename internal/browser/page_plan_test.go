package browser

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// planTools returns the tools with which a plan is submitted, over the same journal. The first
// calls of "make" with the page "hero" fail.
func planTools(store journal.Store, failures int32) []tools.Tool {
	var calls atomic.Int32
	worker, err := agent.New(agent.Config{Name: "worker", Provider: providertest.Script(), Journal: store,
		Tools: []tools.Tool{
			tools.New(tools.Spec{Name: "make"}, func(_ context.Context, in target) (string, error) {
				if in.Page == "hero" && calls.Add(1) <= failures {
					return "", errors.New("the image is missing")
				}
				return "made " + in.Page, nil
			}),
			tools.New(tools.Spec{Name: "publish", Risk: tools.High},
				func(_ context.Context, in target) (string, error) { return "published " + in.Page, nil }),
		}})
	if err != nil {
		panic(err)
	}
	r, err := plan.New(plan.Config{Agent: worker, AskOnFailure: true, Parallel: 1})
	if err != nil {
		panic(err)
	}
	return plan.Tools(r)
}

func planStep(id, tool string, after ...string) object {
	return object{"id": id, "tool": tool, "input": `{"page":"` + id + `"}`, "after": after}
}

// submits is the reply of a model that submits a plan.
func submits() providertest.Step {
	return providertest.Call(plan.ToolSubmit,
		object{"title": "A page about us", "why": "The visitors ask who we are.", "nodes": []object{
			planStep("about", "make"), planStep("hero", "make", "about"), planStep("team", "make", "about"),
			planStep("all", "publish", "hero", "team"),
		}})
}

func TestASubmittedPlanIsShownApprovedAndAskedAbout(t *testing.T) {
	t.Parallel()
	store := &journal.MapStore{}
	s := newSite(t, uimessage.V6,
		agent.Config{Provider: providertest.Script(submits(), providertest.Say("The page is there.")), Journal: store,
			Tools: planTools(store, 1)})
	p := s.page("")
	p.say("Make a page about us.")
	p.status("Waits for you")
	card := p.card("Carry out the plan “A page about us”?")
	p.wait(`document.querySelectorAll(".card .steps li").length === 4`)
	p.calm()
	p.press(card, "Approve")

	p.has("has failed: the image is missing")
	p.has("1 of 4 steps")
	p.clickOn(`document.querySelector(".card input")`)
	p.keys("The image is there now.")
	p.press(".card", "Retry")
	p.wait(`document.querySelector(".plan .steps .success") !== null`)

	p.has("The page is there.") // the approval of the plan has answered for the call of publish
	p.has("4 of 4 steps")
	p.reload() // the plan is there after it
	p.has("4 of 4 steps")

	p.click(".plan summary")
	p.wait(`!document.querySelector(".plan .steps").checkVisibility()`)
	p.press(".plan", "Close the plan")
	p.reload() // as it was left
	p.press(".turn", "Show the plan “A page about us”: Done · 4 of 4 steps")
	p.wait(`document.querySelector(".plan .steps").checkVisibility() && document.activeElement.matches(".plan summary")`)
	p.calm()
}
