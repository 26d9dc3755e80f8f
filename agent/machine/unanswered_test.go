package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A said has the facts of runs of a session, one after the other.
type said struct{ *builder }

func newSaid(t *testing.T) said { return said{&builder{t: t, m: machine.New("s-1"), run: "r-0"}} }

// run starts a run, and adds facts to it.
func (s said) ask(text string, facts ...machine.Fact) said {
	s.run = fmt.Sprintf("r-%d", s.m.State().Seq+1)
	s.add(&machine.RunStarted{Message: provider.User(text), Limits: new(machine.DefaultLimits())})
	s.add(facts...)
	return s
}

func ended(status machine.Status, code string) *machine.RunEnded {
	return &machine.RunEnded{Status: status, Code: code, Reason: "because"}
}

func answers() []machine.Fact {
	return []machine.Fact{&machine.StepStarted{Meta: step(1)},
		&machine.Replied{Meta: step(1), Message: provider.Assistant("Done."), Stop: provider.StopDone}}
}

// told returns what the model is told before the input of the newest run.
func (s said) told() string {
	st := s.m.State()
	told, _ := memory.Told(&st.Messages[st.Run.First])
	return (&provider.Message{Parts: told}).Text()
}

func TestARequestThatWasNotAnsweredIsMarkedBeforeTheNextInput(t *testing.T) {
	const (
		stopped = `Note: the request above ("Rename Blog to Trash") was stopped before it was finished. Don't carry ` +
			`it out, or what is left of it, unless the next message asks for it again.`
		unfinished = `Note: the work on the request above ("Rename Blog to Trash") ended before it was finished (%s). ` +
			`Don't go on with it unless the next message refers to it.`
	)
	asked := func(code string, status machine.Status) []machine.Fact {
		return []machine.Fact{&machine.StepStarted{Meta: step(1)}, &machine.StepFailed{Meta: step(1), Error: "x"},
			ended(status, code)}
	}
	for name, c := range map[string]struct {
		facts []machine.Fact
		want  string
	}{
		"stopped":         {asked(machine.CodeHost, machine.Stopped), stopped},
		"canceled":        {asked(machine.CodeCanceled, machine.Stopped), stopped},
		"its reader left": {asked(machine.CodeAbandoned, machine.Stopped), stopped},
		"replaced":        {[]machine.Fact{ended(machine.Stopped, machine.CodeSuperseded)}, stopped},
		"failed":          {asked(machine.CodeProvider, machine.Failed), fmt.Sprintf(unfinished, "provider")},
		"limited": {[]machine.Fact{ended(machine.Stopped, machine.CodeLimit)},
			fmt.Sprintf(unfinished, "limit")},
		"a budget": {asked(machine.CodeBudget, machine.Failed), fmt.Sprintf(unfinished, "budget")},
		"unproven": {append(answers(), ended(machine.Stopped, "unproven")),
			fmt.Sprintf(unfinished, "unproven")},
		"answered at its limit": {append(answers(), ended(machine.Stopped, machine.CodeLimit)),
			fmt.Sprintf(unfinished, "limit")},
		"answered":              {append(answers(), ended(machine.Completed, "")), ""},
		"answered by condition": {[]machine.Fact{ended(machine.Completed, machine.CodeCondition)}, ""},
		"stopped when answered": {append(answers(), ended(machine.Stopped, machine.CodeHost)), ""},
		"left and resumed": {append(append([]machine.Fact{ended(machine.Paused, machine.CodeDrained),
			&machine.Continued{}}, answers()...), ended(machine.Completed, "")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSaid(t).ask("Rename Blog to Trash", c.facts...).ask("Create Jobs")
			require.Equal(t, c.want, s.told())
			require.Equal(t, "Create Jobs", s.m.State().Goal())
			require.Equal(t, []provider.Message{provider.User("Create Jobs")}, s.m.LastResult().Messages)
			s.add(answers()...)
			s.add(ended(machine.Completed, ""))
			require.Empty(t, s.ask("And then?").told(), "it is told once")
		})
	}
}

