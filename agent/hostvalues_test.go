package agent_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// The tests in this file hand over values that a host makes by mistake: nil pointers in interfaces,
// errors without a text, answers that lack what the model's own would have.

// A wordless error panics when it is asked for its text, as a nil pointer in an error does.
type wordless struct{ text *string }

func (w *wordless) Error() string { return *w.text }

// textless returns errors that have no text to give.
func textless() map[string]error {
	return map[string]error{
		"nil pointer": (*wordless)(nil),
		"broken":      &wordless{},
		"joined":      errors.Join(errors.New("fine"), &wordless{}),
		"in another":  &provider.Error{Err: &wordless{}},
		"may pass":    fault.Wrap(fault.Transient, &wordless{}),
	}
}

func TestAProvidersErrorWithoutATextFailsTheRunAndNothingElse(t *testing.T) {
	for name, broken := range textless() {
		for _, bare := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) { // what may pass is tried again
				a := newAgent(t, agent.Config{NoGuard: bare,
					Provider: provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
						return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, broken) }
					})})
				res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				require.Error(t, err, name)
				require.NotEmpty(t, err.Error())
				require.Equal(t, agent.Failed, res.Status)
				require.NotEmpty(t, res.Reason)
			})
		}
	}
}

func TestAnUndoWhoseErrorHasNoTextIsAFailedUndo(t *testing.T) {
	for name, broken := range textless() {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tools.Func[Number, string]{
				Spec: tools.Spec{Name: "write"},
				Run:  func(context.Context, Number) (string, error) { return "written", nil },
				Undo: func(context.Context, Number, string) error { return broken },
			}}}, call("write", 1), say("done"))
			run(t, a)
			receipt, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
			require.NoError(t, err)
			require.NotNil(t, receipt.Failed)
			require.NotEmpty(t, receipt.Failed.Why)
		})
	}
}

func TestAnAbortWithoutAReasonStopsTheRun(t *testing.T) {
	for name, abort := range map[string]error{"empty": &agent.AbortError{}, "none": agent.Abort(nil)} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t,
				agent.Config{Hooks: []agent.Hooks{{Name: "h", BeforeStep: func(context.Context, *agent.Step) error {
					return abort
				}}}}, say("on"))
			res := run(t, a)
			require.Equal(t, agent.Stopped, res.Status)
			require.Contains(t, res.Reason, "no reason was given")
		})
	}
	var none *agent.AbortError // the host's mistake, and no abort
	a, _ := scripted(t,
		agent.Config{Hooks: []agent.Hooks{{Name: "h", BeforeStep: func(context.Context, *agent.Step) error {
			return none
		}}}}, say("on"))
	res, err := a.Run(t.Context(), agent.Input{Prompt: "go"})
	require.Error(t, err)
	require.Equal(t, agent.Failed, res.Status)
}

func TestANilJournalInTheInterfaceIsRefused(t *testing.T) {
	var store *journal.MapStore // as when the error of a store's Open wasn't looked at
	_, err := agent.New(agent.Config{Provider: providertest.Script(), Journal: store})
	var wrong *agent.ArgError
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "Config.Journal", wrong.Field)
}

func TestNothingIsExportedToOrImportedFromNowhere(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("on"))
	run(t, a)
	require.Equal(t, fault.Invalid, fault.Of(a.Session("s").Export(t.Context(), nil)))
	require.Equal(t, fault.Invalid, fault.Of(a.Session("other").Import(t.Context(), nil)))
}

func TestAnAnswerThatAHookKeepsIsItsOwn(t *testing.T) {
	var readers sync.WaitGroup
	read := 0
	a, _ := scripted(t,
		agent.Config{
			Hooks: []agent.Hooks{{AfterStep: func(_ context.Context, _ *agent.Step, r *provider.Response) error {
				// as a cache does that another session looks into
				readers.Go(func() { read += len(r.Parts) + len(r.Text()) })
				return nil
			}}}}, say("on"))
	run(t, a)
	readers.Wait()
	require.Equal(t, 3, read)
}

func TestAnAnswerThatAHookHasReplacedIsRecordedAsOneOfTheModels(t *testing.T) {
	for name, store := range map[string]journal.Store{"without a journal": nil, "with a journal": &journal.MapStore{}} {
		t.Run(name, func(t *testing.T) {
			hook := agent.Hooks{AfterStep: func(_ context.Context, _ *agent.Step, r *provider.Response) error {
				*r = provider.Response{Parts: []provider.Part{provider.TextPart("a secret \xff")}, Model: "\xff",
					ID: "\xff"}
				return nil
			}}
			a, _ := scripted(t, agent.Config{
				Journal: store, Hooks: []agent.Hooks{hook}, Redact: func(s string) string {
					return strings.ReplaceAll(s, "secret", "[gone]")
				},
			}, say("as the model said it"), say("on"))
			res := run(t, a)
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, "a [gone] \uFFFD", res.Text())
			require.Equal(t, agent.Completed, run(t, a).Status, "the session continues")
			for _, f := range facts(t, a, "s") {
				if said, ok := f.(*agent.Replied); ok {
					require.Equal(t, "a [gone] \uFFFD", said.Message.Text())
					require.Equal(t, provider.StopDone, said.Stop)
					require.Equal(t, "\uFFFD\uFFFD", said.Model+said.ResponseID)
				}
			}
		})
	}
}
