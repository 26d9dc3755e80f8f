package humanity

import (
	"regexp"
	"strings"
	"unicode"
)

// Patterns are all patterns, in the order of the catalog.
var Patterns = []Pattern{
	{"significance inflation", "say what happened, and not how important it is",
		phrases(
			`\btestament to\b|\bpivotal (?:moment|point)\b|\bmarks? a (?:significant|pivotal|major|turning)\b|\blasting (?:legacy|impact)\b|\bindelible mark\b|\bunderscores? (?:its|the) (?:importance|significance)\b|\bplays? an? (?:vital|crucial|pivotal|significant) role\b`)},
	{"superficial analysis", "end the sentence, or say how",
		phrases(
			`, (?:thereby |thus )?(?:highlighting|underscoring|emphasizing|reflecting|showcasing|symbolizing|ensuring|fostering|contributing to|demonstrating|illustrating|cementing|paving the)\b`)},
	{"promotional language", "describe it without praise",
		phrases(
			`\b(?:breathtaking|nestled|stunning|must-(?:see|visit|have|read)|world-class|groundbreaking|cutting-edge|state-of-the-art|unparalleled|game-chang\w+|revolutionary|rich heritage|best-in-class)\b`)},
	{"vague attribution", "name who says so, or leave it out",
		phrases(
			`\b(?:featured|covered|profiled) (?:in|by) (?:major|leading|numerous|several|multiple|prominent)\b|\bgarnered (?:significant|widespread|considerable|national) (?:attention|coverage|acclaim)\b|\b(?:significant|widespread) media (?:coverage|attention)\b|\b(?:experts|industry reports|observers|critics|analysts|many people|studies|research|some) (?:argue|say|believe|suggest|suggests|show|shows|agree|note|have (?:noted|cited|shown))\b|\bit is (?:widely|generally|often) (?:believed|said|considered|regarded)\b`)},
	{"outline-like section", "leave the section out, or give facts",
		phrases(
			`\bdespite (?:its|these|the|their) (?:\w+ ){0,4}(?:challenges|successes|obstacles)\b|\bchallenges and (?:future|opportunities|prospects)\b|\bfuture (?:prospects|outlook)\b|\bfaces (?:several|numerous|many) challenges\b`)},
	{"AI vocabulary", "use the plain word",
		phrases(
			`\b(?:delv(?:e|es|ed|ing)|tapestry|leverag(?:e|es|ed|ing)|seamless(?:ly)?|intricate|intricacies|multifaceted|realm|ever-evolving|ever-changing|robust|holistic|synerg(?:y|ies)|paradigm|elevat(?:e|es|ing)|unlock(?:s|ing)?|harness(?:es|ing)?|embark(?:s|ing)?|navigat(?:e|ing) the|interplay|meticulous(?:ly)?|empower(?:s|ed|ing)?|transformative|nuanced|cornerstone|full potential|foster(?:s|ed|ing)? an?)\b`)},
	{"copula avoidance", "say is or has",
		phrases(
			`\b(?:serves|functions|acts|stands) as (?:a|an|the)\b|\bboasts (?:a|an|over|more)\b|\brepresents an? (?:\w+ )?(?:shift|step|opportunity|approach)\b`)},
	{"negative parallelism", "say what it is",
		phrases(
			`\bnot (?:just|only|merely|simply)\b[^.!?\n]{1,80}?(?:,|;|—|–|\bbut\b)|\b(?:it's|it is|this is) not about\b|\b(?:isn't|aren't|wasn't) (?:just|merely|only|simply)\b`)},
	{"rule of three", "list what there is, be it two or four", more(`\b[\pL-]+, [\pL-]+,? and [\pL-]+\b`, 100, 1)},
	{"elegant variation", "repeat the word", variation},
	{"false range", "name the things",
		phrases(
			`\beverything from [^.,;\n]{2,60}? to\b|\bfrom [\pL' -]{2,40} to [\pL' -]{2,40} to [\pL]|\bwhether you(?:'re| are) [^.!?\n]{2,60}? or\b|\branging from [^.;\n]{2,60}? to\b`)},
	{"em dash overuse", "use a comma, a colon or a new sentence", more(`—`, 150, 2)},
	{"boldface overuse", "emphasize one thing, or nothing", more(`\*\*[^*\n]+\*\*`, 50, 2)},
	{"inline-header list", "write sentences, or a plain list", phrases(`(?m)^\s*(?:[-*+]|\d+[.)]) +\*\*[^*\n]+\*\*`)},
	{"title case heading", "capitalize the first word", titleCase},
	{"emoji", "use words", phrases(`[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]`)},
	{"staccato", "join the fragments", staccato},
	{"repetition", "say it once", repetition},
	{"collaborative artifact", "leave it out",
		phrases(
			`\bi hope this helps\b|\blet me know if\b|\bwould you like me to\b|\bhere(?:'s| is) (?:a|an|the|your) (?:\w+ )?(?:draft|article|post|version|outline)\b|(?m:^(?:certainly|of course|sure|absolutely)!)|\bfeel free to (?:ask|reach|adjust)\b`)},
	{"knowledge-cutoff disclaimer", "look it up, or leave it out",
		phrases(
			`\bas of my (?:last|latest|knowledge)\b|\bmy (?:knowledge|training) (?:cutoff|data)\b|\bas an ai\b|\bwhile (?:specific )?details are (?:limited|scarce)\b|\bi (?:can't|cannot) browse\b`)},
	{"sycophancy", "answer",
		phrases(
			`\b(?:great|excellent|fantastic) (?:question|point)\b|\byou(?:'re| are) absolutely right\b|\bwhat an? (?:great|fantastic|wonderful|excellent)\b`)},
	{"filler phrase", "leave it out",
		phrases(
			`\bin order to\b|\bdue to the fact that\b|\bat this point in time\b|\bit is (?:important|worth|crucial|essential) (?:to note|to remember|noting|mentioning)\b|\bit's (?:important to note|worth noting)\b|\bwhen it comes to\b|\bat the end of the day\b|\bin today's\b|\bneedless to say\b|\bit's (?:important|crucial|essential) to (?:remember|understand)\b|\bin an (?:era|age|world) (?:where|of)\b|\bthat (?:being )?said,|\bhas the ability to\b|\bin the world of\b`)},
	{"excessive hedging", "say it, or say what is unknown", hedging},
	{"generic conclusion", "end with the last fact",
		phrases(
			`\b(?:in conclusion|in summary|to sum up|to conclude|all in all|ultimately, the)\b|\bfuture (?:looks|is) bright\b|\bexciting times\b|\bonly time will tell\b|\bpossibilities are endless\b|\bjourney (?:toward|towards|continues)\b`)},
}

