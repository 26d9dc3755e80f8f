package intent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/intent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
)

func TestWhatASentenceDoesWithAMatch(t *testing.T) {
	d := plainHost(t)
	for band, texts := range map[intent.Band]string{
		intent.Act: `publish it
			Publish it, please!
			ok, now publish
			yes please, publish it
			Could you publish it?
			Hi, could you draft the newsletter for May? Thanks!
			Can't you please publish this?
			can you publish this now
			Would you mind adding a picture?
			The article is ready. Publish it. Thanks a lot, no rush.
			Don't forget to publish the article
			Change the title to "Don't panic"
			that was wrong, change it back
			where are we?
			Veröffentliche den Beitrag
			Könntest du die Überschrift kürzen?
			Titel bitte in "Nichts" ändern`,
		intent.Confirm: `Can you publish posts?
			publish it, but not today
			Publish it only if Ann agrees
			We can publish it once legal has signed off
			Publish it?
			Don't wait for me, publish it
			I think we are ready to publish
			reserch this topic
			throw the old page out
			We have no FAQ page yet. Could you add one?
			veröfentliche den Artikel
			Du kannst den Artikel jetzt rausgeben`,
		intent.Offer: `don't publish it
			Don't, under any circumstances, publish the draft
			Please do not, I repeat, not publish this
			Don't research, write or publish anything yet.
			publish it? no!
			Publish it... wait, don't
			What does publish do?
			Could you tell me how to publish?
			I wonder whether to publish it
			explain humanize
			He wants me to delete the page
			I'll publish it myself
			Let's not publish yet
			The button says "publish", what is it for?
			create no new pages
			Löschen? Nein!
			Veröffentliche das bitte nicht
			Keine Seiten löschen
			Es darf keine Seite gelöscht werden
			Kann ich das später noch veröffentlichen?
			Kannst du mir sagen, wie ich Bilder hinzufüge?`,
		intent.Ask: `hello
			I never said that`,
	} {
		for text := range strings.SplitSeq(texts, "\n") {
			text = strings.TrimSpace(text)
			v := d.Match(text)
			require.Equal(t, band, v.Band(), "%q: %+v", text, v)
		}
	}
}

// A negation or a question that a pattern names is part of what is asked for.
func TestAPatternMayNegateAndAsk(t *testing.T) {
	d, err := intent.New(intent.Config{Intents: []intent.Intent{
		{Name: "skip", Patterns: []intent.Pattern{{Text: `(?:without|no) (?:any )?images`, Weight: 1},
			sure(`i'll add images myself`)}},
		{Name: "help", Patterns: []intent.Pattern{sure(`what can you do`), sure(`how do i (?:\S+ ){0,2}start`)}},
	}})
	require.NoError(t, err)
	for text, want := range map[string]intent.Band{
		"No images please": intent.Act, "without any images": intent.Act, "what can you do?": intent.Act,
		"How do I start?": intent.Act, "i'll add images myself": intent.Act,
		"don't do it without images": intent.Offer, "why are there no images?": intent.Offer,
	} {
		require.Equal(t, want, d.Match(text).Band(), text)
	}
}

func TestAYesThatIsTakenBackIsNone(t *testing.T) {
	for _, text := range []string{"yes", "Yes.", "yes please", "Yep, go ahead", "ok", "do it", "sure, publish it", "Ja",
		"ja, gern", "ja bitte", "mach das", "Okay, no problem", "yes, thanks!"} {
		require.True(t, intent.Yes(text), text)
	}
	for _, text := range []string{"", "no", "yes, but not the last one", "yes, but without the images", "sure?",
		"ok, wait", "yes. Actually no.", "yes, if Ann agrees", "yes, only the first", "yes, tomorrow", "not ok",
		"yesterday", "ja, aber ohne Bilder", "ja, aber noch nicht veröffentlichen", "ja, später",
		"ja, wenn du fertig bist", "nein", "I said yes", "yes no", "maybe"} {
		require.False(t, intent.Yes(text), text)
	}
}

// The model decides what the rules only know to be forbidden or asked about, but its yes has to be
// confirmed.
func TestAModelIsAskedAboutAMatchThatIsForbidden(t *testing.T) {
	for _, tc := range []struct {
		text string
		step providertest.Step
		want intent.Verdict
	}{
		{"Don't publish it yet", opinion("something else", 1), intent.Verdict{From: "model"}},
		{"Don't publish it yet", opinion("publish", 1),
			intent.Verdict{Intent: "publish", Confidence: 0.85, From: "model"}},
		{"What does undo do?", opinion("status", 0.95),
			intent.Verdict{Intent: "status", Confidence: 0.95, From: "model"}},
		{"Don't publish it, but look at the status", opinion("status", 1),
			intent.Verdict{Intent: "status", Confidence: 1, From: "both"}},
	} {
		model := providertest.Script(tc.step)
		ask := func(ctx context.Context, req *provider.Request) (*provider.Response, error) {
			return provider.Generate(ctx, model, req)
		}
		d := plainHost(t, intent.Config{Model: ask})
		v, err := d.Detect(t.Context(), tc.text)
		require.NoError(t, err)
		require.Equal(t, tc.want, v, tc.text)
		require.Len(t, model.Requests(), 1)
	}
}

// Any text is read in a short time, and never panics.
func FuzzMatch(f *testing.F) {
	d := plainHost(f)
	for _, file := range []string{"forbid_ask.txt", "positive_seen.txt"} {
		for i, s := range sentencesIn(f, file) {
			if i%25 == 0 {
				f.Add(s.text)
			}
		}
	}
	f.Add(strings.Repeat("„a ", 200))
	f.Add(strings.Repeat("publish it, ", 50))
	f.Add("\xff'’..,,??\n\n(\"")
	f.Fuzz(func(t *testing.T, text string) {
		v := d.Match(text)
		require.Equal(t, v, d.Match(text))
		intent.Yes(text)
	})
}
