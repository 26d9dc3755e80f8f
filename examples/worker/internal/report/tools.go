package report

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/tools"
)

// The tools, in the order in which a report needs them.
const (
	toolOutline  = "outline"
	toolResearch = "research" // a subagent, whose tool is search
	toolSearch   = "search"
	toolDraft    = "draft"
	toolFigures  = "figures"
	toolAssemble = "assemble"
	toolPublish  = "publish"
)

// The artifacts.
const (
	ArtifactDraft   = "draft"
	ArtifactFigures = "figures" // JSON with the figures as SVG
	ArtifactPage    = "report.html"
)

// Steps names the steps of a report for people, by the tools that do them, in order.
var Steps = [][2]string{{toolOutline, "Outline"}, {toolResearch, "Research"}, {toolDraft, "Draft"},
	{toolFigures, "Figures"}, {toolAssemble, "Page"}, {toolPublish, "Publish"}}

// StepName returns the name of a step for people; "" for another tool.
func StepName(tool string) string {
	for _, s := range Steps {
		if s[0] == tool {
			return s[1]
		}
	}
	return ""
}

// repeatable is the spec of a tool whose effect knows the keys of calls.
func repeatable(name, description string) tools.Spec {
	return tools.Spec{Name: name, Description: description, Idempotent: true, ParallelSafe: true, NoBreaker: true,
		Retries: map[fault.Class]fault.Retry{
			fault.Transient: {Attempts: 5, Min: 200 * time.Millisecond, Max: 2 * time.Second}}}
}

// begin counts an attempt at the call that ctx belongs to.
func (k *kit) begin(ctx context.Context, once bool) (c ledger.Call, attempt int, err error) {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return c, 0, fault.New(fault.Permanent, "report: this is a tool of an agent")
	}
	c = ledger.Call{ID: call.IdempotencyKey, Session: call.Labels.Get(labelReport), Tool: call.Name, Worker: k.Worker,
		Fence: call.Fence, Once: once}
	attempt, err = k.Ledger.Begin(ctx, c)
	return c, attempt, err
}

// do waits as long as a call takes, and stores its effect.
func (k *kit) do(ctx context.Context, shortest, longest time.Duration, made ...ledger.Artifact) error {
	c, attempt, err := k.begin(ctx, true)
	if err == nil {
		err = k.wait(ctx, shortest, longest, c.ID, attempt)
	}
	if err != nil {
		return err
	}
	return k.Ledger.Effect(ctx, c, attempt, made...)
}

type topicInput struct {
	Topic string `json:"topic" description:"what the report is about"`
}

type outline struct {
	Title     string   `json:"title"`
	Sections  []string `json:"sections"`
	Questions []string `json:"questions"`
}

func (k *kit) outline() tools.Tool {
	return tools.New(repeatable(toolOutline, "Makes the outline of a report, with questions for research."),
		func(ctx context.Context, in topicInput) (outline, error) {
			return outlineOf(in.Topic), k.do(ctx, 500*time.Millisecond, 1200*time.Millisecond)
		})
}

type searchInput struct {
	Query string `json:"query"`
}

// search fails now and then.
func (k *kit) search() tools.Tool {
	return tools.New(repeatable(toolSearch, "Searches the library."),
		func(ctx context.Context, in searchInput) (string, error) {
			c, attempt, err := k.begin(ctx, true)
			if err == nil {
				err = k.wait(ctx, time.Second, 3*time.Second, c.ID, attempt)
			}
			if err == nil && random("fails", c.ID, attempt) < 0.3 {
				err = fault.New(fault.Transient, "the library is closed for a moment; search again")
			}
			if err != nil {
				return "", err
			}
			return findings(in.Query), k.Ledger.Effect(ctx, c, attempt)
		})
}

type draftInput struct {
	Title    string   `json:"title"`
	Sections []string `json:"sections"`
	Findings []string `json:"findings"`
}

// draft is slow and says how far it is.
func (k *kit) draft() tools.Tool {
	spec := repeatable(toolDraft, "Writes the text of a report.")
	spec.Progress = true
	return tools.New(spec, func(ctx context.Context, in draftInput) (string, error) {
		c, attempt, err := k.begin(ctx, true)
		if err != nil {
			return "", err
		}
		text := textOf(in)
		for i, p := range text.Sections {
			tools.Progress(ctx, tools.ProgressReport{Text: "Writing “" + p.Title + "”",
				Done: float64(i) / float64(len(text.Sections))})
			if err := k.wait(ctx, 700*time.Millisecond, 2*time.Second, c.ID, attempt, i); err != nil {
				return "", err
			}
		}
		err = k.Ledger.Effect(ctx, c, attempt, ledger.Artifact{Name: ArtifactDraft, Data: encode(text)})
		return fmt.Sprintf("The draft has %d sections.", len(text.Sections)), err
	})
}

type titleInput struct {
	Title string `json:"title"`
}

func (k *kit) figures() tools.Tool {
	return tools.New(repeatable(toolFigures, "Draws the figures of a report."),
		func(ctx context.Context, in titleInput) (string, error) {
			drawn := []string{bars(in.Title), curve(in.Title)}
			return "Two figures are drawn.", k.do(ctx, 500*time.Millisecond, 1500*time.Millisecond,
				ledger.Artifact{Name: ArtifactFigures, Data: encode(drawn)})
		})
}

func (k *kit) assemble() tools.Tool {
	return tools.New(repeatable(toolAssemble, "Puts the draft and the figures together to one page."),
		func(ctx context.Context, in titleInput) (string, error) {
			call, _ := tools.CallOf(ctx)
			page, err := k.page(ctx, call.Labels.Get(labelReport))
			if err != nil {
				return "", err
			}
			err = k.do(ctx, 300*time.Millisecond, 900*time.Millisecond, ledger.Artifact{Name: ArtifactPage, Data: page})
			return fmt.Sprintf("The page has %d bytes.", len(page)), err
		})
}

// Published is the result of a publication.
const Published = "It is published."

// publish isn't repeatable: nobody who reads the report would notice a key. When its process is
// killed, it isn't known whether it has happened, and the run asks.
func (k *kit) publish() tools.Tool {
	return tools.Func[titleInput, string]{
		Spec: tools.Spec{Name: toolPublish, Description: "Publishes the report for everybody.", Risk: tools.High,
			NoBreaker: true},
		Title: func(_ context.Context, in titleInput) string { return "Publish “" + in.Title + "”" },
		Run: func(ctx context.Context, _ titleInput) (string, error) {
			c, attempt, err := k.begin(ctx, false)
			if err == nil {
				err = k.wait(ctx, 600*time.Millisecond, 1500*time.Millisecond, c.ID, attempt)
			}
			if err == nil {
				err = k.Ledger.Effect(ctx, c, attempt)
			}
			if err == nil {
				_ = k.wait(ctx, 100*time.Millisecond, 300*time.Millisecond, c.ID) // until the answer comes back
			}
			return Published, err
		},
	}
}
