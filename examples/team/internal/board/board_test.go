package board

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// A reader reads the board of a conversation as a page does.
type reader struct {
	t      *testing.T
	story  *story
	server *httptest.Server
	lines  *bufio.Scanner
	parts  map[string]json.RawMessage
	bytes  int // of all messages
}

// open sends a message in a new conversation, and reads its board once it asks.
func (s *story) open(t *testing.T, message string) *reader {
	t.Helper()
	server := httptest.NewServer(s.page)
	t.Cleanup(server.Close)
	_, err := s.hub.Send(t.Context(), agent.Input{Session: "main", Prompt: message, User: "you", Owner: "you"})
	require.NoError(t, err)
	return s.read(t, server)
}

func (s *story) read(t *testing.T, server *httptest.Server) *reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/board?session=main", nil)
	require.NoError(t, err)
	res, err := server.Client().Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(t, http.StatusOK, res.StatusCode)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &reader{t: t, story: s, server: server, lines: lines, parts: map[string]json.RawMessage{}}
}

// until reads until a condition holds.
func (r *reader) until(holds func() bool) {
	r.t.Helper()
	for !holds() {
		require.True(r.t, r.lines.Scan(), "the stream has ended; the board: %s", r.all())
		data, ok := strings.CutPrefix(r.lines.Text(), "data: ")
		if !ok {
			continue
		}
		r.bytes += len(data)
		require.NoError(r.t, json.Unmarshal([]byte(data), &r.parts))
	}
}

func (r *reader) all() string {
	text, _ := json.Marshal(r.parts)
	return string(text)
}

func part[T any](r *reader, name string) (v T) {
	r.t.Helper()
	if raw := r.parts[name]; raw != nil {
		require.NoError(r.t, json.Unmarshal(raw, &v))
	}
	return v
}

// A shownPlan is the part of a plan that these tests read.
type shownPlan struct {
	Version     int
	Status, Run string
	Plan        plan.Plan
	Before      *plan.Plan
}

// A shownStep is the part of a step that these tests read.
type shownStep struct {
	State struct {
		Status plan.NodeStatus
		Round  int
		Undone bool
	}
	Said  string
	Files []FileChange
	Runs  []CheckRun
}

func (r *reader) plan() shownPlan          { return part[shownPlan](r, "plan") }
func (r *reader) step(id string) shownStep { return part[shownStep](r, "step "+id) }
func (r *reader) status(id string) string  { return string(r.step(id).State.Status) }

// asks waits until something of a kind is asked, about the plan or a step, and returns it.
func (r *reader) asks(kind agent.PauseKind, node ...string) (found agent.Pause) {
	r.t.Helper()
	r.until(func() bool {
		for _, a := range part[[]agent.Pause](r, "asks") {
			if a.Kind == kind && slices.Equal(a.Path[:min(1, len(a.Path))], node) {
				found = a
				return true
			}
		}
		return false
	})
	return found
}

// post makes a request of the page, and returns its status and its answer.
func (r *reader) post(what string, body object) (int, string) {
	r.t.Helper()
	body["session"] = "main"
	data, err := json.Marshal(body)
	require.NoError(r.t, err)
	res, err := r.server.Client().Post(r.server.URL+"/board/"+what, "application/json", bytes.NewReader(data))
	require.NoError(r.t, err)
	defer res.Body.Close()
	var out bytes.Buffer
	_, err = out.ReadFrom(res.Body)
	require.NoError(r.t, err)
	return res.StatusCode, out.String()
}

func (r *reader) decide(d agent.Decision) {
	r.t.Helper()
	status, answer := r.post("decide", object{"run": r.plan().Run, "decision": d})
	require.Equal(r.t, http.StatusNoContent, status, answer)
}

// ended waits until a run of the conversation has ended so.
func (s *story) ended(t *testing.T, status agent.Status) {
	t.Helper()
	for ev, err := range s.hub.Watch(t.Context(), "main", 0) {
		require.NoError(t, err)
		if end, ok := ev.(*agent.RunEnded); ok && end.Status == status {
			return
		}
	}
}

