package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// A smallModel has a window of 24,000 tokens and gives long answers.
type smallModel struct{ provider.Provider }

func (smallModel) Info() provider.ModelInfo {
	return provider.ModelInfo{Provider: "test", ID: "small", Window: 24_000}
}

func TestALongSessionIsCompacted(t *testing.T) {
	t.Parallel()
	m := smallModel{providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		return &provider.Response{Stop: provider.StopDone,
			Parts: []provider.Part{provider.TextPart("As for " + req.LastUserText() + ": " +
				strings.Repeat("word ", 500))}}, nil
	})}
	p, _ := newBench(t).program(t, "")
	var err error
	p.agent, err = newAgent(m, cmstools.Config{Site: p.site}, p.store, 0, nil)
	require.NoError(t, err)
	shortened := 0
	for n := range 60 {
		for ev, err := range p.agent.Stream(t.Context(),
			agent.Input{Session: "s", Prompt: fmt.Sprint("question ", n)}) {
			require.NoError(t, err)
			if c, ok := ev.(*machine.Compacted); ok {
				require.Less(t, c.Report.After, c.Report.Before)
				shortened++
			}
		}
	}
	require.Greater(t, shortened, 1)
}
