package report

import (
	"encoding/json"
	"fmt"
	"strings"
)

// encode returns what these types encode to.
func encode(v any) string {
	data, _ := json.Marshal(v) // texts alone
	return string(data)
}

func outlineOf(topic string) outline {
	title := strings.ToUpper(topic[:1]) + topic[1:]
	return outline{Title: title,
		Sections: []string{"Where it stands", "What changed", "What comes next"},
		Questions: []string{"How widespread is the interest in " + topic + " today?",
			"What has changed about " + topic + " in the last ten years?", "What do people expect of " + topic + "?"}}
}

// pick returns one of the texts.
func pick(of string, texts ...string) string {
	return texts[int(random(of, len(texts))*float64(len(texts)))]
}

// findings makes up what a library would know.
func findings(query string) string {
	share, towns := 20+int(60*random("share", query)), 3+int(40*random("towns", query))
	return fmt.Sprintf("%s %s Source: %s.",
		pick(query+"a", fmt.Sprintf("Of those who were asked, %d %% follow it closely.", share),
			fmt.Sprintf("In %d of a hundred places it is a matter of every day.", share),
			fmt.Sprintf("The share has grown to %d %%.", share)),
		pick(query+"b", fmt.Sprintf("It was tried in %d towns, and most of them kept it.", towns),
			fmt.Sprintf("%d studies come to the same result.", towns)),
		pick(query+"c", "the yearbook", "a survey of readers", "the city archive", "three interviews"))
}

// A text is a draft.
type text struct {
	Title    string
	Lead     string
	Sections []section
}

type section struct {
	Title      string
	Paragraphs []string
}

func textOf(in draftInput) text {
	t := text{Title: in.Title, Lead: pick(in.Title, "Three questions, three answers, and two figures that show how they "+
		"belong together.", "What is known, what isn't, and what follows from it.",
		"A short look at what has been written, measured and hoped.")}
	for i, name := range in.Sections {
		s := section{Title: name}
		if i < len(in.Findings) {
			found, source, _ := strings.Cut(in.Findings[i], " Source: ")
			s.Paragraphs = []string{found, fmt.Sprintf("%s (%s)", pick(in.Title+name,
				"None of this is surprising, taken alone. Together it explains why the question comes up again and again.",
				"Whoever looks at it for the first time should begin here: the rest follows from this figure.",
				"Opinions differ about the reasons. They don’t differ about the direction."),
				strings.TrimSuffix(source, "."))}
		}
		t.Sections = append(t.Sections, s)
	}
	return t
}

var topics = strings.Split("lighthouses, bread and how it rises, night trains, urban beekeeping, tides, sea walls, "+
	"the return of letters, bicycle bridges, paper maps, school gardens, mountain huts, fishing quotas, public clocks, "+
	"salt marshes, tram lines, old orchards, river swimming, weather stations, street markets, canal boats", ", ")

// Topic returns the topic with a number. There are 20, then they come again.
func Topic(n int) string { return topics[n%len(topics)] }
