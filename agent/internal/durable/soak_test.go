package durable

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/sqlite"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

var (
	soakFor  = flag.Duration("soak", 0, "how long chats and a worker go on, of virtual time; 0: not at all")
	soakReal = flag.Duration("soak-real", 0, "how long they go on besides, of real time")
	chats    = flag.Int("chats", 3, "how many chats there are")
	chart    = flag.String("chart", "", "write a chart of what the soak test measures to this file, as SVG")
)

// TestAProcessStaysAsSmallAsItWas has people chat and a worker work for a long time, and measures
// memory, goroutines and the file of the journal.
func TestAProcessStaysAsSmallAsItWas(t *testing.T) {
	if *soakFor <= 0 && *soakReal <= 0 {
		t.Skip("-soak or -soak-real says how long it takes")
	}
	var all []*series
	if *soakFor > 0 {
		dir := t.TempDir() // outside of the bubble
		synctest.Test(t, func(t *testing.T) { all = append(all, soak(t, dir, *soakFor, "virtual")) })
	}
	if *soakReal > 0 {
		all = append(all, soak(t, t.TempDir(), *soakReal, "real"))
	}
	for _, s := range all {
		s.check(t)
	}
	if *chart != "" {
		require.NoError(t, os.WriteFile(*chart, drawSoak(all, *chats), 0o644))
	}
}

// A sample is what is measured at a time.
type sample struct {
	at         time.Duration
	heap       float64 // MB, after a collection
	resident   float64 // MB; 0 where it isn't known
	goroutines float64
	file       float64 // MB of the journal, with its write-ahead log
}

// A series is what a soak test has measured.
type series struct {
	kind    string // of time
	length  time.Duration
	samples []sample
	counts  soakCounts
}

// soakCounts are what was done meanwhile.
type soakCounts struct{ answers, jobs, told, deleted atomic.Int64 }

func (s *series) String() string {
	c, last := &s.counts, s.samples[len(s.samples)-1]
	done := fmt.Sprintf("%d answers to chats, %d jobs (%d ends told), %d sessions deleted", c.answers.Load(),
		c.jobs.Load(), c.told.Load(), c.deleted.Load())
	return fmt.Sprintf("after %v of %v of %s time: %s; %.1f MB of heap, %.1f MB resident, %.0f goroutines, a file of %.1f MB",
		last.at.Round(time.Second), s.length, s.kind, done, last.heap, last.resident, last.goroutines, last.file)
}

// A measure is one of the figures of a sample, and how much more than at first it may be.
type measure struct {
	name  string
	of    func(sample) float64
	slack float64
}

var measures = []measure{
	{"heap after collections, MB", func(s sample) float64 { return s.heap }, 2},
	{"resident memory, MB", func(s sample) float64 { return s.resident }, 16},
	{"goroutines", func(s sample) float64 { return s.goroutines }, 40},
	{"journal's file, MB", func(s sample) float64 { return s.file }, 1},
}

// check compares the last third of the time after the first tenth with the first third of it.
func (s *series) check(t *testing.T) {
	rest := s.samples[len(s.samples)/10:]
	third := len(rest) / 3
	for _, m := range measures {
		first, last := mean(rest[:third], m.of), mean(rest[len(rest)-third:], m.of)
		if last > first*1.1+m.slack {
			t.Errorf("%s, in %s time: it was %.1f, and is %.1f", m.name, s.kind, first, last)
		}
	}
}

func mean(list []sample, of func(sample) float64) (sum float64) {
	for _, s := range list {
		sum += of(s)
	}
	return sum / float64(len(list))
}

// A soaked process is one with a hub for chats and a worker for jobs.
type soaked struct {
	t      *testing.T
	agent  *agent.Agent
	hub    *live.Hub
	worker *work.Worker
	path   string
	gap    time.Duration // from an answer to the next message, on average
	series *series

	mu   sync.Mutex // guards what follows
	over []string   // sessions of jobs whose ends were told
}

// turns is how many messages a chat has before it is deleted and another one begins.
const turns = 4

