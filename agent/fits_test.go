package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestWhatIsTooLargeForTheJournalLeavesNoLogOpen(t *testing.T) {
	const most = 64 << 10 // a record has 1,024 times as much, which takes long to write
	type given struct {
		N string `json:"n"`
	}
	huge := strings.Repeat("x", most)
	for name, c := range map[string]struct {
		reply    providertest.Step
		result   tools.Result
		answered string // what the model is told of the call; none: the reply is refused
	}{
		"text":                {reply: providertest.Say(huge)},
		"text that is quoted": {reply: providertest.Say(strings.Repeat("\x01", most/5))},
		"a call":              {reply: providertest.Call("give", given{huge})},
		"data": {providertest.Call("give", given{"1"}),
			tools.Result{Parts: []provider.Part{provider.TextPart("given")}, Data: huge}, "given"},
		"a result": {providertest.Call("give", given{"1"}),
			tools.Result{Parts: []provider.Part{provider.TextPart(huge)}},
			"The call ran, but its result is too large to be kept."},
		"a result with its call": {providertest.Call("give", given{huge[:most*9/10]}),
			tools.Result{Parts: []provider.Part{provider.TextPart(huge[:most/5])}},
			"The call ran, but its result is too large to be kept."},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := New(Config{
				Journal:  &journal.MapStore{},
				Provider: providertest.Script(c.reply, providertest.Say("on"), providertest.Say("on")),
				Tools: []tools.Tool{tools.New(tools.Spec{Name: "give"},
					func(context.Context, given) (tools.Result, error) { return c.result, nil })},
			})
			require.NoError(t, err)
			a.sessions.Record = most
			res, err := a.Run(t.Context(), Input{Session: "s", Prompt: "go"})
			if c.answered == "" {
				require.ErrorContains(t, err, "larger than a record of the journal")
				require.Equal(t, machine.CodeProvider, res.Code)
				require.Positive(t, res.Usage.Total())
			} else {
				require.NoError(t, err)
				require.Equal(t, Completed, res.Status)
				require.Equal(t, c.answered, res.Messages[2].Parts[0].Result.Text())
			}
			res, err = a.Run(t.Context(), Input{Session: "s", Prompt: "go on"})
			require.NoError(t, err, "no run is open")
			require.Equal(t, Completed, res.Status)
			facts, err := a.Session("s").Facts(t.Context())
			require.NoError(t, err)
			for _, f := range facts {
				rec, err := machine.Encode(f)
				require.NoError(t, err)
				require.LessOrEqual(t, len(rec.Data), most)
			}
		})
	}
}

// A limited store takes no larger record than that.
type limited struct {
	journal.Store
	most int
}

func (l limited) Append(ctx context.Context, a journal.Append) error {
	for _, r := range a.Records {
		if len(r.Data) > l.most {
			return &journal.InvalidError{Field: "Data", Problem: "too large"}
		}
	}
	return l.Store.Append(ctx, a)
}

func TestAResultThatJustFitsLeavesRoomForWhatIsSaidOfIt(t *testing.T) {
	const most = 16 << 10
	type given struct {
		N string `json:"n"`
	}
	for size := most - 700; size < most; size += 50 {
		a, err := New(Config{
			Journal: limited{&journal.MapStore{}, most},
			Provider: providertest.Script(providertest.Call("give", given{"1"}), providertest.Call("give", given{"1"}),
				providertest.Call("give", given{"1"}), providertest.Say("on")),
			Tools: []tools.Tool{tools.New(tools.Spec{Name: "give"}, func(context.Context, given) (string, error) {
				return strings.Repeat("x", size), nil
			})},
		})
		require.NoError(t, err)
		a.sessions.Record = most
		res, err := a.Run(t.Context(), Input{Session: "s", Prompt: "go"})
		require.NoError(t, err, size)
		require.Equal(t, Completed, res.Status)
	}
}

func TestASnapshotThatIsTooLargeForARecordIsLeftOut(t *testing.T) {
	a, err := New(Config{Journal: &journal.MapStore{},
		Provider: providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return providertest.Say("yes").Response(), nil
		})})
	require.NoError(t, err)
	a.sessions.Record = 4 << 10
	for range 2 * 500 / 4 {
		res, err := a.Run(t.Context(), Input{Session: "s", Prompt: "go"})
		require.NoError(t, err)
		require.Equal(t, Completed, res.Status)
	}
	log, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	for _, f := range log {
		_, snapshot := f.(*machine.Snapshot)
		require.False(t, snapshot)
	}
}
