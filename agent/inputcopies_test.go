package agent_test

import (
	"cmp"
	"context"
	"reflect"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// eachField has a value for each field of an input, beside the session "s" and the prompt "go".
var eachField = agent.Input{Prompt: "do it", Parts: []provider.Part{provider.TextPart("text")},
	History: []provider.Message{provider.User("before")},
	Tools:   []tools.Tool{tools.External(tools.Spec{Name: "external", Description: "does it"})},
	Only:    []string{"child", "reset"}, Model: "m-2", Mode: "other",
	ToolChoice: provider.ToolChoice{Mode: provider.ChooseRequired}, Limits: &agent.Limits{Tokens: 500_000},
	Interactive: true, Priority: -1, User: "ann", Task: "t-1", Pipeline: "p-1", Owner: "o-1", Parent: "parent",
	Title: "A title", Labels: map[string]string{"tenant": "acme"}, Key: "k-1",
	Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Children: true, Outside: []string{"a mail"}}

// noSetting are the fields that are no settings of a run.
var noSetting = map[string]string{
	"Session":   "names the log",
	"Supersede": "is about the run before",
	"Replaces":  "is about the runs before",
}

// notCopied are the settings that a way of going on doesn't take over, and why.
var notCopied = map[string]map[string]string{
	"a context reset": {
		"History":    "is a part of the conversation that the note stands for",
		"ToolChoice": "is met by the first reply",
		"Owner":      "is kept by the session",
		"Parent":     "is kept by the session",
		"Title":      "is kept by the session",
		"Key":        "is kept by the session",
	},
	"a subagent": {
		"Prompt":     "is that of the call",
		"Parts":      "belong to the prompt",
		"History":    "belongs to the prompt",
		"Tools":      "are those of the agent that is called",
		"Only":       "is about the tools of the agent that calls",
		"Model":      "is that of the agent that is called",
		"Mode":       "is that of the agent that is called",
		"ToolChoice": "is about the tools of the agent that calls",
		"Owner":      "is that of the session that calls",
		"Parent":     "is the session that calls",
		"Title":      "is that of the session that calls",
		"Key":        "is that of the input",
		"Trace":      "is in the origin, with the call as its parent",
	},
	"a copy": {
		"Parent": "has started the original, and not the copy",
		"Key":    "may be used again in the copy",
	},
}

// inputWays are the ways in which the settings of an input are stored or copied. They return the
// session that has them, and how many runs are before that.
var inputWays = map[string]func(t *testing.T, a *agent.Agent, in agent.Input) (session string, before int){
	"a run": func(t *testing.T, a *agent.Agent, in agent.Input) (string, int) {
		runInput(t, a, in)
		return "s", 0
	},
	"a queued run": func(t *testing.T, a *agent.Agent, in agent.Input) (string, int) {
		require.NoError(t, a.Enqueue(t.Context(), in, agent.QueueOptions{}))
		return "s", 0
	},
	"a context reset": func(t *testing.T, a *agent.Agent, in agent.Input) (string, int) {
		runInput(t, a, in)
		return "s", 1
	},
	"a subagent": func(t *testing.T, a *agent.Agent, in agent.Input) (string, int) {
		res := runInput(t, a, in)
		return agent.ChildSession("s", machine.CallID(res.Run, 1, 0)), 0
	},
	"a copy": func(t *testing.T, a *agent.Agent, in agent.Input) (string, int) {
		runInput(t, a, in)
		require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
		return "copy", 0
	},
}

// ofRun matches what each run has of its own.
var ofRun = regexp.MustCompile(`"trace":"[^"]*"|r-[0-9a-zA-Z]+|"(parent|from)":"[^"]*"`)

// settingsOf returns what a way stores of an input.
func settingsOf(t *testing.T, way string, in agent.Input) (settings string) {
	synctest.Test(t, func(t *testing.T) {
		child := newAgent(t, agent.Config{Name: "child", Provider: providertest.Script(say("Done."))})
		mem := &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 100_000}},
			ContextReset: &notes.ContextReset{Write: func(context.Context, *notes.Input) (notes.ResetNote, error) {
				return notes.ResetNote{Remaining: []string{"all"}}, nil
			}}}
		step := call("reset", 1)
		if way == "a subagent" {
			step = task("child", "do")
		}
		a, _ := scripted(t, agent.Config{Name: "parent", Journal: &journal.MapStore{}, Memory: mem,
			Modes: []agent.Mode{{Name: "first"}, {Name: "other"}},
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{}), tools.New(tools.Spec{Name: "reset"},
				func(ctx context.Context, _ Number) (string, error) { return "ok", agent.RequestContextReset(ctx) })},
		}, step, say("Done."))
		in.Session, in.Prompt = "s", cmp.Or(in.Prompt, "go")
		session, before := inputWays[way](t, a, in)
		settings = storedSettings(t, a, session, before)
	})
	return settings
}

// storedSettings returns what a session stores of the input of a run, with so many runs before
// that.
func storedSettings(t *testing.T, a *agent.Agent, session string, before int) (settings string) {
	for _, f := range facts(t, a, session) {
		_, title := f.(*machine.TitleChanged)
		if _, begins := f.(*agent.RunStarted); begins {
			before--
		} else if !title {
			continue
		}
		if before < 0 {
			rec, err := machine.Encode(f)
			require.NoError(t, err)
			settings += ofRun.ReplaceAllString(string(rec.Data), "") + "\n"
		}
	}
	require.NotEmpty(t, settings)
	return settings
}

// TestEachFieldOfAnInputIsStoredAndCopied compares what each way stores with and without the field.
func TestEachFieldOfAnInputIsStoredAndCopied(t *testing.T) {
	inputs := reflect.TypeFor[agent.Input]()
	for way := range inputWays {
		without := settingsOf(t, way, agent.Input{})
		require.Equal(t, without, settingsOf(t, way, agent.Input{}), "what each run has of its own")
		for i := range inputs.NumField() {
			field := inputs.Field(i).Name
			value := reflect.ValueOf(eachField).Field(i)
			if !inputs.Field(i).IsExported() || noSetting[field] != "" {
				continue
			}
			require.False(t, value.IsZero(), "give %s a value in eachField, or say in noSetting what it is", field)
			var in agent.Input
			reflect.ValueOf(&in).Elem().Field(i).Set(value)
			if why := notCopied[way][field]; why != "" {
				require.Equal(t, without, settingsOf(t, way, in), "notCopied says that %s of %s %s", field, way, why)
				continue
			}
			require.NotEqual(t, without, settingsOf(t, way, in), "%s isn't stored for %s: see the recipe for a setting in "+
				"docs/maintaining.md, or say in notCopied why", field, way)
		}
	}
}
