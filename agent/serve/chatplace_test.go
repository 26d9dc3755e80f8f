package serve_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/serve"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/uimessage"
)

// edit replaces a message by another, as useChat does, and posts it.
func (b *browser) edit(i int, id, text string) {
	b.t.Helper()
	b.messages = b.messages[:i:i]
	b.say(id, text)
}

// regenerate asks for another answer in the place of a message.
func (b *browser) regenerate(i int) {
	b.t.Helper()
	b.messages = b.messages[:i:i]
	b.post(obj{"trigger": "regenerate-message"})
}

// saidTo returns what users had said in each request to a model.
func saidTo(script *providertest.Model) (all [][]string) {
	for _, req := range script.Requests() {
		var said []string
		for _, m := range req.Messages {
			said = append(said, m.Text())
		}
		all = append(all, said)
	}
	return all
}

func TestAMessageReplacesWhatFollowsItsPlace(t *testing.T) {
	says := func(text string) func(*browser) { return func(b *browser) { b.say(text, text) } }
	for name, c := range map[string]struct {
		then  func(*browser)
		texts []string // that the browser shows afterwards, and after a reload
	}{
		"the same id and other text": {func(b *browser) { b.edit(2, "two", "2b") }, []string{"one", "A", "2b", "D"}},
		"a new id":                   {func(b *browser) { b.edit(2, "new", "2b") }, []string{"one", "A", "2b", "D"}},
		"the first message":          {func(b *browser) { b.edit(0, "one", "1b") }, []string{"1b", "D"}},
		"the first message, new id":  {func(b *browser) { b.edit(0, "new", "1b") }, []string{"1b", "D"}},
		"the same text":              {func(b *browser) { b.edit(2, "two", "two") }, []string{"one", "A", "two", "D"}},
		"the newest message": {func(b *browser) { b.edit(4, "three", "3b") },
			[]string{"one", "A", "two", "B", "3b", "D"}},
		"another answer":       {func(b *browser) { b.regenerate(5) }, []string{"one", "A", "two", "B", "three", "D"}},
		"another first answer": {func(b *browser) { b.regenerate(1) }, []string{"one", "D"}},
		"another answer, twice": {func(b *browser) { b.regenerate(3); b.regenerate(3) },
			[]string{"one", "A", "two", "E"}},
		"there and back": {func(b *browser) { b.edit(2, "two", "2b"); b.edit(2, "two", "two") },
			[]string{"one", "A", "two", "E"}},
		"after a reload": {func(b *browser) {
			b.messages = b.history()
			b.edit(2, b.messages[2].ID, "2b")
		}, []string{"one", "A", "2b", "D"}},
		"after a reload, another answer": {func(b *browser) { b.messages = b.history(); b.regenerate(3) },
			[]string{"one", "A", "two", "D"}},
		"and goes on": {func(b *browser) { b.edit(2, "two", "2b"); says("four")(b) },
			[]string{"one", "A", "2b", "D", "four", "E"}},
	} {
		t.Run(name, func(t *testing.T) {
			script := providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C"),
				providertest.Say("D"), providertest.Say("E"))
			b := newSiteOf(t, agent.Config{Provider: script}, serve.Config{}).browser("ann", "c-1")
			for _, text := range []string{"one", "two", "three"} {
				b.say(text, text)
			}
			c.then(b)
			var shown []string
			for _, m := range b.messages {
				shown = append(shown, m.Text())
			}
			require.Equal(t, c.texts, shown)
			require.Equal(t, c.texts, b.texts())
			b.requireHistory()
			said := saidTo(script)
			require.Equal(t, c.texts[:len(c.texts)-1], said[len(said)-1], "the model doesn't read what was replaced")
		})
	}
}

func TestAClientThatPostsOnlyItsNewestMessage(t *testing.T) {
	script := providertest.Script(providertest.Say("A"), providertest.Say("B"), providertest.Say("C"),
		providertest.Say("D"), providertest.Say("E"))
	s := newSiteOf(t, agent.Config{Provider: script}, serve.Config{})
	b := s.browser("ann", "c-1")
	post := func(id, text, trigger string) string {
		t.Helper()
		res := s.request("ann", "POST", "chat", obj{"id": "c-1", "trigger": trigger,
			"message": &uimessage.Message{ID: id, Role: "user", Parts: []uimessage.Part{{Type: "text", Text: text}}}})
		require.Equal(t, 200, res.StatusCode)
		b.messages = nil
		b.read(res)
		return b.last().Text()
	}
	require.Equal(t, "A", post("u-1", "one", ""))
	require.Equal(t, "B", post("u-2", "two", ""))
	require.Equal(t, "A", post("u-1", "one", ""), "the answer to what was sent")
	require.Equal(t, "B", post("u-2", "two", ""))
	require.Equal(t, "C", post("u-2", "two", "regenerate-message"))
	require.Equal(t, "D", post("u-1", "1b", ""))
	require.Equal(t, []string{"1b", "D"}, b.texts())
	require.Equal(t, "E", post(b.history()[0].ID, "1c", ""))
	require.Equal(t, []string{"1c", "E"}, b.texts())
}

func TestAnEditStopsTheAnswerInProgress(t *testing.T) {
	model, g := held(1)
	s := newSiteOf(t, agent.Config{Provider: model}, serve.Config{})
	s.must("ann", "POST", "sessions/send", obj{"session": "c-1", "text": "x"}, nil)
	<-g.called
	b := s.browser("ann", "c-1")
	b.messages = b.history()
	b.edit(0, b.messages[0].ID, "y")
	require.Equal(t, "Working done.", b.last().Text())
	require.Equal(t, []string{"y", "Working done."}, b.texts())
	b.requireHistory()
}

func TestAMessageThatWasPrunedCannotBeReplaced(t *testing.T) {
	s := newSite(t, serve.Config{}, providertest.Say("A"), providertest.Say("B"), providertest.Say("C"))
	b := s.browser("ann", "c-1")
	b.say("u-1", "one")
	b.say("u-2", "two")
	s.wait("c-1")
	_, err := s.agent.Session("c-1").Prune(t.Context())
	require.NoError(t, err)
	p := s.refused("ann", "POST", "chat", obj{"id": "c-1", "messages": []obj{
		{"id": "u-1", "role": "user", "parts": []obj{{"type": "text", "text": "1b"}}}}})
	require.Equal(t, "The conversation can't go back to this message; send a new one.", p.Detail)
	b.say("u-3", "three")
	require.Equal(t, []string{"one", "A", "two", "B", "three", "C"}, b.texts())
}
