package browser

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

// assistantColumns are the columns of clients with assistant-ui.
func assistantColumns() []matrixColumn {
	return []matrixColumn{{name: "assistant-ui, AG-UI", cells: map[string]matrixCell{
		"text":           {test: assistantText},
		"reasoning":      {test: assistantReasoning},
		"parallel tools": {test: assistantParallelTools},
		"tool error":     {test: assistantToolError},
		"approve":        {test: assistantApprove},
		"reject":         {test: assistantReject},
		"edit": {why: "assistant-ui's buttons for approvals say yes or no; a page that edits the input answers " +
			"the interrupt itself."},
		"front-end tool":                  {test: assistantFrontEndTool},
		"error of a front-end tool":       {test: assistantFrontEndError},
		"model error":                     {test: assistantModelError},
		"stop":                            {test: assistantStop},
		"regenerate":                      {test: assistantRegenerate},
		"edit a message":                  {test: assistantEditMessage},
		"reload in mid-stream":            {test: assistantReloadInMidStream},
		"reload with an open approval":    {test: assistantReloadWithApproval},
		"two clients":                     {test: assistantTwoClients},
		"message while running":           {test: assistantMessageWhileRunning},
		"message while an approval waits": {test: assistantMessageWhileWaiting},
		"graceful restart in mid-stream":  {test: assistantRestart},
		"kill -9":                         {test: assistantKill},
	}}}
}

// An assistantStep is what a page of assistant-ui does, and an assistantSeen what it shows then.
type (
	assistantStep struct {
		Client  string `json:"client"`
		Open    string `json:"open,omitempty"`
		Thread  string `json:"thread,omitempty"`
		Say     string `json:"say,omitempty"`
		Away    bool   `json:"away,omitempty"`
		Edit    *int   `json:"edit,omitempty"`
		Approve *bool  `json:"approve,omitempty"`
		Result  string `json:"result,omitempty"`
		Error   string `json:"error,omitempty"`
		Again   *int   `json:"again,omitempty"`
		Stop    bool   `json:"stop,omitempty"`
		Until   string `json:"until,omitempty"`
	}
	assistantSeen struct {
		Shown      []string
		Error      string
		Interrupts int
		Warnings   []string
	}
)

// assistant makes a page do a step.
func (s *aguiSite) assistant(step assistantStep) (seen assistantSeen) {
	s.t.Helper()
	if !s.opened[step.Client] {
		s.opened[step.Client] = true
		step.Open, step.Thread = s.address, "t-1"
	}
	require.NoError(s.t, json.NewEncoder(s.node.steps).Encode(step))
	line, err := s.node.lines.ReadBytes('\n')
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(line, &seen), "%s", line)
	require.NotContains(s.t, seen.Error, "{", "people don't read JSON")
	require.Empty(s.t, seen.Warnings)
	return seen
}

// displays requires what a page shows, and that another one shows the same.
func (s *aguiSite) displays(seen assistantSeen, texts ...string) {
	s.t.Helper()
	require.Equal(s.t, texts, seen.Shown)
	loaded := s.assistant(assistantStep{Client: "reloaded", Open: s.address, Thread: "t-1"})
	require.Equal(s.t, texts, loaded.Shown, "after a reload")
}

// reopens loads the page again, and waits for a text.
func (s *aguiSite) reopens(until string) assistantSeen {
	s.t.Helper()
	return s.assistant(assistantStep{Open: s.address, Thread: "t-1", Until: until})
}

func newAssistant(t *testing.T, model provider.Provider) *aguiSite {
	s := newAGUIServer(t, model, withPick)
	s.uses("assistant_ui.mjs")
	return s
}

func assistantText(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.SayChunks("Hel", "lo.")))
	s.displays(s.assistant(assistantStep{Say: "Hi."}), "user: Hi.", "assistant: Hello.")
}

func assistantReasoning(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Reply(providertest.Think("A greeting."),
		providertest.Say("Hello."))))
	s.displays(s.assistant(assistantStep{Say: "Hi."}), "user: Hi.", "assistant: (A greeting.) Hello.")
}

func assistantParallelTools(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Reply(providertest.Say("Both."),
		providertest.Calls(looksAt("a"), looksAt("b"))), providertest.Say("Fine.")))
	s.displays(s.assistant(assistantStep{Say: "Look."}), "user: Look.",
		`assistant: Both. look{"Page":"a"} = saw a look{"Page":"b"} = saw b Fine.`)
}

func assistantToolError(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Calls(looksAt("gone")), providertest.Say("It is gone.")))
	seen := s.assistant(assistantStep{Say: "Look."})
	require.Len(t, seen.Shown, 2)
	require.Contains(t, seen.Shown[1], "there is no such page")
	s.displays(seen, "user: Look.", seen.Shown[1])
}

func assistantAsked(t *testing.T) *aguiSite {
	s := newAssistant(t, providertest.Script(providertest.Calls(removes("a")), providertest.Say("So be it.")))
	seen := s.assistant(assistantStep{Say: "Delete."})
	require.Equal(t, 1, seen.Interrupts)
	s.displays(seen, "user: Delete.", `assistant: delete{"Page":"a"}`)
	return s
}

func assistantApprove(t *testing.T) {
	s := assistantAsked(t)
	s.displays(s.assistant(assistantStep{Approve: new(true)}), "user: Delete.",
		`assistant: delete{"Page":"a"} = deleted a So be it.`)
	require.Equal(t, []string{"a"}, s.deleted())
}

