package consent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type none struct{}

// tool returns a tool of the tests.
func tool(t *testing.T, spec tools.Spec) *tools.Definition {
	t.Helper()
	spec.Description = "A tool of a test."
	d, err := tools.Func[map[string]string, none]{Spec: spec,
		Run: func(context.Context, map[string]string) (none, error) { return none{}, nil }}.Define()
	require.NoError(t, err)
	return d
}

// a talk is a conversation, and a judge that counts its calls.
type talk struct {
	messages []provider.Message
	unread   []string
	failed   error
	says     Kind
	fails    error
	asked    []string
}

func (k *talk) verdict(d *tools.Definition, input string, change ...func(*Config)) tools.Verdict {
	cfg := Config{
		Said: func(context.Context, string) ([]provider.Message, []string, error) {
			return k.messages, k.unread, k.failed
		},
		Judge: func(_ context.Context, question string) (Kind, error) {
			k.asked = append(k.asked, question)
			return k.says, k.fails
		},
	}
	for _, c := range change {
		c(&cfg)
	}
	policy := Policy(cfg)
	call := &tools.Call{Session: "s", Name: d.Name(), Input: json.RawMessage(input)}
	policy(context.Background(), d, call)
	return policy(context.Background(), d, call) // as before it starts
}

func said(texts ...string) (all []provider.Message) {
	for _, text := range texts {
		all = append(all, provider.User(text))
	}
	return all
}

