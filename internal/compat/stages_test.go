package compat

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// odd is text that encoders of JSON write in different ways.
const odd = "<b>&amp;</b> \u2028\u2029\u007f\ufffd é 😀 \\ \" \t\b end"

// oddJSON has what encoders of JSON write in different ways, as a model may write it.
const oddJSON = `"text":"<b>&amp;<\/b> ` + "\u2028" + `\u2029\u007F` + "\ufffd é " + `\ud83d\ude00 \\ \" \t\b end",` +
	`"more": {"none":null, "big":123456789012345678901234567890, "small":1E-7, ` +
	`"list":[null,0.10,-0,1e21] , "\u003ckey\u003e":""}`

// deep is nested as deep as few inputs are.
var deep = strings.Repeat("[", 60) + strings.Repeat("]", 60)

// input returns the raw input of a call of the tools here.
func input(tag string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{ "tag":%q, %s, "deep":%s}`, tag, oddJSON, deep))
}

// call is a call that a model makes.
func call(tool, tag string) providertest.CallSpec {
	return providertest.CallSpec{Tool: tool, Input: input(tag)}
}

// A process runs agents on a store until it is killed. It does what each stage needs.
type process struct {
	journal.Store
	t       *testing.T
	name    string              // of the stage
	replies []providertest.Step // what the model replies, by the number of replies before
	refuse  bool                // the model's provider fails
	// inModel, inTool and betweenSteps are called in a model call, in a call of the tool "hang" or
	// "repeat", and before the second model call.
	inModel, inTool, betweenSteps func()
	hooked                        bool // there is a hook before each step
	// approvers are those of the tools that ask, and roles says who has which role.
	approvers []string
	roles     func(ctx context.Context, session, user string) ([]string, error)
	dead      bool
	effects   []string
	agent     *agent.Agent
	plans     *plan.Runner
}

var errKilled = journal.Unusable("the process was killed")

func (p *process) kill() { p.dead = true }

func (p *process) Append(ctx context.Context, a journal.Append) error {
	if p.dead {
		return errKilled
	}
	return p.Store.Append(ctx, a)
}

// start makes the agent, with a subagent, and the runner of plans.
func (p *process) start() {
	helper, err := agent.New(agent.Config{Name: "helper", Journal: p, Provider: p.model([]providertest.Step{
		providertest.Calls(call("drop", p.name+"-helper"))}), Tools: p.tools(), Roles: p.roles})
	require.NoError(p.t, err)
	cfg := agent.Config{
		Name: "clerk", Journal: p, Provider: p.model(p.replies),
		Tools:  append(p.tools(), agent.AsTool(helper, tools.Spec{Name: "help"})),
		Limits: agent.Limits{AskAfterCorrections: true, Corrections: 1, Steps: 4}, Roles: p.roles,
	}
	if p.hooked {
		cfg.Hooks = []agent.Hooks{{Name: "between", BeforeStep: func(_ context.Context, s *agent.Step) error {
			if len(p.effects) > 0 && p.betweenSteps != nil {
				p.betweenSteps()
			}
			return nil
		}}}
	}
	p.agent, err = agent.New(cfg)
	require.NoError(p.t, err)
	p.plans, err = plan.New(plan.Config{Agent: p.agent, OnCancel: plan.Undo}) // as all runs of v0.1.0
	require.NoError(p.t, err)
}

// model returns a model that knows by the conversation what comes next.
func (p *process) model(replies []providertest.Step) provider.Provider {
	return providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		if p.refuse {
			return nil, fault.New(fault.Permanent, "the provider says "+odd)
		}
		if p.inModel != nil {
			p.inModel()
			return nil, context.Canceled
		}
		n := 0
		for i := range req.Messages {
			if req.Messages[i].Role == provider.RoleAssistant {
				n++
			}
		}
		if n < len(replies) {
			return replies[n].Response(), nil
		}
		return providertest.Say("Done: " + odd).Response(), nil
	})
}

func (p *process) did(what string) { p.effects = append(p.effects, what) }

// check requires that a tool gets what the model has sent.
func (p *process) check(raw json.RawMessage) (tag string) {
	got := decoded(p.t, raw)
	tag, _ = got["tag"].(string)
	delete(got, "step") // of corrections
	require.Equal(p.t, decoded(p.t, input(tag)), got, "what a tool is given is what the model has sent")
	return tag
}

var (
	anySchema    = json.RawMessage(`{"type":"object","properties":{"tag":{"type":"string","description":"<&>\u2028"}}}`)
	strictSchema = json.RawMessage(`{"type":"object","properties":{"step":{"type":"integer"}},"required":["step"]}`)
	answerSchema = json.RawMessage(`{"type":"object","properties":{"<answer>":{"type":"string"}},"required":["<answer>"]}`)
)

// tools returns the tools of each agent.
func (p *process) tools() []tools.Tool {
	raw := func(spec tools.Spec, run func(ctx context.Context, tag string) (tools.Result, error)) tools.Raw {
		if spec.Schema == nil {
			spec.Schema = anySchema
		}
		spec.Description = "A tool: " + odd
		return tools.Raw{Spec: spec, Run: func(ctx context.Context, in json.RawMessage) (tools.Result, error) {
			return run(ctx, p.check(in))
		}}
	}
	does := func(spec tools.Spec) tools.Raw {
		return raw(spec, func(_ context.Context, tag string) (tools.Result, error) {
			p.did(spec.Name + " " + tag)
			return result("did " + tag + ": " + odd + "\xff\xc0"), nil
		})
	}
	drop, always, save := does(tools.Spec{Name: "drop", Risk: tools.High, Approvers: p.approvers}),
		does(tools.Spec{Name: "always", Risk: tools.High, AllowAlways: true, Approvers: p.approvers}),
		does(tools.Spec{Name: "save"})
	drop.Title = func(context.Context, json.RawMessage) string { return "Drop " + odd }
	always.Scope = func(json.RawMessage) string { return odd }
	save.Undo = func(context.Context, json.RawMessage, json.RawMessage) error {
		p.did("undo save")
		return nil
	}
	hangs := func(spec tools.Spec) tools.Raw {
		return raw(spec, func(ctx context.Context, tag string) (tools.Result, error) {
			if p.inTool != nil {
				p.inTool()
				if p.dead {
					return tools.Result{}, errKilled
				}
			}
			if ctx.Err() == nil {
				p.did(spec.Name + " " + tag)
			}
			return result("over"), context.Cause(ctx)
		})
	}
	return []tools.Tool{
		drop, always, save, does(tools.Spec{Name: "strict", Schema: strictSchema}),
		hangs(tools.Spec{Name: "hang"}), hangs(tools.Spec{Name: "repeat", Idempotent: true}),
		raw(tools.Spec{Name: "question"}, func(context.Context, string) (tools.Result, error) {
			return tools.Result{}, tools.Suspend{Kind: "question", Prompt: "Which? " + odd, Schema: answerSchema}
		}),
		raw(tools.Spec{Name: "again", Approvers: p.approvers}, func(ctx context.Context,
			tag string) (tools.Result, error) {
			r, ok := tools.Resumed(ctx)
			if !ok {
				return tools.Result{}, tools.Suspend{Kind: "question", Prompt: "Which? " + odd, Again: true,
					State: json.RawMessage(input(tag))}
			}
			require.Equal(p.t, tag, p.check(r.State))
			require.JSONEq(p.t, string(answer), string(r.Answer))
			p.did("again " + tag)
			return result("answered"), nil
		}),
		tools.External(tools.Spec{Name: "front", Schema: anySchema}),
	}
}

func result(text string) tools.Result {
	return tools.Result{Parts: []provider.Part{provider.TextPart(text)}, Data: json.RawMessage(oddData)}
}

const oddData = `{"data":` + `{` + oddJSON + `}}`

// answer is the answer to each question.
var answer = json.RawMessage(`{"<answer>": "` + "\u2028" + `\u2028<&>", "none":null}`)

// run runs an input of the stage's session.
func (p *process) run(in agent.Input) (*agent.Result, error) {
	p.t.Helper()
	in.Session = p.name
	return p.agent.Run(p.t.Context(), in)
}

// says runs a prompt.
func (p *process) says() (*agent.Result, error) {
	p.t.Helper()
	return p.run(agent.Input{Prompt: "Go: " + odd, Labels: map[string]string{"label": "<b>&é😀"}, User: "ann"})
}

// pauses runs a prompt up to a pause of a kind.
func (p *process) pauses(kind agent.PauseKind) {
	p.t.Helper()
	res, err := p.says()
	require.ErrorAs(p.t, err, new(*agent.PausedError), p.name)
	require.Equal(p.t, kind, res.Pending[0].Flat()[0].Kind, p.name)
}

// open returns the only call that waits.
func (p *process) open() *agent.Pause {
	p.t.Helper()
	list, err := p.agent.Session(p.name).Pending(p.t.Context())
	require.NoError(p.t, err, p.name)
	require.Len(p.t, list, 1, p.name)
	return &list[0].Flat()[0]
}

// completed requires that a run has completed.
func (p *process) completed(res *agent.Result, err error) {
	p.t.Helper()
	require.NoError(p.t, err, p.name)
	require.Equal(p.t, agent.Completed, res.Status, p.name)
	require.Equal(p.t, "Done: "+odd, res.Text(), p.name)
}

// decided decides on the only call that waits, with which the run completes.
func (p *process) decided(decide func(id string) agent.Decision) {
	p.t.Helper()
	p.completed(p.agent.Run(p.t.Context(), agent.Resume(p.name, decide(p.open().ID).By("ann"))))
}

func (p *process) approved() { p.t.Helper(); p.decided(agent.Approve) }
func (p *process) continued() {
	p.t.Helper()
	p.completed(p.agent.Run(p.t.Context(), agent.Continue(p.name)))
}

// asked requires that a prompt after what has ended completes.
func (p *process) asked() { p.t.Helper(); p.completed(p.says()) }

// ended requires how the newest run has ended.
func (p *process) ended(status agent.Status, code string) {
	p.t.Helper()
	res, err := p.agent.Session(p.name).Result(p.t.Context())
	require.NoError(p.t, err, p.name)
	require.Equal(p.t, status, res.Status, p.name)
	require.Equal(p.t, code, string(res.Code), p.name)
}

// begin begins the process of a stage on a store.
func (s *stage) begin(t *testing.T, store journal.Store) *process {
	p := &process{Store: store, t: t, name: s.name, replies: s.replies, hooked: s.hooked}
	p.start()
	return p
}

// writeStages writes the sessions of all stages, and what their tools have done, as lines of a
// stage and an effect.
func writeStages(t *testing.T, dir string) {
	store, err := sqlite.Open(filepath.Join(dir, "stages.db"), sqlite.Config{})
	require.NoError(t, err)
	lines := ""
	for _, s := range stages {
		t.Run(s.name, func(t *testing.T) {
			p := s.begin(t, store)
			s.leave(p)
			lines += fmt.Sprintf("%s: %s\n", s.name, strings.Join(p.effects, "; "))
		})
	}
	require.NoError(t, store.Close())
	compress(t, filepath.Join(dir, "stages.db"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "stages.txt"), []byte(lines), 0o600))
}

// TestEachStageGoesOnToItsRightEnd: what was left at any stage goes on, nothing is done twice, and
// what nobody has approved isn't done.
func TestEachStageGoesOnToItsRightEnd(t *testing.T) {
	for _, v := range versions(t) {
		if _, err := os.Stat(filepath.Join("testdata", v, "stages.db.gz")); err != nil && v == "v0.1.0" {
			continue // it was released without them
		}
		t.Run(v, func(t *testing.T) {
			goOn(t, filepath.Join("testdata", v, "stages.db.gz"), filepath.Join("testdata", v, "stages.txt"))
		})
	}
	dir := t.TempDir()
	writeStages(t, dir)
	t.Run("now", func(t *testing.T) { goOn(t, filepath.Join(dir, "stages.db.gz"), filepath.Join(dir, "stages.txt")) })
}

// goOn goes on with the stages of a journal. effects has what was done before.
func goOn(t *testing.T, path, effects string) {
	t.Helper()
	store, err := sqlite.Open(decompressed(t, path), sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	for _, line := range load(t, effects) {
		name, before, _ := strings.Cut(line, ": ")
		t.Run(name, func(t *testing.T) {
			s := stageNamed(t, name)
			p := s.begin(t, store)
			if before != "" {
				p.effects = strings.Split(before, "; ")
			}
			s.goOn(p)
			require.ElementsMatch(t, s.effects, p.effects)
		})
	}
}

// compress replaces a file by its compressed form: most of a small journal is empty pages.
func compress(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(data)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.WriteFile(path+".gz", b.Bytes(), 0o644))
	require.NoError(t, os.Remove(path))
}

// decompressed returns the path of a copy of a compressed file.
func decompressed(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	r, err := gzip.NewReader(file)
	require.NoError(t, err)
	data, err := io.ReadAll(r)
	require.NoError(t, err)
	path = filepath.Join(t.TempDir(), "stages.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func stageNamed(t *testing.T, name string) *stage {
	t.Helper()
	for _, s := range stages {
		if s.name == name {
			return &s
		}
	}
	require.Fail(t, "there is no stage "+name)
	return nil
}