func assistantReject(t *testing.T) {
	s := assistantAsked(t)
	s.displays(s.assistant(assistantStep{Approve: new(false)}), "user: Delete.",
		`assistant: delete{"Page":"a"} = A person rejected this call. So be it.`)
	require.Empty(t, s.deleted())
}

func assistantPicks(t *testing.T) *aguiSite {
	s := newAssistant(t, providertest.Script(providertest.Call("pick", obj{}), providertest.Say("I see.")))
	s.displays(s.assistant(assistantStep{Say: "Pick."}), "user: Pick.", "assistant: pick{}")
	return s
}

func assistantFrontEndTool(t *testing.T) {
	s := assistantPicks(t)
	s.displays(s.assistant(assistantStep{Result: "blue"}), "user: Pick.", "assistant: pick{} = blue I see.")
}

func assistantFrontEndError(t *testing.T) {
	s := assistantPicks(t)
	seen := s.assistant(assistantStep{Error: "no screen"})
	require.Len(t, seen.Shown, 2)
	require.Contains(t, seen.Shown[1], "no screen")
	s.displays(seen, "user: Pick.", seen.Shown[1])
}

func assistantModelError(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Fail(fault.Permanent), providertest.Say("Hello.")))
	seen := s.assistant(assistantStep{Say: "Hi."})
	require.Equal(t, "Scripted doesn't accept the request. Use another model.", seen.Error)
}

func assistantStop(t *testing.T) {
	s := newAssistant(t, newMidText())
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	seen := s.assistant(assistantStep{Stop: true})
	s.ends()
	s.displays(seen, "user: Work.", "assistant: Working")
}

func assistantRegenerate(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C")))
	s.assistant(assistantStep{Say: "one"})
	s.assistant(assistantStep{Say: "two"})
	s.displays(s.assistant(assistantStep{Again: new(3)}), "user: one", "assistant: A", "user: two", "assistant: C")
}

func assistantEditMessage(t *testing.T) {
	s := newAssistant(t, providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C"),
		providertest.Say("D")))
	s.assistant(assistantStep{Say: "one"})
	s.assistant(assistantStep{Say: "two"})
	s.displays(s.assistant(assistantStep{Say: "2b", Edit: new(2)}), "user: one", "assistant: A", "user: 2b",
		"assistant: C")
	s.displays(s.assistant(assistantStep{Say: "1b", Edit: new(0)}), "user: 1b", "assistant: D")
}

func assistantReloadInMidStream(t *testing.T) {
	m := newMidText()
	s := newAssistant(t, m)
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	s.reopens("Working")
	close(m.free)
	s.displays(s.assistant(assistantStep{}), "user: Work.", "assistant: Working done.")
}

func assistantReloadWithApproval(t *testing.T) {
	s := assistantAsked(t)
	require.Equal(t, 1, s.reopens("delete").Interrupts)
	s.displays(s.assistant(assistantStep{Approve: new(true)}), "user: Delete.",
		`assistant: delete{"Page":"a"} = deleted a So be it.`)
}

func assistantTwoClients(t *testing.T) {
	m := newMidText()
	s := newAssistant(t, m)
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	s.assistant(assistantStep{Client: "b", Until: "Working"})
	close(m.free)
	s.displays(s.assistant(assistantStep{}), "user: Work.", "assistant: Working done.")
	s.displays(s.assistant(assistantStep{Client: "b"}), "user: Work.", "assistant: Working done.")
}

func assistantMessageWhileRunning(t *testing.T) {
	m := newMidText()
	s := newAssistant(t, m)
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	s.assistant(assistantStep{Say: "And rest.", Until: "And rest."})
	close(m.free)
	s.assistant(assistantStep{Until: `"user: And rest.","assistant: Working done."`})
	s.displays(s.assistant(assistantStep{}), "user: Work.", "assistant: Working done.", "user: And rest.",
		"assistant: Working done.")
}

func assistantMessageWhileWaiting(t *testing.T) {
	s := assistantAsked(t)
	seen := s.assistant(assistantStep{Say: "No.", Away: true})
	require.Equal(t, 0, seen.Interrupts)
	require.Empty(t, s.deleted())
	s.displays(seen, "user: Delete.", seen.Shown[1], "user: No.", "assistant: So be it.")
}

func assistantRestart(t *testing.T) {
	m := newMidText()
	s := newAssistant(t, m)
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	closed := make(chan error)
	go func() { closed <- s.hub.Close() }()
	require.Equal(t, "The connection was lost. The work goes on; connect again.", s.assistant(assistantStep{}).Error)
	close(m.free)
	require.NoError(t, <-closed)
	s.begin()
	s.reopens("Working done.")
	s.displays(s.assistant(assistantStep{}), "user: Work.", "assistant: Working done.")
}

func assistantKill(t *testing.T) {
	dir := t.TempDir()
	first := start(t, dir, "127.0.0.1:0", true)
	s := &aguiSite{t: t, address: "http://" + first.address + "/agent/agui", opened: make(map[string]bool)}
	s.uses("assistant_ui.mjs")
	s.assistant(assistantStep{Say: "Work.", Until: "Working"})
	first.kill()
	require.NotEmpty(t, s.assistant(assistantStep{}).Error)
	start(t, dir, first.address, false)
	s.reopens("Working done.")
	s.displays(s.assistant(assistantStep{}), "user: Work.", "assistant: Working done.")
}