func TestThePolicy(t *testing.T) {
	t.Parallel()
	rename, publish := tool(t, tools.Spec{Name: "rename"}), tool(t, tools.Spec{Name: "publish"})
	look := tool(t, tools.Spec{Name: "look", ReadOnly: true})
	for name, c := range map[string]struct {
		talk   talk
		tool   *tools.Definition
		input  string
		reason string // empty: it is allowed
		unsure bool   // a standing rule may answer
		judged int
	}{
		"a request":            {talk: talk{messages: said("Rename Blog to News")}, tool: rename},
		"a tool that reads":    {talk: talk{messages: said("Don't do anything")}, tool: look},
		"nobody said anything": {tool: rename},
		"forbidden": {talk: talk{messages: said("Don't rename Blog")}, tool: rename,
			reason: "You wrote “Don't rename Blog”, or forbade this before."},
		"a question": {talk: talk{messages: said("Should we rename Blog?")}, tool: rename,
			reason: "You asked: “Should we rename Blog?”. This would change something."},
		"taken back": {talk: talk{messages: said("Rename Blog. Wait, no.")}, tool: rename,
			reason: "You took something back: “Rename Blog. Wait, no.”."},
		"a condition": {talk: talk{messages: said("Once Ann agrees, I'll tell you")}, tool: publish,
			reason: "You set a condition: “Once Ann agrees, I'll tell you”."},
		"an exception that the call is": {talk: talk{messages: said("Rename Blog, but don't publish it"),
			says: Forbids},
			tool: publish, judged: 1, reason: "You wrote “Rename Blog, but don't publish it”, or forbade this before."},
		"an exception that the call isn't": {talk: talk{messages: said("Rename Blog, but don't publish it"),
			says: Requests}, tool: rename, judged: 1},
		"something was forbidden before, and the judge knows": {talk: talk{messages: said("Don't touch Home", "Rename Blog"),
			says: Requests}, tool: rename, judged: 1},
		"something was forbidden before, and the judge fails": {talk: talk{messages: said("Don't touch Home", "Rename Blog"),
			fails: errors.New("down")}, tool: rename, judged: 1, unsure: true,
			reason: "It isn't certain that “Rename Blog” asks for this."},
		"a call was rejected with a reason": {talk: talk{messages: append(said("Publish About"),
			provider.Message{Role: provider.RoleTool, Parts: []provider.Part{{Kind: provider.PartToolResult,
				Result: &provider.ToolResult{Parts: []provider.Part{provider.TextPart(
					"A person rejected this call. Don't change anything.")}}}}}), says: Forbids}, tool: rename, judged: 1,
			reason: "You wrote “Publish About”, or forbade this before."},
		"forbidden during the run": {talk: talk{messages: said("Rename Blog"), unread: []string{"Stop, don't do that"}},
			tool: rename, reason: "You took something back: “Stop, don't do that”."},
		"asked during the run": {talk: talk{messages: said("Rename Blog"), unread: []string{"Why is it slow?"}},
			tool: rename},
		"said during the run in another language": {talk: talk{messages: said("Rename Blog"),
			unread: []string{"Ne renomme rien"}, says: Forbids}, tool: rename, judged: 1,
			reason: "You wrote “Ne renomme rien”, or forbade this before."},
		"what comes during a run allows nothing": {talk: talk{messages: said("Should we rename Blog?"),
			unread: []string{"Rename Blog"}}, tool: rename,
			reason: "You asked: “Should we rename Blog?”. This would change something."},
		"an undo may be of what is done": {talk: talk{messages: said("Rename Blog", "Undo that please"),
			says: Requests}, tool: rename, judged: 1},
		"an undo may be of what isn't done": {talk: talk{messages: said("Rename Blog. Undo that."), says: TakesBack},
			tool: rename, judged: 1, reason: "You took something back: “Rename Blog. Undo that.”."},
		"what is shown may be shown to visitors": {talk: talk{messages: said("Show it again"), says: Requests},
			tool: rename, judged: 1},
		"what is shown to me": {talk: talk{messages: said("Show me a draft")}, tool: rename,
			reason: "You asked: “Show me a draft”. This would change something."},
		"a condition behind one that is told": {talk: talk{messages: said(
			"Add a section that says when we open once Ben agrees")}, tool: rename,
			reason: "You set a condition: “Add a section that says when we open once Ben agrees”."},
		"something was asked before": {talk: talk{messages: said("What does publish do?", "Publish it")},
			tool: publish},
		"a yes to a question": {talk: talk{messages: append(said("Should we rename Blog?"),
			provider.Assistant("Shall I rename it?"), provider.User("yes"))}, tool: rename},
		"a request with a negation": {talk: talk{messages: said("Rename Blog without publishing it"), says: Forbids},
			tool: publish, judged: 1, reason: "You wrote “Rename Blog without publishing it”, or forbade this before."},
		"a question that looks like a request": {talk: talk{messages: said("Could you publish it at all?"),
			says: Questions}, tool: publish, judged: 1,
			reason: "You asked: “Could you publish it at all?”. This would change something."},
		"an ok to no question": {talk: talk{messages: append(said("List the posts"),
			provider.Assistant("It has three posts."), provider.User("ok"))}, tool: rename, judged: 1, unsure: true,
			reason: "It isn't certain that “ok” asks for this."},
		"another language": {talk: talk{messages: said("Ne renomme rien"), says: Forbids}, tool: rename, judged: 1,
			reason: "You wrote “Ne renomme rien”, or forbade this before."},
		"more than the rules read": {talk: talk{messages: said("Rename Blog." + strings.Repeat(" ",
			maxRead) + "Don't."),
			says: Unknown}, tool: rename, judged: 1, unsure: true,
			reason: "It isn't certain that “Rename Blog. Don't.” asks for this."},
		"the conversation can't be read": {talk: talk{failed: errors.New("locked")}, tool: rename,
			reason: "What was said before can't be read: locked"},
		"only the first text of a message is theirs": {talk: talk{messages: []provider.Message{{
			Role:  provider.RoleUser,
			Parts: []provider.Part{provider.TextPart("Rename Blog"), provider.TextPart("Don't")}}}}, tool: rename},
		"what is quoted asks nothing":    {talk: talk{messages: said(`Rename Blog to "Why not?"`)}, tool: rename},
		"what is quoted forbids nothing": {talk: talk{messages: said(`Rename Blog to “Don't wait”`)}, tool: rename},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.input == "" {
				c.input = "{}"
			}
			v := c.talk.verdict(c.tool, c.input)
			if c.reason == "" {
				require.Equal(t, tools.Verdict{Effect: tools.Allow}, v)
			} else {
				require.Equal(t, tools.Verdict{Effect: tools.Ask, Standing: c.unsure, Reason: c.reason}, v)
			}
			require.Len(t, c.talk.asked, c.judged)
		})
	}
}

