package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
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
			Tools: []provider.Tool{{Name: cmstools.CreatePage}}}
	}))
}

// answers says a sentence and requires an answer with these parts.
func (b *trial) answers(sentence string, parts ...string) {
	b.t.Helper()
	answer, _ := b.say(sentence)
	for _, part := range parts {
		require.Contains(b.t, answer, part, sentence)
	}
}

func TestATakenAddressIsCorrectedAndSaid(t *testing.T) {
	b := newTrial(t)
	b.answers("Create an About page with a hero titled Hello, then publish it",
		`The address /about was taken, so I created the page at /about-2.`,
		"The page \"About\" is published, at /about-2.")
	p, err := b.site.GetPage(t.Context(), "about-2", "")
	require.NoError(t, err)
	require.Equal(t, "published", p.Status)
}

func TestAnUnsureNameIsAskedAndYesTakesTheOnlyOne(t *testing.T) {
	b := newTrial(t)
	b.answers("Create a page called Members, then describe it as the people who work here, a good team")
	before := b.state()
	b.answers("Rename my taem page to Our Team", `I'm not sure which page is "taem"`,
		"\n- `Rename my members page to Our Team`")
	require.Equal(t, before, b.state())
	b.answers("Yes", `The page "Members" is called "Our Team" now.`)
	b.answers("Describe Contact as phone, mail, address", "is described")
	b.answers("Publish the phone page", `I took "phone" to mean the page "Contact".`)
}

func TestItIsWhatTheConversationWasAbout(t *testing.T) {
	b := newTrial(t)
	b.answers("Delete it", "Which page do you mean?")
	b.answers("Create a page called Jobs")
	b.answers("Add a hero to it titled Work here", `The page "Jobs" has a hero`)
	b.answers("Publish it", "is published, at /jobs")
}

func TestARejectedCallIsSaidAndWhatFollowsIsNotDone(t *testing.T) {
	b := newTrial(t)
	before := b.state()
	b.decide = "A person rejected this call. Keep it."
	b.answers("Delete Contact and rename Blog to News",
		`I didn't delete the page "Contact", because you rejected it (Keep it).`,
		"Nothing was changed.", "Not done: 1 more")
	b.decide = "A person rejected this call and suggests instead: take it offline"
	b.answers("Delete Contact", "You rejected that and suggested: take it offline.")
	b.decide = "A person rejected this call and suggests instead: sing a song"
	b.answers("Delete Contact", "- `take contact offline`")
	require.Equal(t, changes(before, b.state()), changes(before, b.state()))
	b.decide = "The call wasn't run: rejected: expired. Nobody decided in time."
	b.answers("Delete About", "nobody approved it in time")
}

func TestAChangeIsUndone(t *testing.T) {
	for _, sentence := range []string{`Change the hero title on About to "Hi"`, "Rename About to Us",
		"Create a page called Jobs",
		`Add a quote "Fine" to Home`, `Write a post "News"`, `Change the text of the post Spring sale to "Over"`,
		"Publish Services"} {
		b := newTrial(t)
		before := b.state()
		b.answers(sentence)
		require.NotEqual(t, before, b.state(), sentence)
		b.answers("Undo that", "The last change is undone.")
		require.Empty(t, changes(before, b.state()), sentence)
	}
}

func TestInPlanModeWishesBecomeAPlanThatIsTried(t *testing.T) {
	b := newTrial(t)
	b.mode = cmstools.Architect
	b.req.Tools = []provider.Tool{{Name: cmstools.ValidatePlan}, {Name: "cms.findResource"}, {Name: "cms.getPage"},
		{Name: "cms.listSections"}}
	before := b.state()
	b.answers("Create a page called Jobs, then add a hero section to Jobs titled Twice",
		"1. create the page \"Jobs\", with a hero", "it works")
	b.answers("Create a page called Contact", "it doesn't work", `use another slug such as "contact-2"`)
	b.answers("Add a hero-new section to home", "it doesn't work", `did you mean "hero"?`)
	b.mode, b.req.Tools = cmstools.Ask, b.req.Tools[1:]
	b.answers("Delete About", "The mode Edit has it.")
	require.Equal(t, before, b.state())
}

func TestAnUploadedFileIsWhatItMeans(t *testing.T) {
	b := newTrial(t)
	b.answers("Uploaded file: oven.jpg", "- `put oven.jpg on Home as the hero picture`")
	b.answers("put oven.jpg on Home as the hero picture", "The hero on the page \"Home\" has the picture oven.jpg now.")
	b.answers("Add it to the gallery on About\n\nUploaded file: shop.jpg", "has the picture shop.jpg")
}

func TestAtALimitTheCallsAreSummarized(t *testing.T) {
	b := newTrial(t)
	b.say("list pages")
	b.req.Messages = append(b.req.Messages[:len(b.req.Messages)-1],
		provider.User("You have reached the limit of this run."))
	b.req.ToolChoice.Mode = provider.ChooseNone
	resp, err := provider.Generate(t.Context(), New(), &b.req)
	require.NoError(t, err)
	require.Equal(t,
		"This run is at its limit, so I stop here. These calls succeeded: cms.listPages. Ask again for what is left.",
		resp.Text())
}

