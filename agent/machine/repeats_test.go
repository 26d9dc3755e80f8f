package machine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A try is one call and its outcome.
type try struct {
	tool, input string
	status      tools.Status
	text        string
	polls       bool
	notes       int // how many of its parts were added by the agent
}

// repeated applies calls to the state of a run, and returns what is counted after each.
func repeated(tries []try) (counts []int) {
	r := &machine.RunState{Tools: make(map[string]machine.ToolState)}
	for _, c := range tries {
		res := &machine.ToolResult{Status: c.status, Polls: c.polls}
		if c.text != "" {
			res.Parts = []provider.Part{provider.TextPart(c.text)}
		}
		for range c.notes {
			addNote(res, fmt.Sprint("Note ", len(counts)))
		}
		call := &provider.ToolCall{Name: c.tool, Input: json.RawMessage(c.input)}
		t, n := machine.CountRepeats(r, call, res)
		r.Tools[c.tool] = t
		counts = append(counts, n)
	}
	return counts
}

func TestWhatCountsAsARepetition(t *testing.T) {
	ok := func(input, text string) try { return try{tool: "look", input: input, status: tools.OK, text: text} }
	failed := func(input, text string) try {
		return try{tool: "look", input: input, status: tools.Failed, text: text}
	}
	poll := try{tool: "look", input: "1", status: tools.OK, text: "a", polls: true}
	noted := ok("1", "a")
	noted.notes = 2
	for name, c := range map[string]struct {
		tries []try
		want  []int
	}{
		"the same call with the same result": {[]try{ok("1", "a"), ok("1", "a"), ok("1", "a")}, []int{1, 2, 3}},
		"another result":                     {[]try{ok("1", "a"), ok("1", "b"), ok("1", "a")}, []int{1, 1, 1}},
		"another input":                      {[]try{ok("1", "a"), ok("2", "a"), ok("1", "a")}, []int{1, 1, 1}},
		"another input in between": {[]try{ok("1", "a"), ok("1", "a"), ok("2", "a"), ok("1", "a")},
			[]int{1, 2, 1, 1}},
		"another tool in between counts on": {[]try{ok("1", "a"), {tool: "write", input: "1", status: tools.OK},
			ok("1", "a")}, []int{1, 1, 2}},
		"failing in different ways": {[]try{failed("1", "a"), failed("1", "b"), failed("1", "c")},
			[]int{1, 2, 3}},
		"failing with different inputs": {[]try{failed("1", "a"), failed("2", "a"), failed("3", "a")},
			[]int{1, 1, 1}},
		"a success between failures": {[]try{failed("1", "a"), failed("1", "b"), ok("1", "c"),
			failed("1", "d")}, []int{1, 2, 1, 1}},
		"polling": {[]try{poll, poll, poll}, []int{0, 0, 0}},
		"polling clears what came before": {[]try{ok("1", "a"), ok("1", "a"), poll, ok("1", "a")},
			[]int{1, 2, 0, 1}},
		"what the agent added doesn't count": {[]try{ok("1", "a"), noted, noted}, []int{1, 2, 3}},
		"more notes than parts": {[]try{{tool: "look", input: "1", status: tools.OK, notes: 1},
			{tool: "look", input: "1", status: tools.OK}}, []int{1, 2}},
		"results that are all notes and nothing": {[]try{{tool: "look", input: "1", status: tools.Failed, notes: 3},
			{tool: "look", input: "1", status: tools.Failed, notes: 1}}, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, repeated(c.tries)) })
	}
	for _, status := range []tools.Status{tools.Rejected, tools.NotRun, tools.Canceled, tools.Answered, tools.InDoubt,
		tools.Unavailable} {
		c := failed("1", "a")
		c.status = status
		require.Equal(t, []int{1, 0, 2}, repeated([]try{ok("1", "a"), c, ok("1", "a")}),
			"%s is no sign, and takes none away", status)
	}
	for _, status := range []tools.Status{tools.Failed, tools.Unverified, tools.TimedOut, tools.Invalid, tools.Unknown,
		tools.Denied} {
		c := failed("1", "a")
		c.status = status
		d := c
		d.text = "b"
		require.Equal(t, []int{1, 2}, repeated([]try{c, d}), status)
	}
}

func TestMediaTellsResultsApart(t *testing.T) {
	image := func(data string) []provider.Part {
		return []provider.Part{provider.MediaPart(provider.Media{Type: "image/png", Data: []byte(data)})}
	}
	require.NotEqual(t, machine.HashParts(image("\xff\x00")), machine.HashParts(image("\xfe\x00")),
		"bytes aren't characters")
	require.Equal(t, machine.HashParts(image("\xff\x00")), machine.HashParts(image("\xff\x00")))
	byURL := provider.MediaPart(provider.Media{URL: "https://a.example/1.png"})
	byID := provider.MediaPart(provider.Media{FileID: "file-1"})
	require.NotEqual(t, machine.HashParts([]provider.Part{byURL}), machine.HashParts([]provider.Part{byID}))
}

func TestTheHashOfATextSurvivesAJournal(t *testing.T) {
	for _, s := range []string{"", "plain", "\xff\xfe broken", "cut \xe2\x82", "ä\u2028🙂"} {
		data, err := machine.Marshal(s)
		require.NoError(t, err)
		var back string
		require.NoError(t, json.Unmarshal(data, &back))
		require.Equal(t, machine.Hash(s), machine.Hash(back), "%q", s)
	}
}

