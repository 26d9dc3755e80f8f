package team

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

var schedules = flag.Int("schedules", 2, "how many random schedules TestAnyScheduleTellsEachEndOnce tries")

// TestAnyScheduleTellsEachEndOnce does things at random: it starts work, lets it end, decides,
// stops conversations and work, sends messages, deletes conversations, and has the process end. In
// the end each piece of work of the conversations that are left was told once, and no work of the
// others is left.
func TestAnyScheduleTellsEachEndOnce(t *testing.T) {
	for n := range *schedules {
		seed := uint64(n)
		if *schedules > 2 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &schedule{t: t, rnd: rand.New(rand.NewPCG(seed, 0)), store: &journal.MapStore{}}
				s.begin()
				for range 40 {
					s.act()
				}
				s.settle()
			})
		})
	}
}

type schedule struct {
	t     *testing.T
	rnd   *rand.Rand
	store journal.Store
	f     *fixture
	log   []string
}

// begin begins a process.
func (s *schedule) begin() {
	s.f = newFixture(s.t, options{lead: agent.Config{Journal: s.store, Lease: 5 * time.Second},
		librarian: agent.Config{Lease: 5 * time.Second}, team: Config{Parallel: 2, Rounds: -1}}).run()
}

// die ends the process as if it had died: what it has begun is cut off.
func (s *schedule) die() {
	s.f.stop()
	close(s.f.gate) // so that Close needn't wait for that
	_, _ = s.f.lead.Close(), s.f.librarian.Close()
}

func (s *schedule) session() string { return fmt.Sprint("s-", s.rnd.IntN(3)) }

func (s *schedule) work() (Work, bool) {
	list, err := s.f.team.list(s.t.Context(), open)
	require.NoError(s.t, err)
	if len(list) == 0 {
		return Work{}, false
	}
	return list[s.rnd.IntN(len(list))], true
}

func (s *schedule) act() {
	ctx, name := s.t.Context(), s.session()
	lead := s.f.lead.Agent().Session(name)
	switch what := s.rnd.IntN(12); what {
	case 0, 1, 2:
		words := []string{"books", "borrow-1", "wait-1", "maps"}
		s.input(name, "start "+strings.Join(words[s.rnd.IntN(3):], " "))
	case 3:
		s.input(name, []string{"hello", "wait"}[s.rnd.IntN(2)])
	case 4, 5:
		if list, err := lead.Pending(ctx); err == nil && len(list) > 0 {
			d := []agent.Decision{agent.Approve(list[0].ID), agent.Reject(list[0].ID, "no")}[s.rnd.IntN(2)]
			_, err := s.f.lead.Decide(ctx, name, d)
			s.note("decide %s: %v", name, err)
		}
	case 6:
		s.note("cancel %s: %v", name, s.f.lead.Cancel(ctx, name))
	case 7:
		if w, ok := s.work(); ok {
			s.note("stop %s: %v", w.ID, s.f.librarian.Cancel(ctx, w.Session))
		}
	case 8:
		if s.rnd.IntN(3) == 0 {
			s.note("delete %s: %v", name, lead.Delete(ctx))
		}
	case 9, 10:
		s.f.letGo()
	case 11:
		if s.rnd.IntN(2) == 0 {
			s.note("die")
			s.die()
			s.begin()
		}
	}
	if s.rnd.IntN(2) == 0 {
		time.Sleep(time.Duration(s.rnd.IntN(3000)) * time.Millisecond)
	}
	if s.rnd.IntN(2) == 0 {
		synctest.Wait()
	}
}

func (s *schedule) input(name, prompt string) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	_, err := s.f.lead.Start(ctx, agent.Input{Session: name, Prompt: prompt, Supersede: s.rnd.IntN(2) == 0})
	s.note("%s: %s: %v", name, prompt, err)
}

func (s *schedule) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

// settle decides on all questions and lets all work end, and checks what came of it.
func (s *schedule) settle() {
	defer s.die()
	for range 12 {
		s.f.letGo()
		for n := range 3 {
			name := fmt.Sprint("s-", n)
			if list, err := s.f.lead.Agent().Session(name).Pending(s.t.Context()); err == nil && len(list) > 0 {
				_, _ = s.f.lead.Decide(s.t.Context(), name, agent.Approve(list[0].ID))
			} else if h, err := s.store.Head(s.t.Context(), name); err == nil && h.Status == string(agent.Stopped) {
				s.input(name, "hello")
			}
		}
		passes()
	}
	reports, shown := map[string]int{}, map[string]int{}
	for n := range 3 {
		for rec, err := range s.store.Read(s.t.Context(), fmt.Sprint("s-", n), 0) {
			require.NoError(s.t, err)
			f, err := machine.Decode(fmt.Sprint("s-", n), rec)
			require.NoError(s.t, err)
			if id, ok := reportOf(f); ok {
				reports[sessionOf(fmt.Sprint("s-", n), id)]++
			}
			if told, ok := f.(*machine.Emitted); ok {
				shown[told.Key]++
				require.Equal(s.t, 1, shown[told.Key], "%s: %v", told.Key, s.log)
			}
		}
	}
	pieces := 0
	for h, err := range s.store.Heads(s.t.Context(), journal.Filter{}) {
		require.NoError(s.t, err)
		if h.Parent == "" {
			continue
		}
		pieces++
		w := new(Team).workOf(h)
		require.True(s.t, w.ended(), "%s: %v", h.Session, s.log)
		require.Equal(s.t, reported, h.Labels[labelWork], "%s: %v", h.Session, s.log)
		require.Equal(s.t, 1, reports[h.Session], "%s: %v", h.Session, s.log)
		_, err := s.store.Head(s.t.Context(), h.Parent)
		require.NoError(s.t, err, "its conversation is deleted: %v", s.log)
	}
	require.Len(s.t, reports, pieces, "%v", s.log)
}

// reportOf returns the id of the work that a fact of a conversation reports.
func reportOf(f agent.Fact) (id string, ok bool) {
	var text string
	switch f := f.(type) {
	case *agent.RunStarted:
		text = f.Message.Text()
	case *machine.Steered:
		text = f.Message.Text()
	}
	text, ok = strings.CutPrefix(text, "The program says, not a person: the work ")
	id, _, _ = strings.Cut(text, " ")
	return id, ok
}
