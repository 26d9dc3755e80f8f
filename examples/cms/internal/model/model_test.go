package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func fresh() provider.Provider { return New() }

func TestATextAnswerConforms(t *testing.T) {
	providertest.Conformance(t, fresh, providertest.Strict())
}

func TestAnAnswerWithACallConforms(t *testing.T) {
	providertest.Conformance(t, fresh, providertest.Strict(), providertest.WithRequest(func() *provider.Request {
		return &provider.Request{Messages: []provider.Message{provider.User("Create a page called “Größe – 日本”")},
			Tools: []provider.Tool{{Name: "cms.createPage"}}}
	}))
}

// A talk is a conversation with the script, with the results of its calls.
type talk struct {
	t   testing.TB
	req provider.Request
}

func newTalk(t testing.TB) *talk {
	k := &talk{t: t}
	for _, name := range []string{"createPage", "updatePage", "findResource", "getPage", "addSectionToPage",
		"removeSection", "syncPageContents", "deletePage", "addPicture", "previewPage", "syncSectionElements"} {
		k.req.Tools = append(k.req.Tools, provider.Tool{Name: "cms." + name})
	}
	return k
}

// next returns the calls that come next, as texts, or the answer.
func (k *talk) next() (calls []string, answer string) {
	k.t.Helper()
	resp, err := provider.Generate(k.t.Context(), New(), &k.req)
	require.NoError(k.t, err)
	message := provider.Message{Role: provider.RoleAssistant}
	for _, c := range resp.Calls() {
		c.ID = strings.Repeat("x", len(k.req.Messages))
		calls = append(calls, strings.TrimPrefix(c.Name, "cms.")+" "+string(c.Input))
		message.Parts = append(message.Parts, provider.Part{Kind: provider.PartToolCall, Call: c})
	}
	if len(calls) == 0 {
		message = provider.Assistant(resp.Text())
	}
	k.req.Messages = append(k.req.Messages, message)
	return calls, resp.Text()
}

// say says a sentence.
func (k *talk) say(sentence string) (calls []string, answer string) {
	k.t.Helper()
	k.req.Messages = append(k.req.Messages, provider.User(sentence))
	return k.next()
}

// result gives the last call a result.
func (k *talk) result(text string) (calls []string, answer string) {
	k.t.Helper()
	last := k.req.Messages[len(k.req.Messages)-1].Parts[0].Call
	require.NotNil(k.t, last)
	k.req.Messages = append(k.req.Messages, provider.Message{Role: provider.RoleTool,
		Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: last.ID, Name: last.Name,
			Parts: []provider.Part{provider.TextPart(text)}})}})
	return k.next()
}

func TestValuesAreWhole(t *testing.T) {
	for sentence, want := range map[string]string{
		`Create a page called "Don't, then do: a page with a hero?"`: `{"name":"Don't, then do: a page with a hero?"}`,
		`create a page called 'It's time'`:                           `{"name":"It's time"}`,
		`Create a page named Über uns!`:                              `{"name":"Über uns"}`,
		`Could you create a page titled “Who, what” please?`:         `{"name":"Who, what"}`,
		`Create a page called Terms and Conditions`:                  `{"name":"Terms and Conditions"}`,
		"Make a FAQ page with a text that says \"a\nb\"":             `{"name":"FAQ","sections":[{"content":{"body":"a\nb"},"section":"text"}]}`,
		`Create a page called Jobs with a hero`:                      `{"name":"Jobs","sections":[{"content":{"title":"Jobs"},"section":"hero"}]}`,
	} {
		calls, answer := newTalk(t).say(sentence)
		require.Len(t, calls, 1, "%s: %s", sentence, answer)
		require.JSONEq(t, strings.ReplaceAll(want, "\n", `\n`), strings.TrimPrefix(calls[0], "createPage "), sentence)
	}
}

func TestOneRequestFollowsTheOther(t *testing.T) {
	k := newTalk(t)
	calls, _ := k.say(`Create a page called "A, then B", then rename A, then B to "C"`)
	require.Empty(t, calls, "the name has a comma, so it needs quotation marks")
	calls, _ = k.say(`Create a page called Jobs, then please add a quote to Jobs that says "Fine", and then publish Jobs`)
	require.Equal(t, []string{`createPage {"name":"Jobs"}`}, calls)
	calls, _ = k.result(`{"slug":"jobs-2","id":"pg_1"}`)
	require.Equal(t, []string{`addSectionToPage {"content":{"text":"Fine"},"page":"jobs-2","section":"quote"}`}, calls)
	calls, _ = k.result(`{}`)
	require.Equal(t, []string{`updatePage {"page":"jobs-2","status":"published"}`}, calls)
	_, answer := k.result(`{}`)
	require.Contains(t, answer, "at /jobs-2")
	require.Contains(t, answer, "The page Jobs is published.")
}

func TestOnlyTheFirstTextOfAMessageIsRead(t *testing.T) {
	k := newTalk(t)
	k.req.Messages = []provider.Message{provider.User("Delete Home"), {Role: provider.RoleUser, Parts: []provider.Part{
		memory.ToldBefore("The message before was stopped."), provider.TextPart("Create a page called Jobs"),
		provider.TextPart("On the screen: the page Home")}}, memory.HostMessage("A warning.")}
	calls, _ := k.next()
	require.Equal(t, []string{`createPage {"name":"Jobs"}`}, calls)
}

