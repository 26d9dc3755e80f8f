package output_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAnAnswerIsSentBackSoManyTimes(t *testing.T) {
	of, err := output.Of[int]()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		replies     []string
		corrections int
		want        int
		misfit      string
	}{
		"at once":              {[]string{"7"}, 0, 7, ""},
		"not at all":           {[]string{"x"}, 0, 0, "x"},
		"the second":           {[]string{"", `{"value":7}`}, 1, 7, ""},
		"never":                {[]string{"x", "y"}, 1, 0, "y"},
		"after however many":   {[]string{"a", "b", "c", "d", "7"}, -1, 7, ""},
		"what can't be an int": {[]string{"7.5", "8"}, 1, 8, ""},
	} {
		t.Run(name, func(t *testing.T) {
			req := provider.Request{Messages: []provider.Message{provider.User("a number")}}
			n := 0
			v, err := of.Ask(req, c.corrections, func(req *provider.Request) (*provider.Response, error) {
				require.Len(t, req.Messages, 1+2*n)
				require.NotNil(t, req.Output)
				n++
				return provider.TextResponse(c.replies[n-1]), nil
			}, func(text string, problem error) error { return fmt.Errorf("misfit %s: %w", text, problem) })
			require.Len(t, c.replies, n)
			require.Len(t, req.Messages, 1, "the caller's request stays as it is")
			if c.misfit != "" {
				require.ErrorContains(t, err, "misfit "+c.misfit)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, v)
		})
	}
}

func TestAReplyIsBoundedAndItsUsageEstimated(t *testing.T) {
	say := func(text string) provider.Provider {
		return providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
			return provider.TextResponse(text), nil
		})
	}
	res, err := output.Generate(t.Context(), say("yes"), &provider.Request{}, 100)
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text())
	require.True(t, res.Usage.Estimated)
	var limit *machine.LimitError
	_, err = output.Generate(t.Context(), say(strings.Repeat("x", 101)), &provider.Request{}, 100)
	require.ErrorAs(t, err, &limit)
	require.Equal(t, machine.LimitReplyBytes, limit.Limit)
	_, err = output.Generate(t.Context(), say(strings.Repeat("x", 101)), &provider.Request{}, 0)
	require.NoError(t, err, "without a limit")
	down := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		return nil, errors.New("down")
	})
	res, err = output.Generate(t.Context(), down, &provider.Request{}, 100)
	require.Error(t, err)
	require.Zero(t, res.Usage)
}