// answered answers the question of the guide, and returns when the plan is proposed.
func (r *reader) answered() agent.Pause {
	r.t.Helper()
	r.story.ended(r.t, agent.Paused)
	pending, err := r.story.hub.Agent().Session("main").Pending(r.t.Context())
	require.NoError(r.t, err)
	_, err = r.story.hub.Decide(r.t.Context(), "main", agent.Answer(pending[0].ID, "The same word").By("you"))
	require.NoError(r.t, err)
	return r.asks(agent.PauseApproval)
}

func TestTheBoardShowsAPlanFromItsProposalToItsUndo(t *testing.T) {
	s := newStory(t, func(s *story) { s.failures, s.hold = 1, make(chan struct{}) })
	r := s.open(t, "Build a command that counts words")
	first := r.answered()
	require.Equal(t, "proposed", r.plan().Status)
	require.Len(t, r.plan().Plan.Nodes, 4)
	require.Nil(t, r.plan().Before)

	r.decide(agent.Suggest(first.ID, "flag -top and -json"))
	r.until(func() bool { return r.plan().Version == 2 && r.plan().Status == "proposed" })
	require.Len(t, r.plan().Plan.Nodes, 5)
	require.Len(t, r.plan().Before.Nodes, 4)
	status, answer := r.post("decide", object{"decision": agent.Approve(first.ID)})
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, answer, `"used"`)
	require.Empty(t, s.written, "the approval of version 1 runs nothing")

	r.decide(agent.Approve(r.asks(agent.PauseApproval).ID))
	r.until(func() bool { return len(r.step("count").Files) == 1 && len(r.step("render").Files) == 1 })
	require.Equal(t, "running running", r.status("count")+" "+r.status("render"))
	require.Contains(t, part[shownStep](r, "live render").Said, "I read the tests first.")
	close(s.hold)
	r.until(func() bool { return r.status("count") == "done" && len(r.step("count").Runs) == 4 })
	require.Equal(t, 2, r.step("count").State.Round)
	require.Contains(t, r.step("count").Runs[0].Output+r.step("count").Runs[1].Output, "--- FAIL")

	call := r.asks(agent.PauseApproval, "main")
	require.Equal(t, "go test", call.Scope)
	r.decide(agent.Approve(call.ID))
	r.until(func() bool { return r.plan().Status == "completed" && part[*Summary](r, "done") != nil })
	require.Len(t, part[Summary](r, "done").Files, 5)
	require.Empty(t, part[[]agent.Pause](r, "asks"))

	late := s.read(t, r.server) // who comes later sees the same
	late.until(func() bool { return late.parts["plan"] != nil })
	require.JSONEq(t, string(r.parts["plan"]), string(late.parts["plan"]))
	require.JSONEq(t, string(r.parts["done"]), string(late.parts["done"]))

	s.ended(t, agent.Completed) // the conversation goes on after the plan
	status, answer = r.post("undo", object{"run": r.plan().Run})
	require.Equal(t, http.StatusNoContent, status, answer)
	r.until(func() bool { return r.step("count").State.Undone && r.step("tests").State.Undone })
	require.Empty(t, s.written)
	require.Less(t, r.bytes, 100<<10, "the parts that don't change are sent once")
}

func TestAStepIsDecidedWhileAnotherIsAtWork(t *testing.T) {
	s := newStory(t, func(s *story) { s.hold = make(chan struct{}) })
	r := s.open(t, "Cover it")
	r.decide(agent.Approve(r.asks(agent.PauseApproval).ID))
	call := r.asks(agent.PauseApproval, "main")
	pending, err := s.hub.Agent().Session("main").Pending(t.Context())
	require.True(t, err != nil || len(pending) == 0, "the conversation doesn't ask yet")
	r.decide(agent.Reject(call.ID, ""))
	r.until(func() bool { return r.status("main") == "done" })
	require.Equal(t, "running", r.status("count"))
	close(s.hold)
	r.until(func() bool { return r.plan().Status == "completed" })
}