// synonyms are words for one thing, which a text should call by one name.
var synonyms = [][]string{
	{"company", "firm", "organization", "enterprise", "corporation"},
	{"employees", "workers", "staff", "personnel", "workforce"},
	{"customers", "clients", "consumers", "patrons", "clientele"},
	{"method", "approach", "technique", "methodology", "strategy"},
	{"tool", "instrument", "solution", "utility", "platform"},
	{"article", "piece", "text", "writeup", "composition"},
}

// variation counts the paragraphs with at least three words for one thing.
func variation(text string) (n int) {
	for _, p := range paragraphs(text) {
		words := make(map[string]bool)
		for _, w := range word.FindAllString(strings.ToLower(p), -1) {
			words[w] = true
		}
		for _, set := range synonyms {
			used := 0
			for _, w := range set {
				if words[w] {
					used++
				}
			}
			if used >= 3 {
				n++
			}
		}
	}
	return n
}

var heading = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)

// titleCase counts headings of at least three words of which all long ones begin with capitals. The
// title of the text is left out.
func titleCase(text string) (n int) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		words := word.FindAllString(m[1], -1)
		if len(words) < 3 || strings.HasPrefix(m[0], "# ") {
			continue
		}
		long, upper := 0, 0
		for _, w := range words[1:] {
			if len(w) > 3 {
				long++
				if unicode.IsUpper([]rune(w)[0]) {
					upper++
				}
			}
		}
		if long > 0 && upper == long {
			n++
		}
	}
	return n
}

var (
	sentence = regexp.MustCompile(`[^.!?\n]+`)
	hedge    = regexp.MustCompile(
		`(?i)\b(?:may|might|could|perhaps|possibly|potentially|somewhat|arguably|seemingly|generally|likely)\b`)
)

// hedging counts sentences with three hedges, and two in a row.
func hedging(text string) (n int) {
	for _, s := range sentence.FindAllString(text, -1) {
		at := hedge.FindAllStringIndex(s, -1)
		if len(at) >= 3 {
			n++
			continue
		}
		if len(at) == 2 && strings.TrimSpace(s[at[0][1]:at[1][0]]) == "" {
			n++
		}
	}
	return n
}