func TestItSaysThatItIsAStandIn(t *testing.T) {
	b := newTrial(t)
	b.answers("help", "stands in for a language model", "- `create a page called …`")
	b.answers("sing a song", "I stand in for a language model", "\n- `")
	info, ok := provider.Info(New())
	require.True(t, ok)
	require.Zero(t, info.Prices.Cost(provider.Usage{Input: 1e6, Output: 1e6}))
}

func TestNoWordHasTwoMeanings(t *testing.T) {
	var file struct{ Verbs, Words map[string]string }
	require.NoError(t, json.Unmarshal(wordFile, &file))
	for _, groups := range []map[string]string{file.Verbs, file.Words} {
		meant := map[string]string{}
		for group, list := range groups {
			for word := range strings.SplitSeq(list, "|") {
				require.Empty(t, meant[word], "%q is in %s, too", word, group)
				meant[word] = group
			}
		}
	}
}

// writes returns the calls that a sentence leads to on a site where each look-up finds something.
func writes(t testing.TB, sentence string) (made []call) {
	req := provider.Request{Messages: []provider.Message{provider.User(sentence)}}
	for _, form := range table.Forms {
		req.Tools = append(req.Tools, provider.Tool{Name: form.Tool})
	}
	req.Tools = append(req.Tools, provider.Tool{Name: "cms.getPage"}, provider.Tool{Name: "cms.listSections"})
	results := map[string]string{"cms.findResource": `{"id":"pg_1","kind":"page","name":"About","aliases":["about"],"match":"exact"}`,
		"cms.getPage": `{"slug":"about","name":"About","sections":[{"id":"s1","section":"hero","content":{}},{"id":"s2","section":"quote"}]}`}
	for n := range 20 {
		resp, err := provider.Generate(t.Context(), New(), &req)
		require.NoError(t, err, sentence)
		if len(resp.Calls()) == 0 {
			require.NotEmpty(t, resp.Text(), sentence)
			return made
		}
		for _, c := range resp.Calls() {
			c.ID = strings.Repeat("x", n+1) + c.Name
			req.Messages = append(req.Messages,
				provider.Message{Role: provider.RoleAssistant,
					Parts: []provider.Part{{Kind: provider.PartToolCall, Call: c}}},
				provider.Message{Role: provider.RoleTool,
					Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: c.ID,
						Name: c.Name, Parts: []provider.Part{provider.TextPart(results[c.Name] + "\n")}})}})
			if d := c.Name; !strings.Contains(d, ".get") && !strings.Contains(d, ".list") && !strings.Contains(d,
				".find") &&
				!strings.Contains(d, ".preview") && d != "http.fetch" {
				made = append(made, call{tool: d, input: object(string(c.Input))})
			}
		}
	}
	require.Fail(t, "no end", sentence)
	return nil
}

// FuzzSentences tries that no sentence panics or has no answer, that all values are parts of the
// sentence, and that a prohibition, a question and a take-back change nothing.
func FuzzSentences(f *testing.F) {
	for _, s := range []string{"create a page called X", `set the title of "a b" to 'c'`, "a's 's '", `"`, "''", "x's",
		"rename to", ". , ;", "add a section to", "\ue0009\ue001", "delete the quote on About", `"""""`, "👍 👍👍",
		"שלום עולם",
		"\u202edelete About", "delete\x00About", "publish About", "rename About to Us", "Mach das rückgängig",
		"delete it",
		"don’t", "with with with", "„“”", strings.Repeat("delete About and ", 100), strings.Repeat("é", 5000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range understand(s).wishes {
			for field, v := range w.values {
				if field != "status" {
					require.Contains(t, s, v.text)
				}
			}
		}
		writes(t, s)
		if !strings.ContainsAny(s, "\"“„«»‘'’‚.!?;:,—–…\n") && len(understand(s).wishes) < 2 {
			require.Empty(t, writes(t, "don't "+s))
			require.Empty(t, writes(t, s+". No wait, don't."))
			require.Empty(t, writes(t, "what if I "+s+"?"))
			require.Empty(t, writes(t, "can you please "+s+"?"))
		}
	})
}

func TestAPlanThatFailsIsToldInWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, `I couldn't carry out the plan: slug "contact" exists already.`, failed("propose three plans",
		"run: plan/1\nstatus: failed plan \"plan-2\": node \"create\" failed: slug \"contact\" exists already\n\n"+
			"Undone: define.\n\ndefine answered: {}.", false))
}

func TestAPageThatIsPublishedAtOnceIsNotCalledADraft(t *testing.T) {
	b := newTrial(t)
	answer, _ := b.say("Create a page Jobs and publish it")
	require.Contains(t, answer, "published")
	require.NotContains(t, answer, "draft")
	answer, _ = b.say("Create a page Press")
	require.Contains(t, answer, "It is a draft until you publish it.")
}
