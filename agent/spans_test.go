package agent

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// TestTheInputOfARunIsFoundAgainAfterAnyCompaction: random conversations, random pieces of which are kept, left out or
// replaced; the input is kept, or replaced alone.
func TestTheInputOfARunIsFoundAgainAfterAnyCompaction(t *testing.T) {
	for seed := range uint64(400) {
		s := newSim(t, seed)
		var before []provider.Message
		for i := range 1 + s.rng.IntN(12) {
			before = append(before, provider.User(fmt.Sprint("m", i)))
		}
		first := s.rng.IntN(len(before))
		var after []provider.Message
		wanted, cut := -1, false
		for i := range before {
			switch {
			case i == first:
				wanted = len(after)
				if cut = s.one(3); cut {
					after = append(after, provider.User("shorter"))
				} else {
					after = append(after, before[i])
				}
			case s.one(3):
			case s.one(3):
				for range 1 + s.rng.IntN(2) {
					after = append(after, provider.User("note"))
				}
			default:
				after = append(after, before[i])
			}
		}
		state := &State{Messages: before, Run: &RunState{First: first, Stage: stageReady}}
		changed := spans(before, after)
		got, now, problem := state.applySpans(changed)
		require.Empty(t, problem, "seed %d", seed)
		require.Equal(t, after, got, "seed %d", seed)
		if !cut { // what stands in the place of several messages can't be told apart
			require.Equal(t, wanted, now, "seed %d", seed)
		}
		require.GreaterOrEqual(t, now, 0)
		require.Less(t, now, len(got))
	}
}

// TestSpansHoldNoMoreThanWhatIsNew: what stays isn't written again.
func TestSpansHoldNoMoreThanWhatIsNew(t *testing.T) {
	msgs := make([]provider.Message, 8)
	for i := range msgs {
		msgs[i] = provider.User(fmt.Sprint(i))
	}
	note := provider.User("note")
	for name, c := range map[string]struct {
		after []provider.Message
		want  []Span
	}{
		"as it was":        {msgs, []Span{{From: 0, To: 8}}},
		"the end":          {msgs[5:], []Span{{From: 5, To: 8}}},
		"a gap":            {append(append([]provider.Message{}, msgs[0]), msgs[4:]...), []Span{{From: 0, To: 1}, {From: 4, To: 8}}},
		"a note":           {append(append([]provider.Message{}, msgs[0], note), msgs[4:]...), []Span{{From: 0, To: 1}, {From: 1, To: 4, Messages: []provider.Message{note}}, {From: 4, To: 8}}},
		"a note in front":  {append([]provider.Message{note}, msgs...), []Span{{From: 0, To: 0, Messages: []provider.Message{note}}, {From: 0, To: 8}}},
		"a note behind":    {append(append([]provider.Message{}, msgs...), note), []Span{{From: 0, To: 8}, {From: 8, To: 8, Messages: []provider.Message{note}}}},
		"all but the last": {[]provider.Message{note, msgs[7]}, []Span{{From: 0, To: 7, Messages: []provider.Message{note}}, {From: 7, To: 8}}},
		"one twice":        {[]provider.Message{msgs[0], msgs[0], msgs[1]}, []Span{{From: 0, To: 1}, {From: 1, To: 1, Messages: []provider.Message{msgs[0]}}, {From: 1, To: 8 - 6}}},
	} {
		require.Equal(t, c.want, spans(msgs, c.after), name)
	}
}

func TestSpansThatDoNotFitAreRefusedAndChangeNothing(t *testing.T) {
	msgs := []provider.Message{provider.User("a"), provider.User("b"), provider.User("c")}
	orphan := provider.Message{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "x"})}}
	for name, c := range map[string]struct {
		spans []Span
		stage runStage
	}{
		"backwards":            {[]Span{{From: 1, To: 2}, {From: 0, To: 1}}, stageReady},
		"negative":             {[]Span{{From: -1, To: 2}}, stageReady},
		"beyond":               {[]Span{{From: 0, To: 4}}, stageReady},
		"empty":                {[]Span{{From: 1, To: 1}}, stageReady},
		"turned round":         {[]Span{{From: 2, To: 1}}, stageReady},
		"an orphan":            {[]Span{{From: 0, To: 3, Messages: []provider.Message{orphan}}}, stageReady},
		"a message of nothing": {[]Span{{From: 0, To: 3, Messages: []provider.Message{{Role: provider.RoleUser}}}}, stageReady},
		"the open step left":   {[]Span{{From: 0, To: 2}}, stageActing},
		"the open step":        {[]Span{{From: 0, To: 2}, {From: 2, To: 3, Messages: msgs[:1]}}, stageActing},
	} {
		s := &State{Messages: msgs, Run: &RunState{First: 0, Stage: c.stage}}
		_, _, problem := s.applySpans(c.spans)
		require.NotEmpty(t, problem, name)
	}
	m := newSim(t, 1)
	m.start()
	none := Compacted{Meta: m.meta("")}
	require.ErrorContains(t, m.m.wouldTake([]Fact{none}), "no report", "it never comes into a log")
	require.ErrorContains(t, m.m.Apply(none), "no report")
}

