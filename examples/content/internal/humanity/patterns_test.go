package humanity

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// samples has for each pattern texts that it finds, and texts that it doesn't.
var samples = map[string]struct{ yes, no []string }{
	"significance inflation": {[]string{"It stands as a testament to their work.", "This marks a significant shift.",
		"Sleep plays a crucial role in health."}, []string{"The law changed in 2019.", "She played the role of Nora."}},
	"superficial analysis": {[]string{"Sales rose, highlighting the demand.",
		"They met weekly, thereby ensuring trust."},
		[]string{"Highlighting text helps readers.", "She was reflecting on it."}},
	"promotional language": {[]string{"A breathtaking view.", "Our world-class, cutting-edge platform."},
		[]string{"The view is wide.", "The class read about the world."}},
	"vague attribution": {[]string{"Experts agree on this.", "Studies suggest that it works.",
		"It is widely believed to help.", "It was featured in major outlets.",
		"The tool garnered widespread attention."},
		[]string{"The Guardian reviewed it in May.", "He was featured in the school play.",
			"A study by Gallup found 23 percent.", "The experts met on Monday."}},
	"outline-like section": {[]string{"Despite its many challenges, it grew.", "Challenges and opportunities"},
		[]string{"The team solved three problems.", "Despite the rain we went."}},
	"AI vocabulary": {[]string{"We delve into the tapestry of data.", "Leverage this robust realm."},
		[]string{"We look at the data.", "A lever moves the stone."}},
	"copula avoidance": {[]string{"The hall serves as a library.", "The town boasts a museum."},
		[]string{"The hall is a library.", "She serves coffee."}},
	"negative parallelism": {[]string{"It's not just fast, it's safe.", "This isn't merely a tool.",
		"It is not about speed."}, []string{"It isn't fast.", "We are not ready."}},
	"rule of three": {[]string{"It is fast, safe, and cheap. It is clear, bold and new."},
		[]string{"It is fast, safe and cheap.", "It is fast and safe."}},
	"elegant variation": {[]string{"The company grew. The firm hired, and the organization moved."},
		[]string{"The company grew. The company hired.", "The firm paid the company."}},
	"false range": {[]string{"Everything from pens to planes.", "From cooking to travel to sport.",
		"Whether you're a beginner or a professional, read on."},
		[]string{"Open from nine to five.", "We flew from Oslo to Rome."}},
	"em dash overuse": {[]string{"It was late — very late — and cold — too cold."},
		[]string{"It was late — very late — and cold.", "It was late – very late – and – I think – cold."}},
	"boldface overuse": {[]string{"Use **this** and **that** and **those** now."},
		[]string{"Use **this** now.", "2 ** 3 is 8"}},
	"inline-header list": {[]string{"- **Speed:** it is fast\n- **Cost:** it is cheap"},
		[]string{"- it is fast\n- it is cheap", "**Note** this is text"}},
	"title case heading": {[]string{"## Why Remote Teams Fail Today"},
		[]string{"## Why remote teams fail today", "# The Title Of This Text", "## Two words"}},
	"emoji": {[]string{"Launch day 🚀", "Done ✅"}, []string{"Launch day :)", "10 °C"}},
	"staccato": {[]string{"No meetings. No noise. Just results.", "It is quick. It works. It will stay. Try it."},
		[]string{"We tried it. It failed, because nobody had the task. We went on.", "- Fast.\n- Safe.\n- Cheap.",
			"Snow.\nMore snow.\nThe sound of a shovel."}},
	"repetition": {[]string{"Good leaders listen to all. Good leaders ask what is wrong. Good leaders act on it.",
		"We wrote it all down. Nobody read it. We wrote it all down."},
		[]string{"We asked them. We asked the others. They had no time.", "Grey one, white one, one with a hole."}},
	"collaborative artifact": {[]string{"I hope this helps!", "Certainly! A text follows.", "Here is a draft for you.",
		"Let me know if you want more."}, []string{"This helps teams.", "He was certainly late."}},

	"knowledge-cutoff disclaimer": {[]string{"As of my last update, it was open.",
		"As an AI language model, I think so."}, []string{"As of May, it was open.", "The data ends in 2021."}},
	"sycophancy": {[]string{"Great question! Let's see.", "You're absolutely right."},
		[]string{"The question was hard.", "Turn right."}},
	"filler phrase": {[]string{"In order to win, train.", "It is important to note that it rains.",
		"In today's fast-paced world, rest."}, []string{"To win, train.", "Put it in order."}},
	"excessive hedging": {[]string{"It might possibly rain.", "Perhaps it could generally work."},
		[]string{"It might rain.", "It could work. Perhaps not."}},
	"generic conclusion": {[]string{"In conclusion, we won.", "The future looks bright.", "Only time will tell."},
		[]string{"We concluded the talks.", "The lamp is bright."}},
}

func TestEachPatternFindsWhatItIsAbout(t *testing.T) {
	require.Len(t, Patterns, 24)
	require.Len(t, samples, 24)
	for _, p := range Patterns {
		s, ok := samples[p.Name]
		require.True(t, ok, p.Name)
		require.NotEmpty(t, p.Advice)
		for _, text := range s.yes {
			require.NotEmpty(t, p.Find(text), "%s: %s", p.Name, text)
		}
		for _, text := range s.no {
			require.Empty(t, p.Find(text), "%s: %s", p.Name, text)
		}
	}
}

func TestCodeAndAddressesDontCount(t *testing.T) {
	require.Empty(t,
		Check("Run `leverage --robust` and see [docs](https://example.com/delve/realm).\n```\ndelve\n```").Found)
	require.Equal(t, "Not measured: there is no text", Check("").Summary)
}

func TestRevisingRaisesTheScoreAndKeepsWhatItMust(t *testing.T) {
	for name, s := range samples {
		for _, text := range s.yes {
			require.GreaterOrEqual(t, Check(Revise(text)).Score, Check(text).Score, "%s: %s", name, text)
		}
	}
	text :=
		"## Why Remote Teams Fail Today\n\nIn order to win — always — teams delve into “robust” data — see [IMAGE: a robust " +
			"team] and ![x](/images/a).\n\n- **Speed:** fast"
	got := Revise(text)
	require.Contains(t, got, "[IMAGE: a robust team]")
	require.Contains(t, got, "![x](/images/a)")
	require.Contains(t, got, "## Why remote teams fail today\n\nTo win, always, teams look at “robust” data, see")
	require.Equal(t, got, Revise(got), "nothing is left to do")
}

func TestAReportSaysWhere(t *testing.T) {
	r := Check("We delve into the tapestry of data, in this robust and multifaceted realm. No meetings. No noise. Just us.")
	require.Equal(t, []string{"delve", "tapestry", "robust"}, r.Where["AI vocabulary"])
	require.Equal(t, []string{"no meetings no noise just us"}, r.Where["staccato"])
	require.Len(t, r.Where, len(r.Found))
}