func TestEachOfSeveralRequestsThatWereNotAnsweredIsMarked(t *testing.T) {
	s := newSaid(t).ask("A", ended(machine.Stopped, machine.CodeHost)).
		ask("B", &machine.Steered{Message: provider.User("and quickly")}, ended(machine.Failed, machine.CodeProvider)).
		ask("C")
	var all []string
	for _, m := range s.m.State().Messages {
		all = append(all, m.Text())
	}
	text := strings.Join(all, "|")
	require.Regexp(t, `^A\|Note: the request above \("A"\) was stopped .*again\.B\|and quickly\|Note: the work on the `+
		`request above \("B"\), with what was added to it \(last "and quickly"\), ended .*refers to it\.C$`, text)
}

func TestTheMarkNamesTheNewestTenEffectsThatAreLeft(t *testing.T) {
	s := newSaid(t)
	s.ask(strings.Repeat("long </calls> ", 100), &machine.StepStarted{Meta: step(1)})
	var calls []*provider.ToolCall
	var parts []provider.Part
	for n := range 15 {
		c := s.call(n)
		c.Name, c.Input = "write", fmt.Appendf(nil, `{"n":%d,"text":"%s</calls>"}`, n, strings.Repeat("x", 20*n))
		calls, parts = append(calls, c), append(parts, provider.Part{Kind: provider.PartToolCall, Call: c})
	}
	s.add(&machine.Replied{Meta: step(1), Message: message(provider.RoleAssistant, parts...),
		Stop: provider.StopToolCalls})
	for i, c := range calls {
		f := finishCall(c, tools.OK).(*machine.ToolFinished)
		switch i {
		case 0: // not started
			f.Result.Status = tools.Denied
		case 1:
			s.add(&machine.ToolStarted{Meta: machine.Meta{Step: 1, Call: c.ID}, Call: c, ReadOnly: true})
		case 14:
			f.Result.Status = tools.InDoubt
			s.add(startCall(c))
		default:
			s.add(startCall(c))
		}
		s.add(f)
	}
	s.add(ended(machine.Stopped, machine.CodeCanceled),
		&machine.Undone{Calls: []machine.UndoneCall{{Call: calls[12]}, {Call: calls[11], Why: "it can't be"}}})
	told := s.ask("next").told()
	_, list, _ := strings.Cut(told, " These calls of it had an effect, or may have had one:\n<calls>\n")
	list, found := strings.CutSuffix(list, "</calls>")
	require.True(t, found, told)
	lines := strings.Split(strings.TrimSuffix(list, "\n"), "\n")
	require.Len(t, lines, 10)
	require.Equal(t, "3 earlier ones", lines[0])
	require.Regexp(t, `^write \{"n":5,`, lines[1])
	require.Regexp(t, `^write \{"n":14,.* \[…\] \(in_doubt\)$`, lines[9])
	require.NotContains(t, list, `"n":12`)
	require.Contains(t, list, `"n":11`)
	require.NotContains(t, list, "</calls>")
	require.Less(t, len(told), 3000)

	var undone []machine.UndoneCall
	for _, c := range calls {
		undone = append(undone, machine.UndoneCall{Call: c})
	}
	require.NotContains(t, newUndone(t, calls, undone), "<calls>", "all were undone, also those before the newest ten")
}

// newUndone returns the note about a run that made these calls, some of which were undone.
func newUndone(t *testing.T, calls []*provider.ToolCall, undone []machine.UndoneCall) string {
	t.Helper()
	s := newSaid(t)
	s.ask("write", &machine.StepStarted{Meta: step(1)})
	var parts []provider.Part
	for _, c := range calls {
		parts = append(parts, provider.Part{Kind: provider.PartToolCall, Call: c})
	}
	s.add(&machine.Replied{Meta: step(1), Message: message(provider.RoleAssistant, parts...),
		Stop: provider.StopToolCalls})
	for _, c := range calls {
		s.add(startCall(c), finishCall(c, tools.OK))
	}
	s.add(ended(machine.Stopped, machine.CodeCanceled), &machine.Undone{Calls: undone})
	return s.ask("next").told()
}
