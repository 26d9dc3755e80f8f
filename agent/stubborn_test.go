package agent_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// writers are the functions that write notes, for a function that returns when it may.
var writers = map[string]func(wait func(context.Context, *notes.Input)) *agent.Memory{
	"a checkpoint": func(wait func(context.Context, *notes.Input)) *agent.Memory {
		mem := small()
		mem.ProgressNotes = []notes.Progress{notes.ProgressOf("c",
			func(ctx context.Context, in *notes.Input) (int, error) {
				wait(ctx, in)
				return 1, nil
			}, .5)}
		return mem
	},
	"the note of a context reset": func(wait func(context.Context, *notes.Input)) *agent.Memory {
		mem := small()
		mem.ContextReset = &notes.ContextReset{At: .5, Tries: 3,
			Write: func(ctx context.Context, in *notes.Input) (notes.ResetNote, error) {
				wait(ctx, in)
				return notes.ResetNote{}, nil
			}}
		return mem
	},
}

func TestAWriterOfNotesThatIgnoresItsContextIsLeftBehind(t *testing.T) {
	for name, memory := range writers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free := make(chan struct{})
				asked := 0
				a, _ := scripted(t, agent.Config{Tools: []tools.Tool{reading(800)},
					Memory: memory(func(_ context.Context, in *notes.Input) {
						asked++
						in.Book(provider.Usage{Input: 10}, 1)
						<-free
						in.Book(provider.Usage{Input: 1_000}, 1)
					})}, reads(9)...)
				began := time.Now()
				all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
				require.NoError(t, err)
				require.Equal(t, 125*time.Second, time.Since(began), "2 minutes, and 5 seconds to return in")
				require.Equal(t, 1, asked, "it isn't asked again at once")
				require.Contains(t, of[*agent.MemoryWarning](all)[0].Text, "abandoned")
				note := of[*machine.NoteWritten](all)[0]
				require.Contains(t, note.Error, "abandoned")
				require.Equal(t, provider.Usage{Input: 10}, note.Usage)
				require.Equal(t, "done", of[*agent.RunEnded](all)[0].Result.Text())
				require.Equal(t, 1, a.Abandoned())
				close(free)
				synctest.Wait()
				require.Zero(t, a.Abandoned())
			})
		})
	}
}

func TestARunIsCanceledThoughTheWriterOfItsNoteIgnoresThat(t *testing.T) {
	for name, memory := range writers {
		for text, after := range map[string]time.Duration{"it returns in time": 4 * time.Second,
			"it doesn't": 6 * time.Second} {
			t.Run(name+", "+text, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					a, _ := scripted(t, agent.Config{Tools: []tools.Tool{reading(800)},
						Memory: memory(func(ctx context.Context, in *notes.Input) {
							<-ctx.Done()
							<-time.After(after)
							in.Book(provider.Usage{Input: 10}, 1)
						})}, reads(9)...)
					began := time.Now()
					res, err := a.Run(ctx, agent.Input{Session: "s", Prompt: "go"})
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.Equal(t, machine.CodeCanceled, res.Code)
					require.Equal(t, 10*time.Second+min(after, 5*time.Second), time.Since(began))
					booked, left := of[*machine.NoteWritten](eventsOf(facts(t, a, "s"))), 0
					if after > 5*time.Second { // what comes too late isn't counted
						left = 1
					}
					require.Len(t, booked, 1-left)
					require.Equal(t, left, a.Abandoned())
					requireSound(t, "s", facts(t, a, "s"))
					<-time.After(after)
					synctest.Wait()
					require.Zero(t, a.Abandoned())
				})
			})
		}
	}
}

func TestAWriterOfNotesThatEndsItsGoroutineEndsNoRun(t *testing.T) {
	for name, memory := range writers {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{reading(800)},
				Memory: memory(func(context.Context, *notes.Input) { runtime.Goexit() })}, reads(9)...)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
			require.NoError(t, err)
			require.True(t, strings.Contains(of[*agent.MemoryWarning](all)[0].Text, "ended its goroutine"))
			require.Equal(t, "done", of[*agent.RunEnded](all)[0].Result.Text())
			require.Zero(t, a.Abandoned())
		})
	}
}

// TestANoteThatComesJustWhenItsWriterIsLeftBehindIsTakenOrDropped, and not both.
func TestANoteThatComesJustWhenItsWriterIsLeftBehindIsTakenOrDropped(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{reading(2_000)},
				Memory: writers["a checkpoint"](func(_ context.Context, in *notes.Input) {
					<-time.After(125 * time.Second)
					in.Book(provider.Usage{Input: 10}, 1)
				})}, reads(3)...)
			run(t, a)
			synctest.Wait()
			require.Zero(t, a.Abandoned())
			notes := of[*machine.NoteWritten](eventsOf(facts(t, a, "s")))
			require.Len(t, notes, 1)
			require.Equal(t, notes[0].Error == "", len(notes[0].Note) > 0)
		})
	}
}

// eventsOf returns facts as events.
func eventsOf(facts []agent.Fact) (all []agent.Event) {
	for _, f := range facts {
		all = append(all, f)
	}
	return all
}
