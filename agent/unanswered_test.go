package agent_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// lines returns the messages of a request, one a line: the role's first letter and the text.
func lines(req *provider.Request) (all []string) {
	for _, m := range req.Messages {
		line := string(m.Role[0]) + " " + m.Text()
		for _, c := range m.Calls() {
			line += "calls " + c.Name
		}
		all = append(all, line)
	}
	return all
}

const (
	wasStopped = "u Note: the request above (\"Rename Blog to Trash\") was stopped before it was finished. Don't " +
		"carry it out, or what is left of it, unless the next message asks for it again."
	hasEnded = "u Note: the work on the request above (\"Rename Blog to Trash\") ended before it was finished (%s). " +
		"Don't go on with it unless the next message refers to it."
)

// unfinished returns what the model is told of a request that ended with a code.
func unfinished(code string) string { return strings.ReplaceAll(hasEnded, "%s", code) }

func TestARequestThatWasNotAnsweredIsNotSentAsOneThatIs(t *testing.T) {
	rename := agent.Input{Session: "s", Prompt: "Rename Blog to Trash"}
	begun := func(t *testing.T, a *agent.Agent, then func(s *agent.Session) error) {
		done := make(chan error, 1)
		go func() {
			synctest.Wait()
			done <- then(a.Session("s"))
		}()
		_, err := a.Run(t.Context(), rename)
		require.Error(t, err)
		require.NoError(t, <-done)
	}
	for name, c := range map[string]struct {
		model  []providertest.Step
		limits agent.Limits
		end    func(t *testing.T, a *agent.Agent)
		next   agent.Input
		sent   []string // between the two texts
	}{
		"Stop": {model: []providertest.Step{providertest.Slow(time.Second, call("rename", 1))},
			end: func(t *testing.T, a *agent.Agent) {
				begun(t, a, func(s *agent.Session) error { return s.Stop(t.Context()) })
			}, sent: []string{"a calls rename", "t ", wasStopped}},
		"Stop of a model that hangs": {model: []providertest.Step{providertest.Hang()},
			end: func(t *testing.T, a *agent.Agent) {
				begun(t, a, func(s *agent.Session) error { return s.Stop(t.Context()) })
			}, sent: []string{wasStopped}},
		"Cancel": {model: []providertest.Step{providertest.HangAfter(2, say("I rename it"))},
			end: func(t *testing.T, a *agent.Agent) {
				begun(t, a, func(s *agent.Session) error { return s.Cancel(t.Context()) })
			}, sent: []string{"a I ", wasStopped}},
		"its context": {model: []providertest.Step{providertest.Hang()},
			end: func(t *testing.T, a *agent.Agent) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := a.Run(ctx, rename)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}, sent: []string{wasStopped}},
		"its reader left": {model: []providertest.Step{say("I rename it")},
			end: func(t *testing.T, a *agent.Agent) {
				for ev := range a.Stream(t.Context(), rename) {
					if _, ok := ev.(*agent.StepStarted); ok {
						break
					}
				}
			}, sent: []string{wasStopped}},
		"superseded": {model: []providertest.Step{call("ask", 1)},
			end: func(t *testing.T, a *agent.Agent) {
				require.Equal(t, agent.Paused, runInput(t, a, rename).Status)
			}, next: agent.Input{Supersede: true}, sent: []string{"a calls ask", "t ", wasStopped}},
		"failed": {model: []providertest.Step{providertest.Fail(fault.UserFixable)},
			end: func(t *testing.T, a *agent.Agent) {
				_, err := a.Run(t.Context(), rename)
				require.Error(t, err)
			}, sent: []string{unfinished("provider")}},
		"limited": {model: []providertest.Step{call("rename", 1), say("I got this far.")},
			limits: agent.Limits{Steps: 1},
			end: func(t *testing.T, a *agent.Agent) {
				require.Equal(t, machine.CodeLimit, runInput(t, a, rename).Code)
			}, sent: []string{"a calls rename", "t ", "u You have reached the limit of this run, and no tools are left. " +
				"Say what you have done, what is still to be done, and how it could go on.", "a I got this far.",
				unfinished("limit") + " These calls of it had an effect, or may have had one:\n<calls>\n" +
					"rename {\"n\":1} (ok)\n</calls>"}},
		"answered": {model: []providertest.Step{say("It is renamed.")},
			end:  func(t *testing.T, a *agent.Agent) { runInput(t, a, rename) },
			sent: []string{"a It is renamed."}},
		"stopped when it was answered": {model: []providertest.Step{providertest.Slow(time.Second, say("It is"))},
			end: func(t *testing.T, a *agent.Agent) {
				begun(t, a, func(s *agent.Session) error { return s.Stop(t.Context()) })
			}, sent: []string{"a It is"}},
	} {
		for _, with := range []string{"in memory", "in a journal", "with a memory"} {
			t.Run(name+"/"+with, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var done effects
					cfg := agent.Config{Limits: c.limits, Tools: []tools.Tool{done.tool(tools.Spec{Name: "rename"}),
						done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}}
					switch with {
					case "in a journal":
						cfg.Journal = &journal.MapStore{}
					case "with a memory":
						cfg.Memory = &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 10_000}},
							Context: func(context.Context, agent.ContextInput) (memory.Context, error) {
								return memory.Context{Screen: "Blog"}, nil
							}}
					}
					a, model := scripted(t, cfg, append(c.model, say("Jobs is there."), say("And Team."))...)
					c.end(t, a)
					if with == "in a journal" {
						a, model = scripted(t, cfg, say("Jobs is there."), say("And Team."))
					}
					next := c.next
					next.Session, next.Prompt = "s", "Create Jobs"
					res := runInput(t, a, next)
					require.Equal(t, provider.User("Create Jobs").Parts, res.Messages[0].Parts)
					first := model.Requests()[len(model.Requests())-1]
					screen := ""
					if with == "with a memory" {
						screen = "\n\n<screen>\nBlog\n</screen>"
					}
					want := append([]string{"u Rename Blog to Trash"}, c.sent...)
					got := lines(first)
					require.Equal(t, append(want, "u Create Jobs"+screen), got)

					runInput(t, a, agent.Input{Session: "s", Prompt: "Create Team"})
					later := lines(model.Requests()[len(model.Requests())-1])
					require.Equal(t, strings.TrimSuffix(lines(first)[len(got)-1], screen), later[len(got)-1])
					require.Equal(t, lines(first)[:len(got)-1], later[:len(got)-1], "the same bytes at each step")
					for _, m := range messages(t, a, "s") {
						require.NotContains(t, m.Text(), "Note:", "it isn't the person's")
					}
				})
			})
		}
	}
}

