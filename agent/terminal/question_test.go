package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A desk is where somebody sits at questions, without a terminal: what they type comes piece by
// piece, each when the program has used the one before, and ends after the last one.
type desk struct {
	agent *agent.Agent
	hub   *live.Hub
	asked int
	out   strings.Builder
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	write := tools.New(tools.Spec{Name: "site.movePage", Approval: tools.AskAlways},
		func(context.Context, struct{}) (string, error) { return "moved", nil })
	a, err := agent.New(agent.Config{Tools: []tools.Tool{write}, NoGuard: true, Provider: providertest.Func(
		func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			if last := req.Messages[len(req.Messages)-1]; last.Role != provider.RoleUser {
				return providertest.Say("That is done.").Response(), nil
			}
			return providertest.Call("site.movePage", struct{}{}).Response(), nil
		})})
	require.NoError(t, err)
	hub, err := live.New(live.Config{Agent: a, Recover: -1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, hub.Close()) })
	return &desk{agent: a, hub: hub}
}

// pieces gives one of them at each read.
type pieces []string

func (p *pieces) Read(b []byte) (int, error) {
	if len(*p) == 0 {
		return 0, io.EOF
	}
	n := copy(b, (*p)[0])
	*p = (*p)[1:]
	return n, nil
}

// ask asks a question of somebody who has typed early before it is drawn, and types the pieces
// then. It returns what was decided, if anything was, and whether the program went on to wait.
func (d *desk) ask(t *testing.T, early string, typed []string) (decided *agent.Decision, quit bool) {
	t.Helper()
	d.asked++
	session := fmt.Sprintf("s-%d", d.asked)
	res, err := d.agent.Run(t.Context(), agent.Input{Session: session, Prompt: "move it"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	file, err := os.Open(os.DevNull) // stands for the terminal, whose size nobody knows
	require.NoError(t, err)
	defer file.Close()
	d.out.Reset()
	left := pieces(typed)
	keys := newKeyboard(&left, &d.out)
	keys.file, keys.buf = file, []byte(early)
	u := &ui{cfg: Config{Session: session}, hub: d.hub, keys: keys, signals: make(chan os.Signal, 1),
		talk: talk{session: d.agent.Session(session), pending: res.Pending}}
	u.out = newScreen(&d.out, true, d.agent.Tools())
	for err == nil && len(u.pending) > 0 {
		err = u.decide(t.Context())
		switch {
		case errors.Is(err, errInterrupt):
			err = u.interrupted(t.Context())
		case errors.Is(err, errChanged):
			err = nil
		}
	}
	quit = err != nil && keys.ended == nil
	u.leaveSession()
	require.NoError(t, keys.close())
	facts, err := d.agent.Session(session).Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		if f, ok := f.(*machine.Decided); ok {
			require.Nil(t, decided, "decided once")
			decided = &f.Decision
		}
	}
	require.Equal(t, decided == nil, len(u.pending) > 0)
	return decided, quit
}

// said says in the words of testdata/question.txt what was decided.
func said(d *agent.Decision) string {
	switch d.Kind {
	case machine.Approved:
		return "approve"
	case machine.AlwaysAllow:
		return "always"
	case machine.Rejected:
		return strings.TrimSpace("reject: " + d.Reason)
	case machine.Suggested:
		return "suggest: " + d.Reason
	}
	raw, _ := json.Marshal(d)
	return string(raw)
}

var (
	keyNames = strings.NewReplacer("<Enter>", "\r", "<Esc>", "\x1b", "<Up>", "\x1b[A", "<Down>", "\x1b[B", "<Left>",
		"\x1b[D", "<Back>", "\x7f", "<^U>", "\x15", "<^C>", "\x03", "<^D>", "\x04")
	keyPieces = regexp.MustCompile(`<paste [^>]*>|<[^>]*>|.`)
)

// press returns the keys that a row of testdata/question.txt names, each as a piece. After an
// Escape an empty piece stands for the moment in which the rest of a key's sequence would come.
func press(text string) (keys []string) {
	for _, name := range keyPieces.FindAllString(text, -1) {
		if paste, ok := strings.CutPrefix(name, "<paste "); ok {
			name = pasteBegins + strings.TrimSuffix(paste, ">") + pasteEnds
		}
		if keys = append(keys, keyNames.Replace(name)); name == "<Esc>" {
			keys = append(keys, "")
		}
	}
	return keys
}

func TestADecisionIsMeant(t *testing.T) {
	d := newDesk(t)
	table, err := os.ReadFile("testdata/question.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(table)) {
		cells := strings.SplitN(strings.TrimSuffix(line, "\n"), "|", 3)
		if strings.HasPrefix(line, "#") || len(cells) < 3 {
			continue
		}
		early, typed, want := strings.TrimSuffix(cells[0], " "), cells[1], strings.TrimSpace(cells[2])
		typed = strings.TrimSuffix(strings.TrimPrefix(typed, " "), " ")
		decided, quit := d.ask(t, strings.Join(press(early), ""), press(typed))
		shown := d.out.String()
		text, back := strings.CutPrefix(want, "back: ")
		switch {
		case back:
			require.Nil(t, decided, line)
			last := strings.LastIndex(shown, "Instead of the call: “")
			require.GreaterOrEqual(t, last, 0, line+shown)
			require.Contains(t, shown[last:], "Instead of the call: “"+text+"”.", line)
		case want == "open", want == "hint", want == "quit":
			require.Nil(t, decided, line)
			require.Equal(t, want == "hint", strings.Contains(shown, "To say yes, type a"), line+shown)
			require.Equal(t, want == "quit", quit, line+shown)
		default:
			require.NotNil(t, decided, line+shown)
			require.Equal(t, want, said(decided), line+shown)
		}
	}
}

// The rest of an arrow's sequence may come a little later than its Escape. What was written at the
// question stays, and so does the question what to do instead.
func TestAnArrowInPiecesLeavesNoQuestion(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		typed []string
		want  string
	}{
		{[]string{"wat", "\x1b", "[D", "i", "\r", "\r"}, "suggest: wait"},
		{[]string{"wat", "\x1b", "\x1b[D", "i", "\r", "\r"}, "suggest: wait"},
		{[]string{"s\r", "hid it", "\x1b", "OD", "\x1b", "OD", "\x1b", "[D", "e", "\r"}, "suggest: hide it"},
		{[]string{"wait\r", "\x1b", "[C", "\r"}, "suggest: wait"},
		{[]string{"\x1b", "[B", "\r"}, "approve"},
		{[]string{"\x1b", "[B"}, ""},
		{[]string{"wait", "\x1b", "", "a\r"}, "approve"},
		{[]string{"\x1b"}, ""},
	} {
		decided, _ := d.ask(t, "", c.typed)
		got := ""
		if decided != nil {
			got = said(decided)
		}
		require.Equal(t, c.want, got, "%q", c.typed)
	}
}