func TestWhatIsFreeAndWhatAButtonSendsAreAllowed(t *testing.T) {
	t.Parallel()
	k := talk{messages: said("Don't publish it")}
	v := k.verdict(tool(t, tools.Spec{Name: "publish"}), "{}", func(c *Config) {
		c.Free = func(d *tools.Definition, c *tools.Call) bool { return d.Name() == "publish" && c.Session == "s" }
	})
	require.Equal(t, tools.Allow, v.Effect)
	v = k.verdict(tool(t, tools.Spec{Name: "publish"}), "{}", func(c *Config) {
		c.Exact = func(message string) bool { return message == "Don't publish it" }
	})
	require.Equal(t, tools.Allow, v.Effect)
}

// What comes during a run can hold a call, whatever came before it.
func TestWhatComesDuringARunHoldsWhatAButtonHasSent(t *testing.T) {
	t.Parallel()
	const button = "Publish “A” (artifact 7)"
	publish := tool(t, tools.Spec{Name: "publish"})
	buttons := func(c *Config) {
		c.Exact = func(message string) bool { return strings.HasSuffix(message, "(artifact 7)") }
	}
	for name, c := range map[string]struct {
		talk   talk
		reason string // empty: it is allowed
		asked  string
	}{
		"it is forbidden": {talk: talk{messages: said("Don't touch Home", button),
			unread: []string{"Don't publish it"}},
			reason: "You wrote “Don't publish it”, or forbade this before."},
		"it is forbidden in another language": {talk: talk{messages: said(button), unread: []string{"Ne publie rien"},
			says: Forbids}, reason: "You wrote “Ne publie rien”, or forbade this before.",
			asked: "Earlier, the person wrote:\n" + button + "\n\nThe person's newest message:\nNe publie rien\n\n" +
				"The call:\nPublish\npublish {}"},
		"it is forbidden where nothing was said": {talk: talk{unread: []string{"Don't publish it"}},
			reason: "You wrote “Don't publish it”, or forbade this before."},
		"it is forbidden in another language where nothing was said": {talk: talk{unread: []string{"Ne publie rien"},
			says: Forbids}, reason: "You wrote “Ne publie rien”, or forbade this before.",
			asked: "The person's newest message:\nNe publie rien\n\nThe call:\nPublish\npublish {}"},
		"something is asked": {talk: talk{messages: said(button), unread: []string{"Why is it slow?"}}},
		"another button takes it back": {talk: talk{messages: said(button),
			unread: []string{"Undo the last change (artifact 7)"}, says: TakesBack},
			reason: "You took something back: “Undo the last change (artifact 7)”.",
			asked: "Earlier, the person wrote:\n" + button + "\n\nThe person's newest message:\n" +
				"Undo the last change (artifact 7)\n\nThe call:\nPublish\npublish {}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := tools.Verdict{Effect: tools.Allow}
			if c.reason != "" {
				want = tools.Verdict{Effect: tools.Ask, Reason: c.reason}
			}
			require.Equal(t, want, c.talk.verdict(publish, "{}", buttons))
			require.Equal(t, c.asked, strings.Join(c.talk.asked, "\n"))
		})
	}
}

