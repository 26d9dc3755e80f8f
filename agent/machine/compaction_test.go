package machine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// fromState returns a machine in a state, as a snapshot gives it.
func fromState(t *testing.T, s machine.State) *machine.Machine {
	t.Helper()
	s.Run.ID, s.Run.Status = "r-1", machine.Running
	m, err := machine.Replay("s-1",
		&machine.Snapshot{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1}, State: &s})
	require.NoError(t, err)
	return m
}

// compact applies spans.
func compact(m *machine.Machine, spans []machine.Span) error {
	meta := machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: m.State().Seq + 1}
	return m.Apply(&machine.Compacted{Meta: meta, Report: &memory.Report{}, Spans: spans})
}

// TestTheInputOfARunIsFoundAgainAfterAnyCompaction: random conversations, random pieces of which
// are kept, left out or replaced; the input is kept, or replaced alone.
func TestTheInputOfARunIsFoundAgainAfterAnyCompaction(t *testing.T) {
	for seed := range uint64(400) {
		s := newSim(t, seed)
		var before []provider.Message
		for i := range 1 + s.rng.IntN(12) {
			before = append(before, provider.User(fmt.Sprint("m", i)))
		}
		first := s.rng.IntN(len(before))
		var after []provider.Message
		var spans []machine.Span
		replace := func(i int, by ...provider.Message) {
			spans, after = append(spans, machine.Span{From: i, To: i + 1, Messages: by}), append(after, by...)
		}
		keep := func(i int) {
			after = append(after, before[i])
			if n := len(spans); n > 0 && spans[n-1].To == i && len(spans[n-1].Messages) == 0 {
				spans[n-1].To++
				return
			}
			spans = append(spans, machine.Span{From: i, To: i + 1})
		}
		wanted := -1
		for i := range before {
			switch {
			case i == first:
				if wanted = len(after); s.one(3) {
					replace(i, provider.User("shorter"))
				} else {
					keep(i)
				}
			case s.one(3):
			case s.one(3):
				replace(i, []provider.Message{provider.User("note"), provider.User("note")}[:1+s.rng.IntN(2)]...)
			default:
				keep(i)
			}
		}
		m := fromState(t,
			machine.State{Messages: before, Run: &machine.RunState{First: first, Stage: machine.StageReady}})
		require.NoError(t, compact(m, spans), "seed %d", seed)
		require.Equal(t, after, m.State().Messages, "seed %d", seed)
		require.Equal(t, wanted, m.State().Run.First, "seed %d", seed)
		require.Equal(t, fmt.Sprint("m", first), m.State().Goal(), "the goal is the input as it was given")
	}
}

// TestACompactionThatRepeatsTheInputIsReplayedTheSame: in the process that made it, the old and the
// new message share their parts.
func TestACompactionThatRepeatsTheInputIsReplayedTheSame(t *testing.T) {
	input := []provider.Message{provider.User("go")}
	live := fromState(t, machine.State{Messages: input, Run: &machine.RunState{Stage: machine.StageReady}})
	read := live.Clone()
	f := &machine.Compacted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 2},
		Report: &memory.Report{},
		Spans:  []machine.Span{{From: 0, To: 1, Messages: live.State().Messages}}}
	require.NoError(t, live.Apply(f))
	rec, err := machine.Encode(f)
	require.NoError(t, err)
	back, err := machine.Decode("s-1", rec)
	require.NoError(t, err)
	require.NoError(t, read.Apply(back))
	require.Equal(t, stateJSON(t, live), stateJSON(t, read))
}

func TestSpansThatDoNotFitAreRefusedAndChangeNothing(t *testing.T) {
	msgs := []provider.Message{provider.User("a"), provider.User("b"),
		message(provider.RoleAssistant, callPart("r-1.1.0"))}
	open := []machine.CallState{{Call: &provider.ToolCall{ID: "r-1.1.0", Name: "look"}, Status: machine.CallOpen}}
	orphan := message(provider.RoleTool, resultPart("x", "r"))
	ready := func() *machine.Machine {
		return fromState(t, machine.State{Messages: []provider.Message{msgs[0], msgs[1], provider.User("c")},
			Run: &machine.RunState{Stage: machine.StageReady}})
	}
	acting := func() *machine.Machine {
		return fromState(t,
			machine.State{Messages: msgs, Run: &machine.RunState{Stage: machine.StageActing, Step: 1, Calls: open}})
	}
	for name, c := range map[string]struct {
		spans []machine.Span
		m     *machine.Machine
	}{
		"backwards":    {[]machine.Span{{From: 1, To: 2}, {From: 0, To: 1}}, ready()},
		"negative":     {[]machine.Span{{From: -1, To: 2}}, ready()},
		"beyond":       {[]machine.Span{{From: 0, To: 4}}, ready()},
		"empty":        {[]machine.Span{{From: 1, To: 1}}, ready()},
		"turned round": {[]machine.Span{{From: 2, To: 1}}, ready()},
		"an orphan":    {[]machine.Span{{From: 0, To: 3, Messages: []provider.Message{orphan}}}, ready()},
		"a message of nothing": {
			[]machine.Span{{From: 0, To: 3, Messages: []provider.Message{{Role: provider.RoleUser}}}}, ready()},
		"the open step left": {[]machine.Span{{From: 0, To: 2}}, acting()},
		"the open step":      {[]machine.Span{{From: 0, To: 2}, {From: 2, To: 3, Messages: msgs[:1]}}, acting()},
	} {
		before := stateJSON(t, c.m)
		var fe *machine.FactError
		require.ErrorAs(t, compact(c.m, c.spans), &fe, name)
		require.Equal(t, before, stateJSON(t, c.m), name)
	}
	s := newSim(t, 1)
	s.start()
	none := &machine.Compacted{Meta: s.meta("")}
	require.ErrorContains(t, s.m.Apply(none), "no report", "it is never stored")
	require.ErrorContains(t, s.m.Apply(none), "no report")
}

