package history_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// Package machine has tests of Copy with random sessions.

func TestWhatIsOpenIsNotInACopyAndItsRunIsStopped(t *testing.T) {
	eachStore(t, func(t *testing.T, inMemory bool) {
		s, _ := sessionsOf(&journal.MapStore{}, inMemory)
		l := hold(t, s, "s")
		defer l.Close()
		require.NoError(t, l.Append(nil, append([]machine.Fact{started("s", "")}, acting("s")...)...))
		require.NoError(t, history.Fork(t.Context(), s, "s", "first", 0))
		require.Equal(t, []string{"run_started", "run_ended"}, kinds(t, s, "first"))
		require.NoError(t, l.Append(nil, finished("s")))
		require.NoError(t, history.Fork(t.Context(), s, "s", "second", 0))
		require.Equal(t,
			[]string{"run_started", "step_started", "replied", "tool_started", "tool_finished", "run_ended"},
			kinds(t, s, "second"))
		require.NoError(t, history.Fork(t.Context(), s, "s", "third", 4))
		require.Equal(t, kinds(t, s, "first"), kinds(t, s, "third"))
		require.Len(t, kinds(t, s, "s"), 5, "the original is as before")

		m, err := s.Load(t.Context(), "second")
		require.NoError(t, err)
		require.Equal(t, machine.Stopped, m.State().Run.Status)
		require.Equal(t, machine.CodeForked, m.State().Run.Code)
		require.Empty(t, m.State().RunOf("k"), "the key belongs to the original")
		facts, err := s.Facts(t.Context(), "second", 0, 1)
		require.NoError(t, err)
		require.Equal(t, "s", facts[0].(*machine.RunStarted).From)
	})
}

func TestStandingApprovalsAreRevokedInACopy(t *testing.T) {
	s, _ := sessionsInMemory()
	l := hold(t, s, "s")
	defer l.Close()
	call, all := callOf("s"), acting("s")
	asks := func(id, scope string) []machine.Fact {
		return []machine.Fact{
			&machine.Suspended{Meta: machine.Meta{Call: call.ID}, Pause: machine.Pause{ID: id, Call: *call,
				Kind: machine.PauseApproval, Always: true, Scope: scope, Fingerprint: "f"}},
			&machine.Decided{Meta: machine.Meta{Call: call.ID},
				Decision: machine.Decision{ID: id, Kind: machine.AlwaysAllow}},
		}
	}
	require.NoError(t, l.Append(nil, slices.Concat([]machine.Fact{started("s", "")}, all[:2], asks("p-1", ""),
		asks("p-2", "a file"), []machine.Fact{all[2], finished("s")})...))
	require.Len(t, l.State().Rules, 2)
	require.NoError(t, history.Fork(t.Context(), s, "s", "copy", 0))
	m, err := s.Load(t.Context(), "copy")
	require.NoError(t, err)
	require.Empty(t, m.State().Rules)
	require.Len(t, l.State().Rules, 2)
}

func TestACopyThatCantBeMadeSaysWhy(t *testing.T) {
	s, _ := sessionsInMemory()
	add(t, s, "s", "", true)
	add(t, s, "other", "", true)
	l := hold(t, s, "held")
	for to, code := range map[string]machine.SessionCode{
		"":                          machine.ErrCannotFork,
		"s":                         machine.ErrCannotFork,
		"other":                     machine.ErrCannotFork,
		machine.ChildPrefix + "x":   machine.ErrCannotFork,
		machine.UnnamedPrefix + "x": machine.ErrCannotFork,
		"a\nb":                      machine.ErrCannotFork,
		"\xff":                      machine.ErrCannotFork,
		strings.Repeat("x", 513):    machine.ErrCannotFork,
		strings.Repeat("x", 512):    "",
		"held":                      machine.ErrBusy,
	} {
		err := history.Fork(t.Context(), s, "s", to, 0)
		if code == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, code, "%q", to)
	}
	l.Close()
	require.ErrorIs(t, history.Fork(t.Context(), s, "unknown", "copy", 0), machine.ErrNothingOpen)
	require.Empty(t, kinds(t, s, "held"))
	require.Len(t, kinds(t, s, "other"), 4)
}

// A refusing store refuses the appends to a session.
type refusing struct {
	journal.Store
	session string
}

func (s *refusing) Append(ctx context.Context, a journal.Append) error {
	if a.Session == s.session {
		return journal.Unusable("no")
	}
	return s.Store.Append(ctx, a)
}

