package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	r := run(t, agentOf(nil, oslo, answer), Config{Cases: []Case{weather(Called("weather"))}, Trials: 2})
	paused := run(t, agentOf(nil, providertest.Call("alarm", City{"Oslo"})),
		Config{Cases: []Case{weather()}, Trials: 1})
	r.Trials = append(append(r.Trials, paused.Trials...), Trial{Case: "x", N: 1, NotRun: "no <budget>"})
	var file bytes.Buffer
	require.NoError(t, r.Write(&file))
	require.Equal(t, 5, strings.Count(file.String(), "\n"), "a header and a line for each trial")
	require.Contains(t, file.String(), `{"pawl_eval":1,"trials":4}`)
	text := file.String()
	got, err := Read(&file)
	require.NoError(t, err)
	require.Equal(t, r, got)

	again, err := got.Rescore(t.Context(), Config{Cases: []Case{weather(InOrder("weather"), Text("3 °C"), Steps(1))}})
	require.NoError(t, err)
	require.Equal(t, Rate{0, 3}, again.Rate("weather", ""))
	require.Equal(t, Rate{2, 3}, again.Rate("weather", `text "3 °C"`))

	for cut := 0; cut < len(text)-1; cut += 1 + rand.IntN(9) { // a line that is cut is found, wherever
		if text[cut] == '\n' {
			continue // only the next line is missing
		}
		_, err := Read(strings.NewReader(text[:cut]))
		require.Equal(t, fault.UserFixable, fault.Of(err), "%d", cut)
		require.ErrorContains(t, err, fmt.Sprintf(" line %d ", 1+strings.Count(text[:cut], "\n")), text[:cut])
	}
	require.ErrorIs(t, r.Write(failing{}), io.ErrClosedPipe)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAFileThatIsNoReportIsAnErrorWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "line 1 of a report: unexpected EOF",
		"[]":                                   "line 1",
		`{"trials": 1}`:                        "line 1 of a report: it has version 0, and this release reads 1",
		`{"pawl_eval": 2, "trials": 1}`:        "it has version 2",
		`{"pawl_eval": 1, "trials": 1}`:        "line 2 of a report: unexpected EOF",
		"{\"pawl_eval\": 1, \"trials\": 1}\nx": "line 2",
		"{\"pawl_eval\": 1, \"trials\": 1}\n{}\n{}": "line 3 of a report: there are more lines than the first one says",
	} {
		_, err := Read(strings.NewReader(text))
		require.Equal(t, fault.UserFixable, fault.Of(err))
		require.ErrorContains(t, err, want)
	}
	_, err := Read(iotest.ErrReader(errors.New("a broken disk")))
	require.ErrorContains(t, err, "a broken disk")
}

func TestABriefReportCannotBeScoredAgain(t *testing.T) {
	r := run(t, agentOf(nil, oslo, answer), Config{Cases: []Case{weather()}, Trials: 2})
	_, err := r.brief().Rescore(t.Context(), Config{Cases: []Case{weather()}})
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Equal(t, r.Rate("weather", ""), r.brief().Rate("weather", ""))
	require.NotEmpty(t, r.Trials[0].Messages)
	mixed := &Report{Trials: append(r.brief().Trials, Trial{Case: "other", N: 1, Status: agent.Completed,
		Messages: r.Trials[0].Messages})} // as a test with one of its cases leaves it
	again, err := mixed.Rescore(t.Context(), Config{Cases: []Case{{Name: "other"}}})
	require.NoError(t, err)
	require.Len(t, again.Trials[2].Scores, 1)
	_, err = r.Rescore(t.Context(), Config{})
	require.Equal(t, fault.Invalid, fault.Of(err))
}

func TestTheMarkdownSaysFirstWhatGotWorseAndWhy(t *testing.T) {
	before := scored(20, map[string]int{"a": 20, "b": 20})
	now := scored(20, map[string]int{"a": 5, "b": 20, "c": 20})
	now.Trials[7].Scores[0].Why = "a | table, <b>bold</b>\n# and [links](x) for @ann"
	now.Trials = append(now.Trials, Trial{Case: "second", N: 1, NotRun: "the budget ended"},
		Trial{Case: "third", N: 1, Error: "no key"})
	text := now.Markdown(before)
	for _, part := range []string{
		"**5 of 20 trials passed.** Of 2 more it isn't known.",
		"Of 2 scores, 1 got worse and 0 better than chance explains.",
		"## Worse\n\n- **c**, a: 20 of 20 → 5 of 20\n  - trial 6: a:",
		`  - trial 8: a: a \| table, &lt;b>bold&lt;/b> # and \[links](x) for @` + "\u200bann\n",
		"## New\n\n- **c**, c: 0 of 0 → 20 of 20\n",
		"| c | 5 of 20 | 11–47 % | 0.01 | 0.60 | $0.000000 | 0.0 | 0s |\n",
		"| … before | 20 of 20 | 84–100 % | 1.00 | 1.00 | $0.000000 | 0.0 | 0s |\n",
		"| second | none | | | | | | |\n",
		"## Trials that didn't pass\n\n- c 6: a: ",
		"- second 1: not run: the budget ended",
		"- third 1: no key",
	} {
		require.Contains(t, text, part)
	}
	require.Less(t, strings.Index(text, "## Worse"), strings.Index(text, "| case |"))
	require.NotContains(t, now.Markdown(nil), "Worse")
	better := scored(20, map[string]int{"a": 20}).Markdown(scored(20, map[string]int{"a": 5, "d": 3}))
	require.Contains(t, better, "## Better\n\n- **c**, a: 5 of 20 → 20 of 20\n")
	require.Contains(t, better, "## Gone\n\n- **c**, d: 3 of 20 → 0 of 0\n")
	require.Contains(t, new(Report).Markdown(new(Report)), "**0 of 0 trials passed.**")
	require.Contains(t, (&Report{Trials: []Trial{{Case: "p", N: 1, Status: agent.Paused,
		Scores: []Score{{Name: "own", Error: "down"}}}}}).Markdown(nil), "- p 1: own: down")
}