// TestAnInputThatACompactionLeftOutIsTakenToBeWhatComesNext: a driver never leaves it out, but a
// log may say so.
func TestAnInputThatACompactionLeftOutIsTakenToBeWhatComesNext(t *testing.T) {
	msgs := []provider.Message{provider.User("a"), provider.User("b"), provider.User("c"), provider.User("d")}
	for _, c := range []struct {
		first, want int
		spans       []machine.Span
	}{
		{0, 0, []machine.Span{{From: 0, To: 2}}},
		{1, 1, []machine.Span{{From: 0, To: 2}}},
		{2, 1, []machine.Span{{From: 0, To: 2}}},
		{3, 1, []machine.Span{{From: 0, To: 2}}},
		{1, 1, []machine.Span{{From: 0, To: 1}, {From: 2, To: 4}}},
		// the last of those in its place
		{3, 2, []machine.Span{{From: 0, To: 1}, {From: 1, To: 4, Messages: msgs[:2]}}},
	} {
		m := fromState(t,
			machine.State{Messages: msgs, Run: &machine.RunState{First: c.first, Stage: machine.StageReady}})
		require.NoError(t, compact(m, c.spans))
		require.Equal(t, c.want, m.State().Run.First, "%+v", c)
	}
}

// TestNotesAndContextResetsThatDoNotFollowAreRefused: each fact is right but for one thing.
func TestNotesAndContextResetsThatDoNotFollowAreRefused(t *testing.T) {
	build := func() *sim {
		s := newSim(t, 1)
		s.start()
		s.note("a")
		return s
	}
	right := &machine.NoteWritten{Category: "a", Index: 2, Share: .5}
	for name, f := range map[string]*machine.NoteWritten{
		"its number again": {Category: "a", Index: 1, Share: .5},
		"a number too far": {Category: "a", Index: 3, Share: .5},
		"no category":      {Index: 1, Share: .5},
		"a share below 0":  {Category: "a", Index: 2, Share: -1},
		"no share":         {Category: "a", Index: 2, Share: math.NaN()},
	} {
		s := build()
		f.Meta = s.meta("")
		require.Error(t, s.m.Apply(f), name)
		right.Meta = s.meta("")
		require.NoError(t, s.m.Apply(right), name)
	}
	for name, change := range map[string]func(*machine.RunStarted){
		"another run": func(f *machine.RunStarted) {
			f.ContextReset = &machine.ContextResetState{Index: 1, From: "r-9", Prompt: 1}
		},
		"its place": func(f *machine.RunStarted) {
			f.ContextReset = &machine.ContextResetState{Index: 2, From: "r-1", Prompt: 1}
		},
		"too many parts": func(f *machine.RunStarted) {
			f.ContextReset = &machine.ContextResetState{Index: 1, From: "r-1", Prompt: 2}
		},
		"parts below 0": func(f *machine.RunStarted) {
			f.ContextReset = &machine.ContextResetState{Index: 1, From: "r-1", Prompt: -1}
		},
		"a history": func(f *machine.RunStarted) { f.History = []provider.Message{provider.User("before")} },
		"a message of calls": func(f *machine.RunStarted) {
			f.Message.Parts = []provider.Part{{Kind: provider.PartToolCall}}
		},
	} {
		s := build()
		s.apply(&machine.RunEnded{Meta: s.meta(""), Status: machine.Stopped, Code: machine.CodeContextReset})
		s.origin = &machine.Origin{Session: s.m.State().Session, Run: "r-2"}
		f := &machine.RunStarted{Meta: s.meta(""), Message: provider.User("go"),
			ContextReset: &machine.ContextResetState{Index: 1, From: "r-1", Prompt: 1}}
		wrong := machine.CloneFact(f).(*machine.RunStarted)
		change(wrong)
		require.Error(t, s.m.Apply(wrong), name)
		require.NotEmpty(t, s.m.State().Messages)
		s.m.Begin()
		require.NoError(t, s.m.Apply(f), name)
		s.m.Rollback()
		require.NoError(t, s.m.Apply(f), name)
	}
	s := build()
	s.apply(&machine.RunEnded{Meta: s.meta(""), Status: machine.Stopped, Code: machine.CodeHost})
	s.origin = &machine.Origin{Session: s.m.State().Session, Run: "r-2"}
	require.Error(t,
		s.m.Apply(&machine.RunStarted{Meta: s.meta(""), Message: provider.User("go"),
			ContextReset: &machine.ContextResetState{Index: 1, From: "r-1"}}), "it handed nothing off")
}

func TestTheNewestUserMessagesAreKept(t *testing.T) {
	s := newSim(t, 1)
	s.start()
	steer := func(text string) {
		s.apply(&machine.Steered{Meta: s.meta(""), Message: provider.User(text)})
	}
	for i := range 30 {
		before := s.m.Clone().State().Run
		steer(fmt.Sprint("m", i))
		if i > 0 {
			require.Equal(t, fmt.Sprint("m", i-1), before.UserMessages[len(before.UserMessages)-1],
				"a clone stays as it was")
		}
	}
	r := s.m.State().Run
	require.Len(t, r.UserMessages, 20)
	require.Equal(t, "m10", r.UserMessages[0])
	require.Equal(t, "m29", r.UserMessages[19])
	require.Equal(t, "m29", s.m.State().LastUserText())
	steer(strings.Repeat("ü", 4_000))
	require.Len(t, r.UserMessages[19], 4<<10+len(" […]"))
	require.True(t, utf8.ValidString(r.UserMessages[19]))
}
