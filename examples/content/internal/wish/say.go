package wish

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/portfolio"
)

// order are the steps of an artifact in their order, stepOf the step of an intent, and done how
// many steps are done at a status.
var (
	order = []string{portfolio.TopicResearch, portfolio.SkeletonCreator, portfolio.ContentWriter, portfolio.Humanizer,
		portfolio.VisualsCreator}
	intentOf = []string{ResearchTopic, CreateSkeleton, WriteContent, HumanizeContent, CreateVisuals}
	stepOf   = map[string]string{ResearchTopic: order[0], CreateSkeleton: order[1], WriteContent: order[2],
		HumanizeContent: order[3], CreateVisuals: order[4]}
	done = map[string]int{"research": 1, "skeleton": 2, "writing": 2, "creating_visuals": 4}
)

// text returns a text of words.json about an artifact; key may be the text itself.
func (r *Reader) text(key string, a *Artifact, at *Place) string {
	say, count := r.Pairs["say"], map[string]int{}
	text := cmp.Or(say[key], key)
	if a == nil {
		a = &Artifact{Title: "it", Status: "draft"}
	}
	published, sources, advice := "unpublished", "sources", "{status}"
	if a.Status == "published" {
		if published = "published"; !a.Published.IsZero() {
			published = "publishedOn"
		}
	}
	if a.Sources == 0 {
		sources = "noSources"
	}
	if a.Status == "draft" {
		advice = say["advice"]
	}
	for _, one := range at.Artifacts {
		count[one.Status]++
	}
	text = strings.NewReplacer("{published}", say[published], "{usedSources}", say[sources], "{advice}", advice,
		"{count}", say["count"]).Replace(text)
	text = strings.ReplaceAll(text, "{status}", "“{title}” "+r.Pairs["standing"][a.Status]+".")
	pairs := []string{"{title}", a.Title, "{tone}", a.Tone, "{date}", a.Published.Format("2 January 2006"),
		"{score}", cmp.Or(a.Score, say["unmeasured"])}
	for name, n := range map[string]int{"words": a.Words, "characters": a.Characters, "pictures": a.Pictures,
		"sources": a.Sources, "all": len(at.Artifacts), "done": count["published"], "ready": count["ready"],
		"work": len(at.Artifacts) - count["published"] - count["ready"] - count["archived"]} {
		pairs = append(pairs, "{"+name+"}", strconv.Itoa(n))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// suffix names an artifact in a message, whatever its title is.
func suffix(a *Artifact) string {
	if a == nil {
		return ""
	}
	return " (artifact " + a.ID + ")"
}

// offer makes w ask, with what is near as buttons.
func (r *Reader) offer(w Wish, why Why, key string, a *Artifact, at *Place) Wish {
	w.Why, w.Say = why, r.text(key, a, at)
	status := ""
	if a != nil {
		status = a.Status
	}
	for name := range strings.FieldsSeq(r.Pairs["near"][status]) {
		w.Options = append(w.Options, r.option(name, a, at))
	}
	return w
}

// option returns a button for an intent.
func (r *Reader) option(name string, a *Artifact, at *Place) Option {
	return Option{r.text(r.Intents[name].Label, a, at), r.Intents[name].Request + suffix(a)}
}

// which makes w ask for an artifact; message is sent with the one that is chosen.
func (r *Reader) which(w Wish, say, message string, among []Artifact) Wish {
	w.Why, w.Say, w.Artifact = Unclear, say, ""
	if len(among) == 0 {
		w.Say = r.Pairs["say"]["none"]
	}
	for i := range among[:min(len(among), 6)] {
		w.Options = append(w.Options, Option{among[i].Title, strings.TrimRight(message, ".!? ") + suffix(&among[i])})
	}
	return w
}

// steps sets the steps of w, with those that are missing before them.
func (w *Wish) steps(a *Artifact, pictures bool) {
	from := 0
	if a != nil {
		from = done[a.Status]
		if from == 0 && a.Status != "draft" && w.Intent != FullPipeline { // nothing is missing
			from = len(order)
		}
	}
	for i, one := range order {
		step := stepOf[w.Intent]
		needed := one == step || i >= from && (w.Intent == FullPipeline || w.Intent == Continue ||
			w.Intent == WriteContent && i < 2 || w.Intent == CreateSkeleton && i < 1)
		if needed && (pictures || one != portfolio.VisualsCreator) {
			w.Steps = append(w.Steps, one)
		}
	}
}