// TestAnInputThatACompactionLeftOut can't be: but a log may say so.
func TestAnInputThatACompactionLeftOutIsTakenToBeWhatComesNext(t *testing.T) {
	msgs := []provider.Message{provider.User("a"), provider.User("b"), provider.User("c"), provider.User("d")}
	for first, want := range []int{0, 1, 1, 1} {
		s := &State{Messages: msgs, Run: &RunState{First: first, Stage: stageReady}}
		_, now, problem := s.applySpans([]Span{{From: 0, To: 2}})
		require.Empty(t, problem)
		require.Equal(t, want, now, "%d", first)
	}
	s := &State{Messages: msgs, Run: &RunState{First: 1, Stage: stageReady}}
	_, now, _ := s.applySpans([]Span{{From: 0, To: 1}, {From: 2, To: 4}})
	require.Equal(t, 1, now)
	s.Run.First = 3
	_, now, _ = s.applySpans([]Span{{From: 0, To: 1}, {From: 1, To: 4, Messages: msgs[:2]}})
	require.Equal(t, 2, now, "the last of what stands in its place")
}

// TestNotesAndContextResetsThatDoNotFollowAreRefused: each fact is right but for one thing.
func TestNotesAndContextResetsThatDoNotFollowAreRefused(t *testing.T) {
	build := func() *sim {
		s := newSim(t, 1)
		s.start()
		s.note("a")
		return s
	}
	right := NoteWritten{Category: "a", Index: 2, Share: .5}
	for name, f := range map[string]NoteWritten{
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
	for name, change := range map[string]func(*RunStarted){
		"another run":        func(f *RunStarted) { f.ContextReset = &ContextResetState{Index: 1, From: "r-9", Prompt: 1} },
		"its place":          func(f *RunStarted) { f.ContextReset = &ContextResetState{Index: 2, From: "r-1", Prompt: 1} },
		"too many parts":     func(f *RunStarted) { f.ContextReset = &ContextResetState{Index: 1, From: "r-1", Prompt: 2} },
		"parts below 0":      func(f *RunStarted) { f.ContextReset = &ContextResetState{Index: 1, From: "r-1", Prompt: -1} },
		"a history":          func(f *RunStarted) { f.History = []provider.Message{provider.User("before")} },
		"a message of calls": func(f *RunStarted) { f.Message.Parts = []provider.Part{{Kind: provider.PartToolCall}} },
	} {
		s := build()
		s.apply(RunEnded{Meta: s.meta(""), Status: Stopped, Code: CodeContextReset})
		s.origin = &Origin{Session: s.m.s.Session, Run: "r-2"}
		f := RunStarted{Meta: s.meta(""), Message: provider.User("go"), ContextReset: &ContextResetState{Index: 1, From: "r-1", Prompt: 1}}
		wrong := f
		change(&wrong)
		require.Error(t, s.m.Apply(wrong), name)
		require.Error(t, s.m.wouldTake([]Fact{wrong}), name)
		require.NotEmpty(t, s.m.s.Messages)
		require.NoError(t, s.m.wouldTake([]Fact{f}), name)
		require.NoError(t, s.m.Apply(f), name)
	}
	s := build()
	s.apply(RunEnded{Meta: s.meta(""), Status: Stopped, Code: CodeHost})
	s.origin = &Origin{Session: s.m.s.Session, Run: "r-2"}
	require.Error(t, s.m.Apply(RunStarted{Meta: s.meta(""), Message: provider.User("go"), ContextReset: &ContextResetState{Index: 1, From: "r-1"}}), "it handed nothing off")
}

func TestOfWhatAPersonSaidTheNewestIsKept(t *testing.T) {
	r := new(RunState)
	for i := range 30 {
		before := r.Said
		r.keepUserText(fmt.Sprint("m", i))
		if len(before) > 0 {
			require.Equal(t, fmt.Sprint("m", i-1), before[len(before)-1], "what was shared stays as it was")
		}
	}
	require.Len(t, r.Said, 20)
	require.Equal(t, "m10", r.Said[0])
	require.Equal(t, "m29", r.Said[19])
	r.keepUserText(strings.Repeat("ü", 4_000))
	require.Len(t, r.Said[19], 4<<10+len(" […]"))
	require.True(t, utf8.ValidString(r.Said[19]))
}