func TestTheJudgeKnowsWhatWasSaidBeforeAndTheCall(t *testing.T) {
	t.Parallel()
	k := talk{says: Requests, messages: append(said("Don't touch Home"),
		provider.Assistant("Do you mean Blog or News?"), provider.User("la seconde"))}
	require.Equal(t, tools.Allow, k.verdict(tool(t, tools.Spec{Name: "rename"}), `{"page":"news"}`).Effect)
	require.Equal(t, []string{"Earlier, the person wrote:\nDon't touch Home\n\n" +
		"The assistant's last answer:\nDo you mean Blog or News?\n\n" +
		"The person's newest message:\nla seconde\n\nThe call:\nRename “news”\nrename {\"page\":\"news\"}"}, k.asked)
}

// A prohibition holds, however much is said after it.
func TestAProhibitionIsntForgotten(t *testing.T) {
	t.Parallel()
	k := talk{says: Forbids, messages: said("Don't touch Home")}
	for range 3 * maxUnclear {
		k.messages = append(k.messages, provider.User("la page est belle"))
	}
	k.messages = append(k.messages, provider.User("Rename Home"))
	require.Equal(t, tools.Ask, k.verdict(tool(t, tools.Spec{Name: "rename"}), "{}").Effect)
	require.Contains(t, k.asked[0], "Don't touch Home")
	require.Equal(t, maxUnclear, strings.Count(k.asked[0], "la page"))
}

func TestAModelJudges(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]Kind{"requests": Requests, " Takes back.\n": TakesBack, "unknown": Unknown} {
		model := providertest.Script(providertest.Say(answer))
		kind, err := Judge(model)(t.Context(), "The message: la seconde")
		require.NoError(t, err)
		require.Equal(t, want, kind)
		require.Equal(t, "The message: la seconde", model.Requests()[0].LastUserText())
	}
	cut := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) { yield(provider.Text("requests"), nil) }
	})
	_, err := Judge(cut)(t.Context(), "x")
	require.ErrorContains(t, err, "requests", "there may be more")
	_, err = Judge(providertest.Script(providertest.Say("It asks for a change.")))(t.Context(), "x")
	require.ErrorContains(t, err, "It asks for a change.")
	_, err = Judge(providertest.Script(providertest.Fail(fault.Permanent)))(t.Context(), "x")
	require.Equal(t, fault.Permanent, fault.Of(err))
}

// A model that never answers, or never ends its answer, holds a call up for 20 seconds at most, and
// is asked once. Then the person is.
func TestAJudgeThatDoesntEndIsntWaitedFor(t *testing.T) {
	t.Parallel()
	for name, stream := range map[string]func(ctx context.Context) (provider.Chunk, error){
		"it hangs": func(ctx context.Context) (provider.Chunk, error) {
			<-ctx.Done()
			return provider.Chunk{}, context.Cause(ctx)
		},
		"it thinks for ever": func(context.Context) (provider.Chunk, error) {
			time.Sleep(time.Millisecond)
			return provider.Chunk{Kind: provider.KindReasoning, Text: "hm"}, nil
		},
		"it talks for ever": func(context.Context) (provider.Chunk, error) {
			return provider.Text("requests, "), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked, began := 0, time.Now()
				type chunks = iter.Seq2[provider.Chunk, error]
				judge := Judge(provider.Func(func(ctx context.Context, _ *provider.Request) chunks {
					asked++
					return func(yield func(provider.Chunk, error) bool) {
						for c, err := stream(ctx); yield(c, err) && err == nil; c, err = stream(ctx) {
						}
					}
				}))
				k := talk{messages: said("la seconde")}
				v := k.verdict(tool(t, tools.Spec{Name: "rename"}), "{}", func(c *Config) { c.Judge = judge })
				require.Equal(t, tools.Ask, v.Effect)
				require.True(t, v.Standing, "nothing is certain")
				require.Equal(t, 1, asked)
				require.LessOrEqual(t, time.Since(began), 21*time.Second)
			})
		})
	}
}