// A decision that the plan has got while the conversation was about to pause would be lost.
func TestADecisionReachesAConversationThatPausesMeanwhile(t *testing.T) {
	s := newStory(t)
	r := s.open(t, "Cover it")
	r.decide(agent.Approve(r.asks(agent.PauseApproval).ID))
	d := agent.Approve(r.asks(agent.PauseApproval, "main").ID)
	asks := func() bool {
		pending, err := s.hub.Agent().Session("main").Pending(t.Context())
		return err == nil && has(pending, d.ID)
	}
	for _, err := range s.hub.Watch(t.Context(), "main", 0) { // until it pauses
		require.NoError(t, err)
		if asks() {
			break
		}
	}
	require.NoError(t, s.plans.Decide(t.Context(), r.plan().Run, d))
	cfg := &Config{Hub: s.hub, Plans: s.plans}
	cfg.hand(t.Context(), request{Session: "main", Run: r.plan().Run}, d, asks)
	s.ended(t, agent.Completed)
	r.until(func() bool { return r.plan().Status == "completed" })
}

func TestAStuckStepIsAskedAbout(t *testing.T) {
	s := newStory(t, func(s *story) { s.failures = 3 })
	r := s.open(t, "Write a slug package")
	r.decide(agent.Approve(r.asks(agent.PauseApproval).ID))
	stuck := r.asks("question", "count")
	status, answer := r.post("decide",
		object{"run": r.plan().Run, "decision": agent.Answer(stuck.ID, object{"decision": "sing"})})
	require.Equal(t, http.StatusUnprocessableEntity, status, answer)
	r.decide(agent.Answer(stuck.ID, object{"decision": "grant"}))
	r.until(func() bool { return r.plan().Status == "completed" })
	require.Equal(t, 4, r.step("count").State.Round)
}

func TestAStepOfTheNextPlanBeginsAnew(t *testing.T) {
	s := newStory(t)
	r := s.open(t, "Cover it")
	r.decide(agent.Approve(r.asks(agent.PauseApproval).ID))
	r.decide(agent.Approve(r.asks(agent.PauseApproval, "main").ID))
	s.ended(t, agent.Completed)
	r.until(func() bool { return r.plan().Status == "completed" && r.status("count") == "done" })
	_, err := s.hub.Send(t.Context(), agent.Input{Session: "main", Prompt: "Write a slug package", User: "you"})
	require.NoError(t, err)
	r.until(func() bool { return r.plan().Status == "proposed" })
	require.JSONEq(t, "null", string(r.parts["step count"]), "it has the name of a step that is done")
	require.JSONEq(t, "null", string(r.parts["live count"]))
	late := s.read(t, r.server)
	late.until(func() bool { return late.parts["plan"] != nil })
	require.Nil(t, late.parts["step count"])
}

func TestAChangeThatBringsNoPlanEndsTheProposal(t *testing.T) {
	s := newStory(t)
	r := s.open(t, "Write a slug package")
	r.decide(agent.Suggest(r.asks(agent.PauseApproval).ID, "Rather a poem"))
	r.until(func() bool { return r.plan().Status == "canceled" })
}

func TestPermissionsAreRevokedAndBackgroundWorkIsShown(t *testing.T) {
	s := newStory(t, func(s *story) { s.grants = []Grant{{"g1", "go test", "you"}} })
	r := s.open(t, "Look up how other tools count words")
	r.until(func() bool { return len(part[[]BackgroundWork](r, "background")) == 1 })
	s.mu.Lock()
	s.works[0].State, s.works[0].Report = "completed", "wc counts by white space."
	s.mu.Unlock()
	s.feed.Poke()
	r.until(func() bool { return part[[]BackgroundWork](r, "background")[0].Report != "" })
	require.Len(t, part[[]Grant](r, "grants"), 1)
	status, _ := r.post("revoke", object{"grant": "g1"})
	require.Equal(t, http.StatusNoContent, status)
	r.until(func() bool { return len(part[[]Grant](r, "grants")) == 0 })
	status, _ = r.post("revoke", object{"grant": "g1"})
	require.Equal(t, http.StatusInternalServerError, status)
}

func TestOtherSitesMayDoNothing(t *testing.T) {
	s := newStory(t)
	server := httptest.NewServer(s.page)
	defer server.Close()
	for _, path := range []string{"/board/decide", "/board/undo", "/board/revoke", "/board?session=main",
		"/team/config"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader("{}"))
		require.NoError(t, err)
		if path[1:] == "team/config" || strings.Contains(path, "?") {
			req.Method = http.MethodGet
		}
		req.Header.Set("Origin", "https://example.org")
		res, err := server.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusForbidden, res.StatusCode, path)
	}
	res, err := server.Client().Get(server.URL + "/board?session=unknown")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNotFound, res.StatusCode)
}
