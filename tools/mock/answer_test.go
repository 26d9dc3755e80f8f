package mock_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/mock"
)

func TestAPlaceholderKeepsItsTypeAndIsTextWithinText(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `{
		"topic": "{{topic}}", "count": "{{count}}", "list": "{{list}}", "none": "{{none}}", "yes": "{{yes}}", "big": "{{big}}",
		"line": "{{count}} of {{topic}}: {{list}} {{none}} {{yes}}", "deep": [{"a": "{{count}}"}, ""], "{{topic}}": 1.50,
		"rest": "{{unknown}} {{ topic }} {topic} {{}} {{{topic}}}", "alone": "{{unknown}}"}`})
	got := answered[json.RawMessage](t, c, mock.Key{Name: "search", Values: map[string]any{
		"topic": "cats & <dogs>", "count": 3, "list": []any{"x", 1}, "none": nil, "yes": true, "big": uint64(1<<63 + 1),
	}})
	require.JSONEq(t, `{
		"topic": "cats & <dogs>", "count": 3, "list": ["x", 1], "none": null, "yes": true, "big": 9223372036854775809,
		"line": "3 of cats & <dogs>: [\"x\",1] null true", "deep": [{"a": 3}, ""], "{{topic}}": 1.50,
		"rest": "{{unknown}} {{ topic }} {topic} {{}} {cats & <dogs>}", "alone": "{{unknown}}"}`, string(got))
	require.Contains(t, string(got), "9223372036854775809")
}

func TestValuesAreNotSearchedForPlaceholders(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `["{{topic}}", "about {{topic}}"]`})
	got := answered[[]string](t, c,
		mock.Key{Name: "search", Values: map[string]any{"topic": "{{secret}}", "secret": "s"}})
	require.Equal(t, []string{"{{secret}}", "about {{secret}}"}, got)
}

type made struct {
	Trace, Trace2 string
	Time, Time2   string
	ID, ID2       string
	Score         float64
	Duration      int
	Text          string
}

const everyKind = `{"Trace": "{{traceId}}", "Trace2": "{{traceId}}", "Time": "{{timestamp}}", "Time2": "{{timestamp}}",
	"ID": "{{uuid}}", "ID2": "{{uuid}}", "Score": "{{randomScore}}", "Duration": "{{duration}}", "Text": "{{randomScore}} in {{duration}} ms"}`

func TestGeneratedValuesHaveTheirForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock starts at 2000-01-01
		c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": everyKind})
		lowest, highest := 1.0, 0.0
		for range 500 {
			m := answered[made](t, c, search)
			require.Regexp(t, `^mock-946684800000-[0-9a-f]{8}$`, m.Trace)
			require.Equal(t, m.Trace, m.Trace2)
			require.Equal(t, "2000-01-01T00:00:00.000Z", m.Time)
			require.Equal(t, m.Time, m.Time2)
			const uuid = `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`
			require.Regexp(t, uuid, m.ID)
			require.Regexp(t, uuid, m.ID2)
			require.NotEqual(t, m.ID, m.ID2)
			require.GreaterOrEqual(t, m.Score, 0.6)
			require.LessOrEqual(t, m.Score, 1.0)
			require.GreaterOrEqual(t, m.Duration, 500)
			require.LessOrEqual(t, m.Duration, 2500)
			require.Regexp(t, `^(0\.\d\d?|1) in \d{3,4} ms$`, m.Text)
			lowest, highest = min(lowest, m.Score), max(highest, m.Score)
		}
		require.Less(t, lowest, 0.65)
		require.Greater(t, highest, 0.95)
	})
}

func TestAValueOfTheCallHidesAGeneratedOne(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": everyKind})
	m := answered[made](t, c, mock.Key{Name: "search", Values: map[string]any{
		"traceId": "mock-1", "timestamp": "now", "uuid": "id", "randomScore": 0.5, "duration": 1,
	}})
	require.Equal(t, made{"mock-1", "mock-1", "now", "now", "id", "id", 0.5, 1, "0.5 in 1 ms"}, m)
}

// topics asks for these topics in parallel and returns the answers by topic.
func topics(t *testing.T, c *mock.Category, list string) map[string]made {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := make(map[string]made)
	for _, topic := range strings.Fields(list) {
		wg.Go(func() {
			m, err := ask[made](t, c, mock.Key{Name: "search", Values: map[string]any{"topic": topic}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[topic] = m
		})
	}
	wg.Wait()
	return got
}

func TestASeedMakesAnswersRepeatableInAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list := map[string]string{"research/search.default.json": everyKind}
		one, two := mocked(t, mock.Config{Seed: 1}, list), mocked(t, mock.Config{Seed: 1}, list)
		first, second := topics(t, one, "a b c d"), topics(t, one, "a b c d")
		require.Equal(t, first, topics(t, two, "d c b a"))
		require.Equal(t, second, topics(t, two, "c a d b"))
		ids := map[string]bool{}
		for _, m := range []map[string]made{first, second} {
			for _, v := range m {
				ids[v.ID], ids[v.ID2] = true, true
			}
		}
		require.Len(t, ids, 16, "the same call again has other ids")

		require.NotEqual(t, first, topics(t, mocked(t, mock.Config{Seed: 2}, list), "a b c d"))
		random := topics(t, mocked(t, mock.Config{}, list), "a b c d")
		require.NotEqual(t, random, topics(t, mocked(t, mock.Config{}, list), "a b c d"))
	})
}