func TestACopyIsMadeWholeOrNotAtAll(t *testing.T) {
	store := &refusing{Store: &journal.MapStore{}, session: "copy"}
	s, _ := sessionsOf(store, false)
	add(t, s, "s", "", true)
	require.ErrorIs(t, history.Fork(t.Context(), s, "s", "copy", 0), machine.ErrJournal)
	require.Empty(t, kinds(t, s, "copy"))
	store.session = ""
	require.NoError(t, history.Fork(t.Context(), s, "s", "copy", 0))
	require.Len(t, kinds(t, s, "copy"), 4)
}

func TestWhatIsImportedIsExportedAsItWas(t *testing.T) {
	eachStore(t, func(t *testing.T, inMemory bool) {
		s, p := sessionsOf(&journal.MapStore{}, inMemory)
		add(t, s, "s", "", true)
		var file, again bytes.Buffer
		require.NoError(t, history.Export(t.Context(), s, "s", &file))
		require.NoError(t, s.Remove(t.Context(), "s"))
		require.NoError(t, history.Import(t.Context(), s, "s", bytes.NewReader(file.Bytes())))
		require.NoError(t, history.Export(t.Context(), s, "s", &again))
		require.Contains(t, file.String(), "Done <b>.", "JSON without escapes for HTML")
		require.Equal(t, file.String(), strings.Replace(again.String(), `,"from":"s"`, "", 1))
		m, err := s.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, "r-s", m.State().RunOf("k"), "it is the same session")

		l := hold(t, s, "s") // a pruned session
		_, err = p.Prune(t.Context(), l, nil, func() error { return nil })
		l.Close()
		require.NoError(t, err)
		file.Reset()
		require.NoError(t, history.Export(t.Context(), s, "s", &file))
		require.NoError(t, history.Import(t.Context(), s, "t", &file))
		require.Equal(t, []string{"snapshot"}, kinds(t, s, "t"))
	})
}

func TestALineThatCantBeTheNextFactIsRefused(t *testing.T) {
	s, _ := sessionsInMemory()
	add(t, s, "s", "", true)
	var file bytes.Buffer
	require.NoError(t, history.Export(t.Context(), s, "s", &file))
	lines := strings.SplitAfter(strings.TrimSpace(file.String()), "\n")
	for problem, text := range map[string]string{
		"names no session":     strings.ReplaceAll(lines[0], `"session":"s"`, `"session":""`),
		"those before it of":   lines[0] + strings.ReplaceAll(lines[1], `"session":"s"`, `"session":"t"`),
		"isn't the first":      lines[1],
		"number should be 2":   lines[0] + lines[2],
		"number should be 3":   lines[0] + lines[1] + lines[0],
		"doesn't fit":          lines[0] + strings.Replace(lines[2], `"seq":3`, `"seq":2`, 1),
		"kind is unknown":      strings.Replace(lines[0], `"kind":"run_started"`, `"kind":"thought"`, 1),
		"fact 1 (run_started)": strings.Replace(lines[0], `"v":2`, `"v":3`, 1),
	} {
		err := history.Import(t.Context(), s, "copy", strings.NewReader(text))
		require.ErrorAs(t, err, new(*machine.FactError), problem)
		require.ErrorContains(t, err, problem)
	}
	require.ErrorIs(t, history.Import(t.Context(), s, "copy", strings.NewReader("")), machine.ErrCannotFork)
	require.ErrorContains(t, history.Import(t.Context(), s, "copy", strings.NewReader(lines[0]+"{")), "line 2")
	require.Empty(t, kinds(t, s, "copy"))
	require.NoError(t, history.Import(t.Context(), s, "copy", &file))
}

// A full writer has no room.
type full struct{ err error }

func (w *full) Write([]byte) (int, error) { return 0, w.err }

func TestExportSaysWhyItCantWrite(t *testing.T) {
	s, _ := sessionsInMemory()
	add(t, s, "s", "", true)
	w := &full{errors.New("no room")}
	require.ErrorIs(t, history.Export(t.Context(), s, "s", w), w.err)
	require.ErrorIs(t, history.Export(t.Context(), s, "unknown", w), machine.ErrNothingOpen)
	require.Equal(t, fault.Invalid, fault.Of(history.Export(t.Context(), s, "s", nil)))
	require.Equal(t, fault.Invalid, fault.Of(history.Import(t.Context(), s, "t", nil)))
}
