package agent_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
)

// refusedKey is a refusal with words that aren't for people.
func refusedKey() error {
	return &provider.Error{Class: fault.UserFixable, Provider: "openai", Model: "gpt-nine", Status: 401,
		Type: "invalid_request_error", Code: "invalid_api_key", Message: "Incorrect API key provided: sk-abc",
		Remedy: "set OPENAI_API_KEY, or Config.APIKey or Config.Key, to a valid key"}
}

const keyWords = "OpenAI doesn't accept the key. Set OPENAI_API_KEY to a valid key, and start the program again. " +
	"Keys are at https://platform.openai.com/api-keys."

func TestAFailedRunSaysInWordsWhatAPersonCanChange(t *testing.T) {
	store := &journal.MapStore{}
	a, err := agent.New(agent.Config{Journal: store,
		Provider: providertest.Script(providertest.FailWith(refusedKey()))})
	require.NoError(t, err)
	var end *agent.RunEnded
	for ev := range a.Stream(t.Context(), agent.Input{Session: "s-1", Prompt: "go"}) {
		if ev, ok := ev.(*agent.RunEnded); ok {
			end = ev
		}
	}
	require.Equal(t, keyWords, end.Words())
	require.Equal(t, keyWords, agent.Words(end.Result.Err()))
	require.Contains(t, end.Result.Err().Error(), "Incorrect API key provided", "the log has all of it")

	again, err := agent.New(agent.Config{Journal: store, Provider: providertest.Script()})
	require.NoError(t, err)
	res, err := again.Session("s-1").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, keyWords, agent.Words(res.Err()), "another process reads it")
	require.Equal(t, provider.ProblemKey, res.Problem.Kind)
}

func TestATimeoutOfTheOnlyProviderNamesIt(t *testing.T) {
	late := &stream.TimeoutError{Kind: stream.TimeoutFirst}
	model := ofGemini{providertest.Script(providertest.FailWith(late))}
	a, err := agent.New(agent.Config{NoGuard: true, Provider: model})
	require.NoError(t, err)
	for ev := range a.Stream(t.Context(), agent.Input{Prompt: "go"}) {
		if end, ok := ev.(*agent.RunEnded); ok {
			require.Equal(t, "Gemini didn't answer in time. Try again; if it happens often, use another model (GEMINI_MODEL).",
				end.Words())
		}
	}
}

// ofGemini is a provider that says its name.
type ofGemini struct{ provider.Provider }

func (ofGemini) Info() provider.ModelInfo { return provider.ModelInfo{Provider: "gemini"} }

func TestWordsOfErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{errors.New("listen tcp 127.0.0.1:8080: address already in use"),
			"listen tcp 127.0.0.1:8080: address already in use"},
		{errors.Join(refusedKey(), errors.New("close: gone")), keyWords},
		{&agent.StopError{Code: machine.CodeLimit, Err: &agent.LimitError{Limit: machine.LimitRepeats, Max: 5}},
			"The work was stopped because it repeated itself. Say in other words what you want."},
		{&agent.StopError{Code: machine.CodeAborted, Err: errors.New("the host's reason")},
			"agent: the run was stopped (aborted): the host's reason"},
		{&budget.Error{}, "The budget for the model is spent. Have it raised, or wait until it is filled again."},
		{fault.New(fault.Transient, "sqlite: the database is locked"), "sqlite: the database is locked"},
	} {
		require.Equal(t, c.want, agent.Words(c.err))
	}
}