func TestAConversationThatWasShortenedRepeatsNoCall(t *testing.T) {
	k := newTalk(t)
	k.say("Create a page called One, then create a page called Two")
	k.result(`{"slug":"one"}`)
	k.result(`{"slug":"two"}`)
	k.req.Messages = append(k.req.Messages[:1], k.req.Messages[3:5]...) // the first call is gone
	calls, answer := k.next()
	require.Empty(t, calls)
	require.Contains(t, answer, "I don't see any more what was done")
}

// Each line of the help is a request that the script knows.
func TestTheHelpHasNoHoles(t *testing.T) {
	for list, name := range map[string]string{`{"items":[{"slug":"a-b","name":"A, then b"},{"slug":"c","name":"C"}]}`: "a-b",
		`{"items":[{"slug":"about","name":"About"},{"slug":"home","name":"Start"}]}`: "About"} {
		k := newTalk(t)
		k.req.Tools = append(k.req.Tools, provider.Tool{Name: "cms.listPages"})
		k.say("help")
		_, answer := k.result(list)
		offers := offer.FindAllStringSubmatch(answer, -1)
		require.Greater(t, len(offers), 15)
		named := 0
		for _, o := range offers {
			all := read(o[1])
			require.NotEmpty(t, all, o[1])
			if all[0].values["page"] == name {
				named++
			}
		}
		require.Equal(t, 9, named, answer)
	}
}

func TestThePageOfATitleIsRenamedIfItHasNoHero(t *testing.T) {
	k := newTalk(t)
	k.say("Change the title of Home to Start")
	k.result(home)
	calls, _ := k.result(`{"slug":"home","sections":[{"id":"s","section":"text"}]}`)
	require.Equal(t, []string{`updatePage {"name":"Start","page":"home"}`}, calls)
	k.say("Change the text of Home to Start")
	k.result(home)
	_, answer := k.result(`{"slug":"home","sections":[{"section":"text"},{"section":"text"}]}`)
	require.Equal(t, "The page Home has 2 sections of the kind text, not one.", answer)
}

func TestAnEditedCallIsSaid(t *testing.T) {
	k := newTalk(t)
	k.say("Create a page called Jobs")
	k.result(`{"slug":"press"}`)
	last := k.req.Messages[len(k.req.Messages)-2].Parts[0].Result
	last.Parts = append(last.Parts, provider.TextPart(`Note: a person changed the input of this call to {"name":"Press"}`))
	k.req.Messages = k.req.Messages[:len(k.req.Messages)-1]
	_, answer := k.next()
	require.Contains(t, answer, `a person changed the input of this call to {"name":"Press"}`)
}

// home is what a look-up of the start page returns.
var home = index.Render(index.Result{Hits: []index.Hit{{Item: index.Item{ID: "pg_1", Kind: "page", Name: "Home",
	Aliases: []string{"home"}}, Exact: true}}})

func TestAPictureThatWasUploadedIsIt(t *testing.T) {
	k := newTalk(t)
	k.say("put it on “Home” as the hero picture\n\nUploaded file: my $1.png")
	calls, _ := k.result(home)
	require.Equal(t, []string{`addPicture {"media":"my $1.png","page":"home","section":"hero"}`}, calls)
	k.result("{}")
	k.say("Put this picture on Home.\n\nUploaded file: oven.png")
	calls, _ = k.result(home)
	require.Equal(t, []string{`addPicture {"media":"oven.png","page":"home","section":"hero"}`}, calls)
	_, answer := newTalk(t).say("Uploaded file: oven.png")
	require.Contains(t, answer, "- `Put \"oven.png\" on Home`")
}

// FuzzSentences tries that no sentence panics or has no answer, and that what is added to a
// sentence either makes it none, or is in a value.
func FuzzSentences(f *testing.F) {
	for _, s := range []string{"create a page called X", `set the title of "a b" to 'c'`, "a's 's '", `"`, "''", "x's",
		"rename to", ". , ;", "“0”", "create a page called “7”", "\ue0009\ue001", `"""""`, "👍 👍👍", "שלום עולם",
		"\u202edelete About", "delete\x00About", "publish About", "create a page called é", "don’t", "„“”", "yes",
		"Uploaded file: ", "run the scenario x", strings.Repeat("delete About and ", 100), strings.Repeat("é", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		calls, answer := newTalk(t).say(s)
		require.NotEmpty(t, answer+strings.Join(calls, ""))
		for _, more := range []string{"never %s", "don't %s", "if it rains, %s", "should I %s?", "%s, unless I say no",
			"%s. Actually, scrap that", "%s - no, wait"} {
			for _, call := range first(newTalk(t).say(strings.Replace(more, "%s", s, 1))) {
				for _, word := range strings.Fields(strings.Replace(more, "%s", "", 1)) {
					quoted, _ := json.Marshal(word)
					require.Contains(t, call, strings.Trim(string(quoted), `".?`), "%s", call)
				}
			}
		}
	})
}

func first[T, U any](v T, _ U) T { return v }