func messages(t testing.TB, a *agent.Agent, session string) []provider.Message {
	t.Helper()
	list, err := a.Session(session).Messages(t.Context())
	require.NoError(t, err)
	return list
}

// stoppedRename returns an agent whose session "s" has an answered request and one that was
// canceled after a call.
func stoppedRename(t *testing.T, cfg agent.Config, more ...providertest.Step) (*agent.Agent, *providertest.Model) {
	var a *agent.Agent
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "rename"}, func(ctx context.Context, _ Number) (string, error) {
		return "done", a.Session("s").Cancel(ctx)
	})}
	a, model := scripted(t, cfg, append([]providertest.Step{say("Hello."), call("rename", 1)}, more...)...)
	runInput(t, a, agent.Input{Session: "s", Prompt: "Hi"})
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "Rename Blog to Trash"})
	require.Equal(t, machine.CodeCanceled, res.Code)
	return a, model
}

const withEffect = wasStopped + " These calls of it had an effect, or may have had one:\n<calls>\n" +
	"rename {\"n\":1} (ok)\n</calls>"

func TestTheMarkIsKeptByWhateverCopiesOrCutsASession(t *testing.T) {
	last := func(model *providertest.Model) []string {
		all := model.Requests()
		return lines(all[len(all)-1])
	}
	want := []string{"u Hi", "a Hello.", "u Rename Blog to Trash", "a calls rename", "t ", withEffect, "u Create Jobs"}
	for name, move := range map[string]func(t *testing.T, a *agent.Agent) string{
		"fork": func(t *testing.T, a *agent.Agent) string {
			require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
			return "copy"
		},
		"export": func(t *testing.T, a *agent.Agent) string {
			var file bytes.Buffer
			require.NoError(t, a.Session("s").Export(t.Context(), &file))
			require.NoError(t, a.Session("copy").Import(t.Context(), &file))
			return "copy"
		},
		"prune": func(t *testing.T, a *agent.Agent) string {
			_, err := a.Session("s").Prune(t.Context())
			require.NoError(t, err)
			return "s"
		},
	} {
		for _, before := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				a, model := stoppedRename(t, agent.Config{Journal: &journal.MapStore{}}, say("It is there."),
					say("So is it."))
				session := "s"
				if before {
					session = move(t, a)
				}
				runInput(t, a, agent.Input{Session: session, Prompt: "Create Jobs"})
				require.Equal(t, want, last(model))
				if !before {
					session = move(t, a)
				}
				runInput(t, a, agent.Input{Session: session, Prompt: "Create Team"})
				require.Equal(t, want, last(model)[:len(want)])
			})
		}
	}
}

