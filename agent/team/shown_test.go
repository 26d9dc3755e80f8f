package team

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// notices returns what people were shown of work in a conversation.
func (f *fixture) notices(session string) (list []string) {
	f.t.Helper()
	facts, err := f.lead.Agent().Session(session).Facts(f.t.Context())
	require.NoError(f.t, err)
	for _, fact := range facts {
		if told, ok := fact.(*machine.Emitted); ok {
			require.Equal(f.t, agent.NoticeKind, told.Kind)
			var text string
			require.NoError(f.t, json.Unmarshal(told.Value, &text))
			list = append(list, text)
		}
	}
	return list
}

// questions returns how often each question was asked in a conversation, by the keys of the calls.
func (f *fixture) questions(session string) map[string]int {
	f.t.Helper()
	facts, err := f.lead.Agent().Session(session).Facts(f.t.Context())
	require.NoError(f.t, err)
	asked := make(map[string]int)
	for _, fact := range facts {
		if begun, ok := fact.(*agent.RunStarted); ok && begun.CallKey != "" {
			asked[begun.CallKey]++
		}
	}
	return asked
}

func TestAQuestionHoldsUpNoReportOfOthers(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, f *fixture) {
		f.say("s", "start borrow-1 wait-1 wait-2")
		passes()
		pending := f.asked("s")
		require.Len(t, pending, 1)
		require.Empty(t, f.notices("s"), "nothing has ended")

		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		seen := make(chan string, 10)
		go func() {
			for ev, err := range f.lead.Watch(ctx, "s", 0) {
				if told, ok := ev.(*machine.Emitted); ok && err == nil {
					seen <- string(told.Value)
				}
			}
		}()
		f.letGo()
		passes()
		passes()
		require.ElementsMatch(t, []string{"librarian is completed: wait-1\nFound wait-1.",
			"librarian is completed: wait-2\nFound wait-2."}, f.notices("s"))
		require.Len(t, seen, 2, "a reader is shown them at once")
		require.Equal(t, pending, f.asked("s"), "the question stays as it is")
		require.Empty(t, f.reports("s"), "the model reads them when the question is decided")

		_, err := f.lead.Start(t.Context(), agent.Input{Session: "s", Prompt: "What is with wait-1?"})
		require.ErrorContains(t, err, "decide first, or start another run with Supersede")
		f.decide("s", agent.Approve(pending[0].ID))
		require.Len(t, f.reports("s"), 3)
		require.Len(t, f.borrowed, 1)
		require.Len(t, f.notices("s"), 2)
		for _, n := range f.questions("s") {
			require.Equal(t, 1, n)
		}
		require.Len(t, f.told("s"), 3)
	})
}

// Several processes show an end once.
func TestAnEndIsShownOnceByTwoProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options{lead: agent.Config{Journal: &moments{Store: &journal.MapStore{}}}}
		one, two := newFixture(t, o).run(), newFixture(t, o).run()
		defer one.close()
		defer two.close()
		one.say("s", "start borrow-1 wait-1 wait-2")
		passes()
		one.letGo()
		two.letGo()
		passes()
		require.Len(t, one.notices("s"), 2)
		require.Len(t, one.asked("s"), 1)
	})
}

// A moments store calls around once, when an end of work is shown, and may die with its process.
type moments struct {
	journal.Store
	dead   atomic.Bool
	around func(show func())
}

var errDead = errors.New("the process is dead")

func (s *moments) Append(ctx context.Context, a journal.Append) (err error) {
	if s.dead.Load() {
		return errDead
	}
	around := s.around
	if len(a.Records) != 1 || a.Records[0].Kind != "emitted" || around == nil {
		return s.Store.Append(ctx, a)
	}
	s.around = nil
	err = errDead
	around(func() {
		if !s.dead.Load() {
			err = s.Store.Append(ctx, a)
		}
	})
	return err
}

func (s *moments) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	if s.dead.Load() {
		return journal.Lease{}, errDead
	}
	return s.Store.Lease(ctx, session, owner, ttl)
}

func (s *moments) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	if s.dead.Load() {
		return l, errDead
	}
	return s.Store.Renew(ctx, l, ttl)
}

func (s *moments) Release(ctx context.Context, l journal.Lease) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Release(ctx, l)
}

func (s *moments) Post(ctx context.Context, session string, it journal.Item) error {
	if s.dead.Load() {
		return errDead
	}
	return s.Store.Post(ctx, session, it)
}