func TestARunIsStuckAfterExactlyAsManyRepetitionsAsItsLimitSays(t *testing.T) {
	for _, c := range []struct {
		limit int
		calls int // model calls until the run is stuck; 0: it never is
	}{{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {-1, 0}} {
		for name, result := range map[string]func(n int) *machine.ToolResult{
			"the same result": func(int) *machine.ToolResult { return &machine.ToolResult{Status: tools.OK} },
			"failures":        func(n int) *machine.ToolResult { return failure(n) },
		} {
			t.Run(fmt.Sprintf("%s, limit %d", name, c.limit), func(t *testing.T) {
				d := newDrill(t, machine.Limits{Repeats: c.limit, Failures: -1}.WithDefaults(),
					func(int) *machine.Replied { return calls(provider.StopToolCalls, "1") })
				d.result = result
				le := d.limit()
				if c.calls == 0 {
					require.Equal(t, machine.LimitSteps, le.Limit)
					return
				}
				require.Equal(t, c.calls, d.calls)
				require.Equal(t, machine.LimitRepeats, le.Limit)
				require.Equal(t, int64(c.limit), le.Max)
				require.Equal(t, int64(c.limit), le.Have)
				require.Contains(t, le.Error(), "look")
			})
		}
	}
}

func failure(n int) *machine.ToolResult {
	return &machine.ToolResult{Status: tools.Failed, Class: fault.Permanent,
		ToolResult: provider.ToolResult{Parts: []provider.Part{provider.TextPart(fmt.Sprint("error ", n))}}}
}

func TestAModelThatChangesItsInputIsNotStuck(t *testing.T) {
	d := newDrill(t, machine.DefaultLimits(), func(step int) *machine.Replied {
		return calls(provider.StopToolCalls, fmt.Sprint(step/4))
	})
	d.result = func(int) *machine.ToolResult { return &machine.ToolResult{Status: tools.OK} }
	require.Equal(t, machine.LimitSteps, d.limit().Limit)
}

func TestTheInputThatRanCountsForRepetition(t *testing.T) {
	// The model changes the input each time, and what runs is the same each time.
	m := machine.New("s-1")
	d := &drill{t: t, m: m, origin: machine.Origin{Session: "s-1", Run: "r-1"}}
	d.apply(&machine.RunStarted{Meta: d.meta(""), Message: provider.User("go"), Limits: new(machine.DefaultLimits())})
	for step := 1; step <= 5; step++ {
		require.Empty(t, m.State().Run.Stuck)
		d.apply(withMeta(&machine.StepStarted{}, func(meta *machine.Meta) { *meta = d.meta(""); meta.Step = step }))
		f := calls(provider.StopToolCalls, fmt.Sprintf(`{"n":%d}`, step))
		f.Meta, f.Message.Role = d.meta(""), provider.RoleAssistant
		f.Message.Parts[0].Call.ID = machine.CallID("r-1", step, 0)
		d.apply(f)
		ran := *m.State().Run.Calls[0].Call
		ran.Input = json.RawMessage(`{"n":0}`)
		d.apply(&machine.ToolStarted{Meta: d.meta(ran.ID), Call: &ran, IdempotencyKey: ran.ID})
		require.JSONEq(t, `{"n":0}`, string(m.State().Run.Calls[0].Call.Input),
			"should the call have to run again, it runs with this")
		_, n := machine.CountRepeats(m.State().Run, &ran, &machine.ToolResult{Status: tools.OK})
		require.Equal(t, step, n, "what the driver counts")
		d.apply(&machine.ToolFinished{Meta: d.meta(ran.ID), Call: &ran,
			Result: &machine.ToolResult{Status: tools.OK, ToolResult: provider.ToolResult{CallID: ran.ID}}})
	}
	require.Equal(t, "look", m.State().Run.Stuck)
}

func TestAValidInputResetsTheCorrections(t *testing.T) {
	for status, want := range map[tools.Status]int{
		tools.OK: 0, tools.Failed: 0, tools.TimedOut: 0, tools.Unverified: 0, tools.Answered: 0,
		tools.Invalid: 3, tools.Unavailable: 2, tools.NotRun: 2, tools.Rejected: 2,
	} {
		r := &machine.RunState{Tools: map[string]machine.ToolState{"look": {Invalid: 2}}}
		state, _ := machine.CountRepeats(r, &provider.ToolCall{Name: "look"}, &machine.ToolResult{Status: status})
		require.Equal(t, want, state.Invalid, status)
	}
}

func TestARunStopsAfterAsManyFailuresInARowAsItsLimitSays(t *testing.T) {
	input := func(step int) *machine.Replied { return calls(provider.StopToolCalls, fmt.Sprint(step)) }
	for _, status := range []tools.Status{tools.Failed, tools.Unverified, tools.TimedOut, tools.Unknown, tools.Invalid,
		tools.Denied} {
		d := newDrill(t, machine.Limits{Repeats: -1}.WithDefaults(), input)
		d.result = func(int) *machine.ToolResult { return &machine.ToolResult{Status: status} }
		le := d.limit()
		require.Equal(t, &machine.LimitError{Limit: machine.LimitFailures, Max: 8, Have: 8, Note: le.Note}, le)
		require.Equal(t, 8, d.calls)
	}
	d := newDrill(t, machine.DefaultLimits(), input)
	d.result = func(n int) *machine.ToolResult {
		if n == 7 { // a success starts the count anew
			return &machine.ToolResult{Status: tools.OK}
		}
		return failure(n)
	}
	require.Equal(t, machine.LimitSteps, d.limit().Limit)
	for _, status := range []tools.Status{tools.Rejected, tools.Canceled, tools.Unavailable, tools.NotRun,
		tools.InDoubt} {
		d := newDrill(t, machine.Limits{Repeats: -1}.WithDefaults(), input)
		d.result = func(int) *machine.ToolResult { return &machine.ToolResult{Status: status} }
		require.Equal(t, machine.LimitSteps, d.limit().Limit, status)
	}
}