// soak measures a process for so long.
func soak(t *testing.T, dir string, length time.Duration, kind string) *series {
	s := &soaked{t: t, path: filepath.Join(dir, "runs.db"), series: &series{kind: kind, length: length},
		gap: length / 60}
	store, err := sqlite.Open(s.path, sqlite.Config{Durability: sqlite.Process})
	require.NoError(t, err)
	defer store.Close()
	s.agent, err = agent.New(agent.Config{Name: "desk", Provider: s.talker(), Journal: store, Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(context.Context, Order) (string, error) {
			return "It is there.", nil
		})}})
	require.NoError(t, err)
	s.hub, err = live.New(live.Config{Agent: s.agent})
	require.NoError(t, err)
	s.worker, err = work.New(work.Config{Agents: []*agent.Agent{s.agent}, Leg: agent.Leg{Steps: 1}, Ended: s.told,
		PerLabel: map[string]int{"tenant": 4},
		Rules:    []work.Rule{{Status: agent.Failed, After: max(time.Second, s.gap), Do: work.Warn}}})
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var work sync.WaitGroup
	work.Go(func() {
		if err := s.worker.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	work.Go(func() { s.work(ctx) })
	for i := range *chats {
		work.Go(func() { s.chat(ctx, i) })
	}
	s.measure(ctx, length)
	work.Wait()
	require.NoError(t, s.hub.Close())
	require.NotZero(t, s.series.counts.told.Load())
	require.NotZero(t, s.series.counts.deleted.Load())
	return s.series
}

// talker is a model that takes a second or two, or less if people write often. It calls a tool now
// and then, and fails now and then.
func (s *soaked) talker() provider.Provider {
	longest := min(2*time.Second, s.gap/4)
	answer := slices.Repeat([]string{"It has been the case for a long time. "}, 30)
	return providertest.Func(func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
		select {
		case <-time.After(longest/2 + rand.N(longest/2)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		last := &req.Messages[len(req.Messages)-1]
		switch {
		case rand.IntN(50) == 0:
			return nil, fault.New(fault.Transient, "the model is busy")
		case last.Role == provider.RoleUser && rand.IntN(2) == 0:
			return providertest.Call("look", Order{rand.IntN(1000)}).Response(), nil
		}
		return providertest.SayChunks(answer...).Response(), nil
	})
}

// await waits; it returns false when the time is over.
func await(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// chat is a person, who begins another chat when one is over, and deletes that.
func (s *soaked) chat(ctx context.Context, i int) {
	messages := 1 + rand.IntN(turns) // not all end at once
	for n := 0; await(ctx, rand.N(2*s.gap)); n++ {
		session := fmt.Sprintf("chat-%d-%d", i, n)
		s.talk(ctx, session, messages, i%10 == 0)
		if ctx.Err() == nil {
			s.remove(ctx, session)
		}
		messages = turns
	}
}

// talk sends messages, and waits for the answer to each. A page reads meanwhile, and if it stays,
// between the messages, too.
func (s *soaked) talk(ctx context.Context, session string, messages int, stays bool) {
	var pages sync.WaitGroup
	defer pages.Wait()
	talking, leave := context.WithCancel(ctx)
	defer leave()
	for n := range messages {
		if n > 0 && !await(ctx, rand.N(2*s.gap)) {
			return
		}
		run, err := s.hub.Start(ctx, agent.Input{Session: session, Prompt: "How is it today, and since when?"})
		if err != nil {
			if ctx.Err() == nil {
				s.t.Error(err)
			}
			return
		}
		if stays && n > 0 {
			<-run.Done
		} else {
			page, close := context.WithCancel(talking)
			pages.Go(func() { s.read(page, run) })
			if <-run.Done; !stays {
				close()
			}
			defer close()
		}
		s.series.counts.answers.Add(1)
	}
}

// read reads a session until ctx ends.
func (s *soaked) read(ctx context.Context, run live.Started) {
	for _, err := range s.hub.Watch(ctx, run.Session, run.After) {
		if err != nil && ctx.Err() == nil {
			s.t.Error(err)
		}
	}
}

// work queues jobs, and deletes what is over.
func (s *soaked) work(ctx context.Context) {
	for n := 0; await(ctx, rand.N(min(s.gap, 30*time.Second))); n++ {
		in := agent.Input{Session: fmt.Sprint("job-", n), Prompt: "Do it.",
			Labels: map[string]string{"tenant": fmt.Sprint(n % 3)}}
		if err := s.agent.Enqueue(ctx, in, agent.QueueOptions{Attempts: 3}); err != nil {
			if ctx.Err() == nil {
				s.t.Error(err)
			}
			return
		}
		s.series.counts.jobs.Add(1)
		s.mu.Lock()
		over := s.over
		s.over = nil
		s.mu.Unlock()
		for _, session := range over {
			s.remove(ctx, session)
		}
	}
}

// told receives the end of a job, and fails now and then.
func (s *soaked) told(_ context.Context, r *agent.Result) error {
	if rand.IntN(20) == 0 {
		return errors.New("the receiver is down")
	}
	s.series.counts.told.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = append(s.over, r.Session)
	return nil
}

// remove deletes a session when it is released.
func (s *soaked) remove(ctx context.Context, session string) {
	err := s.agent.Session(session).Delete(ctx)
	switch {
	case err == nil:
		s.series.counts.deleted.Add(1)
	case ctx.Err() == nil:
		s.t.Errorf("%s: %v", session, err)
	}
}

// measure takes 100 samples, or 30 in a short time, each after a collection.
func (s *soaked) measure(ctx context.Context, length time.Duration) {
	began, most := time.Now(), 100
	if length < 10*time.Minute {
		most = 30
	}
	for n := 1; n <= most; n++ {
		if !await(ctx, time.Until(began.Add(length*time.Duration(n)/time.Duration(most+1)))) {
			return
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		one := sample{at: time.Since(began), heap: float64(m.HeapAlloc) / 1e6, resident: resident(),
			goroutines: float64(runtime.NumGoroutine())}
		for _, suffix := range []string{"", "-wal"} {
			if info, err := os.Stat(s.path + suffix); err == nil {
				one.file += float64(info.Size()) / 1e6
			}
		}
		if s.series.samples = append(s.series.samples, one); n*10%most == 0 {
			s.t.Log(s.series)
		}
	}
}

// resident returns the resident memory in MB, where the system says so in /proc.
func resident() float64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	_, _ = fmt.Sscan(string(data), &size, &pages)
	return float64(pages*os.Getpagesize()) / 1e6
}