func (s *moments) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	if s.dead.Load() {
		return func(yield func(journal.Head, error) bool) { yield(journal.Head{}, errDead) }
	}
	return s.Store.Heads(ctx, f)
}

// TestADecisionAReportAndAMessageAtOneMomentAreEachTakenOnce: an end of work is shown, a decision
// and a message come, in each order, by either door, while the session is held and beside that, and
// the process dies before, between, after them, or not at all. A sender whose message wasn't taken,
// or whose process has died, sends it again. A message that supersedes the question never drops a
// decision that was accepted.
func TestADecisionAReportAndAMessageAtOneMomentAreEachTakenOnce(t *testing.T) {
	const (
		show = iota
		decide
		say
		die
	)
	for _, order := range [][]int{
		{show, decide, say}, {show, say, decide}, {decide, show, say}, {decide, say, show}, {say, show, decide},
		{say, decide, show}, {die, show, decide, say}, {show, die}, {show, decide, die}, {show, decide, say, die},
		{show, say, die, decide}, {decide, die, show}, {decide, show, die}, {decide, say, die},
		{say, decide, show, die},
	} {
		for _, hub := range []bool{true, false} {
			for _, beside := range []bool{true, false} {
				for _, supersede := range []bool{true, false} {
					t.Run(fmt.Sprint(order, hub, beside, supersede), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { moment(t, order, hub, beside, supersede) })
					})
				}
			}
		}
	}
}

func moment(t *testing.T, order []int, hub, beside, supersede bool) {
	// each hub recovers what is in its own journal alone
	store, own := &moments{Store: &journal.MapStore{}}, &moments{Store: &journal.MapStore{}}
	begin := func() *fixture {
		o := options{lead: agent.Config{Journal: store, Lease: 5 * time.Second}, own: own,
			librarian: agent.Config{Lease: 5 * time.Second}}
		return newFixture(t, o).run()
	}
	f := begin()
	f.say("s", "start borrow-1 wait-1")
	passes()
	pause := f.asked("s")[0].ID
	var all sync.WaitGroup
	act := func(do func()) {
		if !beside {
			do()
			return
		}
		all.Go(do)
		synctest.Wait()
	}
	decide := func() (err error) {
		if hub {
			_, err = f.lead.Decide(context.Background(), "s", agent.Approve(pause))
		} else {
			err = f.lead.Agent().Session("s").Decide(context.Background(), agent.Approve(pause))
		}
		return err
	}
	say := func() error {
		_, err := f.lead.Send(context.Background(), agent.Input{Session: "s", Prompt: "hello", Key: "hello",
			Supersede: supersede})
		return err
	}
	decided, came := errDead, make(chan struct{})
	store.around = func(show func()) {
		for _, what := range order {
			[]func(){show, func() { act(func() { decided = decide() }) }, func() { act(func() { _ = say() }) },
				func() { store.dead.Store(true); own.dead.Store(true) }}[what]()
		}
		close(came)
	}
	f.letGo()
	<-came
	all.Wait()
	passes()
	borrowed := 0
	if store.dead.Load() {
		borrowed = len(f.borrowed)
		f.stop()
		close(f.gate)
		_, _ = f.lead.Close(), f.librarian.Close()
		store, own = &moments{Store: store.Store}, &moments{Store: own.Store}
		f = begin()
		passes()
	}
	defer f.close()
	if decided != nil { // it wasn't taken, so the question is still there, or again
		pause = f.asked("s")[0].ID
		require.NoError(t, decide())
	}
	passes()
	passes()
	if err := say(); err != nil { // it has been read
		require.ErrorIs(t, err, agent.ErrDuplicate)
	}
	passes()
	passes()

	require.Equal(t, 1, borrowed+len(f.borrowed))
	require.Len(t, f.reports("s"), 2)
	require.LessOrEqual(t, len(f.notices("s")), 1)
	require.Len(t, f.told("s"), 2)
	for _, n := range f.questions("s") {
		require.True(t, n == 1 || supersede && decided != nil && n == 2, "no question is asked twice")
	}
	messages, err := f.lead.Agent().Session("s").Messages(t.Context())
	require.NoError(t, err)
	said := 0
	for i := range messages {
		if messages[i].Role == provider.RoleUser && messages[i].Text() == "hello" {
			said++
		}
	}
	require.Equal(t, 1, said)
	require.Empty(t, f.asked("s"))
}