func TestARequestThatIsSentAgainStandsAloneAndKeepsTheMarkBeforeIt(t *testing.T) {
	a, model := stoppedRename(t, agent.Config{Journal: &journal.MapStore{}}, providertest.Fail(fault.UserFixable),
		say("It is there."), say("It is renamed."))
	failed, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Create Jobs"})
	require.Error(t, err)
	runInput(t, a, agent.Input{Session: "s", Prompt: "Create Jobs", Replaces: failed.Start})
	all := model.Requests()
	require.Equal(t, []string{"u Hi", "a Hello.", "u Rename Blog to Trash", "a calls rename", "t ", withEffect,
		"u Create Jobs"}, lines(all[len(all)-1]), "the failed one isn't there")

	var start uint64
	for _, f := range facts(t, a, "s") {
		if f, ok := f.(*agent.RunStarted); ok && f.Message.Text() == "Rename Blog to Trash" {
			start = f.Envelope().Seq
		}
	}
	runInput(t, a, agent.Input{Session: "s", Prompt: "Rename Blog to Trash", Replaces: start})
	all = model.Requests()
	got := lines(all[len(all)-1])
	require.Len(t, got, 4)
	require.NotContains(t, got[2], "was stopped", "it was asked for again")
}

func TestTheMarkStaysWhereACompactionKeepsTheRequest(t *testing.T) {
	for name, s := range map[string]memory.Strategy{"slide": memory.Slide{}, "relevance": memory.Relevance{},
		"importance": memory.Importance{}} {
		t.Run(name, func(t *testing.T) {
			var model *providertest.Model
			cfg := agent.Config{Memory: &agent.Memory{Config: memory.Config{Keep: 1,
				Window: memory.Window{Size: 1_200, Reserve: 100}, Steps: []memory.Step{{Strategy: s}}}}}
			steps := []providertest.Step{providertest.Fail(fault.UserFixable)}
			for range 30 {
				steps = append(steps, say(strings.Repeat("word ", 40)))
			}
			a, model := scripted(t, cfg, steps...)
			_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Rename Blog to Trash"})
			require.Error(t, err)
			for range 30 {
				runInput(t, a, agent.Input{Session: "s", Prompt: "Create Jobs, " + strings.Repeat("more ", 20)})
			}
			short := 0
			for _, req := range model.Requests()[1:] {
				text := strings.Join(lines(req), "\n")
				if len(req.Messages) < 20 && strings.Contains(text, "left out") {
					short++
				}
				if strings.Contains(text, "u Rename Blog to Trash") {
					require.Equal(t, 1, strings.Count(text, unfinished("provider")), text)
				}
			}
			require.Greater(t, short, 5)
		})
	}
}
