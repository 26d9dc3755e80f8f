package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/script"
	"github.com/pawlkit/pawl/provider"
)

// A router is the provider of the chat. It makes the calls for what a button sends, and answers in
// words. All else goes to the model, unless that is the stand-in: then package script reads it.
type router struct {
	*Services
	model provider.Provider
}

// Unwrap returns the model, which has guards of its own.
func (r *router) Unwrap() provider.Provider { return r.model }

// route begins the ids of the calls that a router makes.
const route = "route-"

// A reply is what a router answers: a text, and a call.
type reply struct {
	text, name string
	input      any
}

// Stream answers a request.
func (r *router) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if req == nil || req.Labels.Kind != "step" || req.Labels.User == "" {
			r.pass(ctx, req, yield)
			return
		}
		t := turnOf(req)
		answer, err := r.answer(ctx, t)
		switch {
		case err != nil:
			yield(provider.Chunk{}, err)
		case answer != nil:
			if said, ok := answer.input.(contenttools.Answer); ok && t.labels.Get(labelPage) == Terminal {
				answer.text += "\n" + Lines(said.Data, said.Options)
			}
			answer.stream(yield)
		default:
			r.ask(ctx, t, req, yield)
		}
	}
}

// pass has the model answer a tool. The section that it writes for a pipeline is shown as it is
// written.
func (r *router) pass(ctx context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) {
	answer := r.model.Stream(ctx, req)
	var d *driven
	if req != nil {
		d = r.driven(req.Labels.Session)
	}
	if d != nil {
		answer = d.heard(answer)
	}
	var text strings.Builder
	last := time.Now()
	for c, err := range answer {
		if c.Kind == provider.KindText && d != nil && req.Labels.Kind == "writer" {
			text.WriteString(c.Text)
			if time.Since(last) > pace {
				last = time.Now()
				d.wrote(text.String())
			}
		}
		if !yield(c, err) {
			return
		}
	}
}

// pace is how often a section that is being written is shown.
const pace = 200 * time.Millisecond

// EndsWithContext reports whether the model declares that it ends with its context.
func (r *router) EndsWithContext() bool { return provider.EndsWithContext(r.model) }

// Info describes the model.
func (r *router) Info() provider.ModelInfo {
	info, _ := provider.Info(r.model)
	return info
}

// answer returns what the rules answer; nil: the model is to do it.
func (r *router) answer(ctx context.Context, t turn) (*reply, error) {
	if n := len(t.calls); n > 0 {
		last := &t.calls[n-1]
		if !last.ours() {
			return nil, nil
		}
		return r.after(ctx, t, last)
	}
	if out, err := r.declined(ctx, t); out != nil || err != nil {
		return out, err
	}
	if r.cfg.Real && !isButton(t.message) {
		return nil, nil
	}
	at, err := r.place(ctx, t)
	if err != nil {
		return nil, err
	}
	w := script.Read(chosen(t.message, t.offered), at)
	if _, err := r.about(ctx, t.user, t.session, at.Open, w.Artifact, at.Open); err != nil {
		return nil, err
	}
	out := r.begin(ctx, t, at, w)
	if t.unsaid != nil { // the message came while a tool was at work
		said, err := r.say(ctx, t, t.unsaid)
		if err != nil {
			return nil, err
		}
		out.text = strings.TrimSpace(said.Message + "\n\n" + out.text)
		if a, ok := out.input.(contenttools.Answer); ok {
			if a.Message = out.text; a.Options == nil {
				a.Options, a.Data, a.ArtifactID = said.Options, said.Data, said.ArtifactID
			}
			out.input = a
		}
	}
	return out, nil
}

// chosen returns what an option of the answer before sends, if a message is its label or number, or
// a yes to a proposal.
func chosen(message string, offered []Option) string {
	said := strings.Trim(message, ` .!"“”`)
	for i, o := range offered {
		if said == strconv.Itoa(i+1) || strings.EqualFold(o.Label, said) || o.Label == accept && intent.Yes(message) {
			return o.Message
		}
	}
	return message
}

