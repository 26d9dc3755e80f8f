package portfolio

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// legal are all changes that may happen, written down once more: trigger, tool, and from>to.
const legal = `
tool topicResearch draft>research
tool skeletonCreator research>skeleton writing>skeleton creating_visuals>skeleton ready>skeleton
tool contentWriter skeleton>writing writing>creating_visuals creating_visuals>writing ready>writing
tool humanizer writing>ready creating_visuals>ready
tool visualsCreator writing>ready creating_visuals>ready
user - ready>published published>ready draft>archived research>archived skeleton>archived writing>archived creating_visuals>archived ready>archived published>archived archived>ready archived>draft
system - writing>ready creating_visuals>ready skeleton>ready published>ready
restore topicResearch research>draft
restore skeletonCreator skeleton>research skeleton>writing skeleton>creating_visuals skeleton>ready
restore contentWriter writing>skeleton creating_visuals>skeleton writing>creating_visuals writing>ready creating_visuals>ready
restore humanizer ready>writing ready>creating_visuals
restore visualsCreator ready>writing ready>creating_visuals
`

func TestOnlyTheListedTransitionsChangeAStatus(t *testing.T) {
	want := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(legal)) {
		f := strings.Fields(line)
		for _, pair := range f[2:] {
			want[f[0]+" "+strings.Trim(f[1], "-")+" "+pair] = true
		}
	}
	s := newStore(t)
	a := newArtifact(t, s)
	tools := []string{"", TopicResearch, SkeletonCreator, ContentWriter, Humanizer, VisualsCreator, "fetchArtifact"}
	tried, changed := 0, 0
	for _, from := range Statuses {
		for _, to := range Statuses {
			for _, by := range []Trigger{ByTool, ByUser, BySystem, ByRestore} {
				for _, tool := range tools {
					if from == to {
						continue
					}
					tried++
					force(t, s, a.ID, from)
					text := "text of " + string(to)
					got, err := s.Apply(t.Context(),
						Change{User: "ann", Artifact: a.ID, By: by, Tool: tool, From: from, To: to, Content: &text})
					if want[string(by)+" "+tool+" "+string(from)+">"+string(to)] {
						require.NoError(t, err)
						require.Equal(t, to, got.Status)
						changed++
						continue
					}
					refused(t, err, InvalidStatus)
					now, err := s.Artifact(t.Context(), "ann", a.ID)
					require.NoError(t, err)
					require.Equal(t, from, now.Status)
				}
			}
		}
	}
	require.Equal(t, 8*7*4*7, tried)
	require.Equal(t, len(want), changed)
	require.Len(t, Transitions, changed)
	h, err := s.History(t.Context(), "ann", a.ID)
	require.NoError(t, err)
	require.Len(t, h, changed, "one row for each change, and none for those that were refused")
}

func TestAnUnknownTriggerOrStatusChangesNothing(t *testing.T) {
	require.False(t, Legal(Draft, Research, "magic", TopicResearch))
	require.False(t, Legal(Draft, "gone", ByUser, ""))
}

func TestEachToolIsAllowedWhereItsTransitionsBegin(t *testing.T) {
	for _, tr := range Transitions {
		if tr.By == ByTool {
			require.True(t, slices.Contains(Allowed[tr.Tool], tr.From) || Again(tr.Tool, tr.From), tr)
		}
	}
}
