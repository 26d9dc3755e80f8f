package contenttools

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/prompt"
	"github.com/pawlkit/pawl/agent/screen"
	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
	"github.com/pawlkit/pawl/provider"
)

//go:embed prompts
var promptFiles embed.FS

// loadPrompts reads the prompts: the core, a mode for each step, with its type and tone where the
// step has one, and what is known at run time.
func loadPrompts() (*prompt.Set, error) {
	cfg := prompt.Config{Core: []string{"prompts/core.md"}, Runtime: []string{"prompts/runtime.md"},
		RuntimeVars: []string{"profile", "idea", "task"}}
	mode := func(parts ...string) {
		m := prompt.Mode{Name: strings.Join(parts, "/")}
		for i, file := range []string{"steps", "types", "tones"}[:len(parts)] {
			m.Sections = append(m.Sections, "prompts/"+file+".md#"+parts[i])
		}
		cfg.Modes = append(cfg.Modes, m)
	}
	mode("insights")
	mode("chat")
	for _, kind := range portfolio.Types {
		mode("topics", kind)
		for _, tone := range portfolio.Tones {
			mode("skeleton", kind, tone)
			mode("writer", kind, tone)
			mode("humanizer", kind, tone)
			mode("editor", kind, tone)
		}
	}
	return prompt.Load(promptFiles, cfg)
}

// Instructions are those of the chat.
func Instructions() (string, error) {
	set, err := loadPrompts()
	if err != nil {
		return "", err
	}
	return set.Compose("chat")
}

// An Idea is why an artifact is written, from a suggested [Topic].
type Idea struct {
	Angle     string `json:"suggestedAngle,omitempty"`
	Audience  string `json:"audience,omitempty"`
	Rationale string `json:"rationale,omitempty"`
}

// Check returns an *portfolio.Error if a part is too long.
func (i Idea) Check() error {
	for _, text := range []string{i.Angle, i.Audience, i.Rationale} {
		if err := portfolio.CheckLength("idea", text, MaxTopic); err != nil {
			return err
		}
	}
	return nil
}

// A task is a call of the model for a user: the mode of its prompt, the idea of the artifact, if
// there is one, and what is to be done.
type task struct {
	mode        []string // the step, the type, the tone
	user        string
	idea        json.RawMessage
	text        string
	temperature float64
}

// of returns a task for the artifact of a job.
func (j *job) task(step, tone, text string, temperature float64) task {
	return task{[]string{step, j.artifact.Type, tone}, j.user, j.artifact.Metadata["idea"], text, temperature}
}

// request returns the request for a task, without addresses and telephone numbers; restore puts
// them into the answer. The kind of the request is the step.
func (k *kit) request(ctx context.Context, t task) (req *provider.Request, restore func(string) string, err error) {
	about, err := k.Store.Context(ctx, t.user)
	if err != nil {
		return nil, nil, err
	}
	system, err := k.prompts.Compose(strings.Join(t.mode, "/"))
	if err != nil {
		return nil, nil, err
	}
	idea := "none; the title says what it is about"
	if len(t.idea) > 0 {
		var i Idea
		if err := json.Unmarshal(t.idea, &i); err != nil {
			return nil, nil, err
		}
		idea = prompt.Data("idea",
			fmt.Sprintf("Angle: %s\nAudience: %s\nRationale: %s", i.Angle, i.Audience, i.Rationale))
	}
	text, err := k.prompts.Runtime(map[string]string{"profile": prompt.Data("profile", about.Lines()), "idea": idea,
		"task": t.text})
	text, restore = screen.Mask(text)
	req = &provider.Request{System: system, Messages: []provider.Message{provider.User(text)},
		Sampling: &provider.Sampling{Temperature: &t.temperature}, Labels: provider.Labels{Kind: t.mode[0]}}
	return req, restore, err
}

// ask makes a call of the model for a text.
func (k *kit) ask(ctx context.Context, t task) (string, error) {
	req, restore, err := k.request(ctx, t)
	if err != nil {
		return "", err
	}
	res, err := agent.Generate(ctx, req)
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(res.Text()); text != "" {
		return restore(text), nil
	}
	return "", portfolio.Errorf(portfolio.AIProviderError, "The model has answered with nothing.")
}

// list makes a call of the model for a list.
func list[T any](ctx context.Context, k *kit, t task) (all []T, err error) {
	req, restore, err := k.request(ctx, t)
	if err != nil {
		return nil, err
	}
	if all, err = agent.GenerateFor[[]T](ctx, req); err != nil {
		return nil, err
	}
	text, err := json.Marshal(all)
	return all, errors.Join(err, json.Unmarshal([]byte(restore(string(text))), &all))
}