// after goes on after a call.
func (r *router) after(ctx context.Context, t turn, last *called) (*reply, error) {
	var done contenttools.Done
	if e, ok := envelopeOf(last.result); ok && last.call.Name == contenttools.CreateDraft && e.Success {
		if err := json.Unmarshal(e.Data, &done); err != nil {
			return nil, err
		}
		if _, err := r.about(ctx, t.user, t.session, t.labels.Get(labelArtifact), done.Artifact.ID); err != nil {
			return nil, err
		}
		if len(done.Then) > 0 {
			return &reply{name: RunSteps, input: stepsInput{ArtifactID: done.Artifact.ID, Steps: done.Then}}, nil
		}
	}
	said, err := r.say(ctx, t, last)
	if err != nil {
		return nil, err
	}
	return finally(said), nil
}

// place returns what a message can be about.
func (r *router) place(ctx context.Context, t turn) (at script.Place, err error) {
	at.Open = t.labels.Get(labelArtifact)
	if at.Artifacts, err = r.Store.Artifacts(ctx, t.user); err != nil {
		return at, err
	}
	at.About, err = r.about(ctx, t.user, t.session, at.Open)
	return at, err
}

// headings returns those of the sections of a text.
func headings(text string) (all []string) {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, strings.TrimSpace(title))
		}
	}
	return all
}

var image = regexp.MustCompile(`!\[[^\]\n]*\]\(([^)\n]*)\)`)

// pictures returns the addresses of the pictures in a text.
func pictures(text string) (all []string) {
	for _, m := range image.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// stream yields the chunks of a reply.
func (r *reply) stream(yield func(provider.Chunk, error) bool) {
	input, err := json.Marshal(r.input)
	if err != nil {
		yield(provider.Chunk{}, fmt.Errorf("assistant: the input of %s: %w", r.name, err))
		return
	}
	chunks := []provider.Chunk{provider.Start("")}
	if r.text != "" {
		chunks = append(chunks, provider.Text(r.text))
	}
	chunks = append(chunks, provider.ToolStart(0, route+"1", r.name), provider.ToolDelta(0, string(input)),
		provider.ToolEnd(0), provider.End(provider.StopToolCalls, provider.Usage{}))
	for _, c := range chunks {
		if !yield(c, nil) {
			return
		}
	}
}

// ask has the model answer. If it can't, the answer says why.
func (r *router) ask(ctx context.Context, t turn, req *provider.Request, yield func(provider.Chunk, error) bool) {
	began, said := false, strings.Builder{} // of the call: the last one is the answer
	for c, err := range (masking{r.model}).Stream(ctx, req) {
		if err != nil && ctx.Err() == nil && !isTooLong(err) {
			p := contenttools.Explain(err)
			r.cfg.Logger.WarnContext(ctx, "content: the model can't answer", "trace", t.labels.Get(labelTrace),
				"error", err)
			a := r.problem(p, t, "")
			a.Options = append([]contenttools.Option{{Label: "Try again", Message: t.message}}, a.Options...)
			if !began || yield(provider.Reset("the model can't answer"), nil) {
				finally(a).stream(yield)
			}
			return
		}
		switch began = began || c.Kind == provider.KindStart; c.Kind {
		case provider.KindToolStart:
			said.Reset()
		case provider.KindToolDelta:
			said.WriteString(c.Text)
		case provider.KindEnd: // a terminal shows texts only
			var a contenttools.Answer
			if t.labels.Get(labelPage) == Terminal && json.Unmarshal([]byte(said.String()), &a) == nil &&
				a.Message != "" &&
				!yield(provider.Text("\n"+a.Message+"\n"+Lines(a.Data, a.Options)), nil) {
				return
			}
		}
		if !yield(c, err) {
			return
		}
	}
}

// finally returns the reply that ends a turn.
func finally(a contenttools.Answer) *reply {
	return &reply{text: a.Message, name: contenttools.StructuredResponse, input: a}
}
