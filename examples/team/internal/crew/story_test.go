package crew

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/examples/team/internal/standin"
)

// A story is a project, and what its program prints.
type story struct {
	wrong string // the step whose first version has a mistake
	args  []string
	wants string
}

var stories = []story{
	{"count", []string{"run", "./cmd/words", "go.mod", "count/count_test.go"},
		" 4 go.mod\n58 count/count_test.go\n62 total\n"},
	{"slug", []string{"run", "./cmd/slug", "Crème brûlée!", "Crème, brûlée"}, "creme-brulee\ncreme-brulee-2\n"},
	{"table", []string{"run", "./cmd/csv2json", "cmd/csv2json/cities.csv"},
		`[
  {"city":"Oslo","country":"Norway","people":709037},
  {"city":"Washington, D.C.","country":"United States","people":678972},
  {"city":"Zürich","country":"Switzerland","people":443037}
]
`},
}

// The test is red, then green, the program runs and prints what it should, and undo takes back all
// of it. The first project is built in a directory that has code already, which is left alone.
func TestAProjectIsBuilt(t *testing.T) {
	for i, one := range stories {
		t.Run(one.wrong, func(t *testing.T) {
			if i > 0 {
				ifFull(t)
			}
			w, others := begin(t, t.TempDir()), 0
			if i == 0 {
				others = w.has()
			}
			p := w.toThePlan(standin.Examples()[i])
			require.Empty(t, w.files(), "nothing is written before the plan is approved")
			w.decide(agent.Approve(p.ID))
			p = w.waits()
			require.NotNil(t, p, "%s", w.said())
			require.Equal(t, "Run go test -count=1 -cover ./...", p.Title)
			require.Len(t, p.Scopes, 2)
			require.Equal(t, "go `test …` in this project", p.Scopes[1].Text)
			w.decide(agent.Approve(p.ID).For(policy.Project))
			require.Nil(t, w.waits())

			run, _, err := w.planOf(t.Context(), "main")
			require.NoError(t, err)
			checks, err := w.Checks(t.Context(), run, one.wrong)
			require.NoError(t, err)
			var passed []bool
			for _, c := range checks {
				passed = append(passed, c.Passed)
			}
			require.Equal(t, []bool{true, false, true, true}, passed, "%+v", checks)
			require.Contains(t, checks[1].Output, "--- FAIL")
			require.Equal(t, one.wants, w.golang(one.args...))
			sum, err := w.Done(t.Context(), run)
			require.NoError(t, err)
			require.Contains(t, w.said(), sum.Output)
			require.Len(t, sum.Agents, 2)
			require.GreaterOrEqual(t, len(sum.Files), 5)
			grants, err := w.Grants(t.Context())
			require.NoError(t, err)
			require.Len(t, grants, 1)

			w.say("please undo everything")
			require.Equal(t, []string{"Undo everything that the newest plan has written"}, w.yes())
			require.Empty(t, w.files(), w.said())
			require.NoError(t, w.Undo(t.Context(), "main", run), "again")
			left, err := os.ReadDir(w.Place.Dir)
			require.NoError(t, err)
			require.Len(t, left, 2+others, "go.mod, .agents and what was there before")
			_, err = os.Stat(filepath.Join(w.Place.State, "grants.json"))
			require.NoError(t, err)
		})
	}
}
