package mock_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools/mock"
)

var search = mock.Key{Name: "search"}

func TestTheMasterSwitchAndTheTogglesDecideWhoAnswers(t *testing.T) {
	for _, c := range []struct {
		master mock.Mode
		toggle map[string]mock.Mode
		want   string
	}{
		{"", nil, "outside"},
		{"", map[string]mock.Mode{"research": mock.Mock}, "outside"},
		{mock.API, map[string]mock.Mode{"research": mock.Mock}, "outside"},
		{mock.Mock, nil, "file"},
		{mock.Mock, map[string]mock.Mode{"research": mock.API}, "file"},
		{mock.PerToggle, map[string]mock.Mode{"research": mock.Mock}, "file"},
		{mock.PerToggle, map[string]mock.Mode{"research": mock.API}, "outside"},
		{mock.PerToggle, map[string]mock.Mode{"research": ""}, "outside"},
		{mock.PerToggle, map[string]mock.Mode{"writing": mock.Mock}, "outside"},
	} {
		set := newSet(t, mock.Config{Master: c.master, Toggles: c.toggle,
			Files: []fs.FS{files(map[string]string{"research/search.default.json": `"file"`})}})
		calls := 0
		got, err := mock.Call(t.Context(), set.Category("research"), search, func(context.Context) (string, error) {
			calls++
			return "outside", nil
		})
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%+v", c)
		require.Equal(t, c.want == "outside", calls == 1, "%+v", c)
	}
}

func TestWithoutASetTheOutsideCallIsMade(t *testing.T) {
	var none *mock.Set
	for _, c := range []*mock.Category{nil, none.Category("research"), {}, new(mock.Set).Category("research")} {
		got, err := mock.Call(t.Context(), c, search, func(context.Context) (int, error) { return 7, nil })
		require.NoError(t, err)
		require.Equal(t, 7, got)
	}
}

func TestWhatTheOutsideCallReturnsIsReturned(t *testing.T) {
	own := errors.New("down")
	got, err := mock.Call(t.Context(), newSet(t, mock.Config{}).Category("research"), search,
		func(context.Context) (int, error) { return 3, own })
	require.Equal(t, 3, got)
	require.Equal(t, own, err)
}

func TestInvalidSettingsAreNamed(t *testing.T) {
	for want, cfg := range map[string]mock.Config{
		`Config.Master is "mock": use API, MOCK or PER_TOGGLE`: {Master: "mock"},
		`Config.Toggles["a"] is "PER_TOGGLE": use API or MOCK`: {
			Toggles: map[string]mock.Mode{"a": mock.PerToggle}},
		`Config.Toggles has the category "a/b"`:                    {Toggles: map[string]mock.Mode{"a/b": mock.Mock}},
		`Config.DelayMin is -1ns`:                                  {DelayMin: -1},
		`Config.DelayMin is 2s and DelayMax is 1s: use 0 <= Delay`: {DelayMin: 2 * time.Second, DelayMax: time.Second},
		`Config.Files has a nil entry`:                             {Files: []fs.FS{nil}},
	} {
		set, err := mock.New(cfg)
		require.Nil(t, set)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func TestInvalidCallsAreNamed(t *testing.T) {
	set := newSet(t, mock.Config{Master: mock.Mock})
	for want, c := range map[string]struct {
		category string
		key      mock.Key
	}{
		`the category is called "../x"`: {"../x", search},
		`the category is called ""`:     {"", search},
		`Key.Name is "a/b"`:             {"research", mock.Key{Name: "a/b"}},
		`Key.Name is "..": use letters`: {"research", mock.Key{Name: ".."}},
		`Key.Name is "": use letters`:   {"research", mock.Key{}},
		`Key.Variant is "a.b"`:          {"research", mock.Key{Name: "search", Variant: "a.b"}},
	} {
		_, err := ask[string](t, set.Category(c.category), c.key)
		require.ErrorContains(t, err, want)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, err := mock.Call[int](t.Context(), nil, search, nil)
	require.ErrorContains(t, err, "no outside function")

	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `1`})
	_, err = ask[int](t, c, mock.Key{Name: "search", Values: map[string]any{"f": func() {}}})
	require.ErrorContains(t, err, "Key.Values of search can't be encoded")
}

func TestADelayIsWithinItsRangeAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mocked(t, mock.Config{DelayMin: 500 * time.Millisecond, DelayMax: 2 * time.Second},
			map[string]string{"research/search.default.json": `1`})
		seen := map[time.Duration]bool{}
		for range 50 {
			begin := time.Now()
			require.Equal(t, 1, answered[int](t, c, search))
			took := time.Since(begin)
			require.GreaterOrEqual(t, took, 500*time.Millisecond)
			require.LessOrEqual(t, took, 2*time.Second)
			seen[took] = true
		}
		require.Greater(t, len(seen), 40)

		why := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
		begin := time.Now()
		_, err := mock.Call(ctx, c, search, func(context.Context) (int, error) { return 0, nil })
		require.Equal(t, why, err)
		require.Equal(t, 100*time.Millisecond, time.Since(begin))
	})
}

func TestADelayWithoutAMaximumIsAlwaysTheMinimum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := mocked(t, mock.Config{DelayMin: time.Second}, map[string]string{"research/search.default.json": `1`})
		begin := time.Now()
		answered[int](t, c, search)
		require.Equal(t, time.Second, time.Since(begin))
	})
}

func TestACanceledCallIsNotAnswered(t *testing.T) {
	c := mocked(t, mock.Config{}, map[string]string{"research/search.default.json": `1`})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := mock.Call(ctx, c, search, func(context.Context) (int, error) { return 0, nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestAMockedCallIsLogged(t *testing.T) {
	var out bytes.Buffer
	c := mocked(t, mock.Config{Logger: slog.New(slog.NewTextHandler(&out, nil))},
		map[string]string{"research/search.blog.json": `["", "{{topc}} {{topic}} {{traceId}}"]`})
	got := answered[[]string](t, c,
		mock.Key{Name: "search", Variant: "showcase", Values: map[string]any{"topic": "a private topic"}})[1]
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], "level=INFO")
	require.Contains(t, lines[0],
		"file=research/search.blog.json variant=showcase traceId="+got[strings.LastIndex(got, " ")+1:])
	require.Contains(t, lines[1], "level=WARN")
	require.Contains(t, lines[1], "names=[topc]")
	require.NotContains(t, out.String(), "private")
}
