package standin

import (
	"regexp"
	"slices"
	"strings"
)

// contractions are short forms, each before what it stands for, with _ for a space.
var contractions = strings.Fields(`don't do_not doesn't does_not didn't did_not isn't is_not aren't are_not
	wasn't was_not can't cannot won't will_not it's it_is that's that_is you're you_are we're we_are they're they_are
	there's there_is I'm I_am let's let_us Don't Do_not It's It_is That's That_is You're You_are There's There_is`)

// Requests for another tone: the text gets short forms, or long ones.
var (
	casual = regexp.MustCompile(`(?i)friend|casual|relaxed|warm|conversational|less formal|freundlich|locker`)
	formal = regexp.MustCompile(`(?i)formal|professional|serious|förmlich|sachlich`)
)

// shorter are words of a request for a shorter text.
var shorter = regexp.MustCompile(`(?i)short|tight|trim|cut|condense|concise|punch|kürz|knapp`)

// sentence finds the sentences of a paragraph.
var sentence = regexp.MustCompile(`[^.!?]+[.!?]+["”)]*(?: \[\d+\])*\s*`)

// edit makes the edits that need no language model: a shorter text, and short forms or long ones
// for another tone. For all others it returns the text as it is.
func edit(prompt string) string {
	m := fenced.FindStringSubmatch(prompt)
	if m == nil {
		return ""
	}
	text, request := m[1], strings.ToLower(field(prompt, "Request"))
	if shorter.MatchString(request) {
		return shorten(text)
	}
	pairs := slices.Clone(contractions)
	switch {
	case casual.MatchString(request):
		slices.Reverse(pairs)
	case !formal.MatchString(request):
		return text
	}
	for i := range pairs {
		pairs[i] = strings.ReplaceAll(pairs[i], "_", " ")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// shorten leaves out the middle sentences of each paragraph. Headings, lists and pictures stay.
func shorten(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, b := range blocks {
		if b == "" || strings.ContainsAny(b[:1], "#-*![>1") {
			continue
		}
		all := sentence.FindAllString(b, -1)
		if len(all) > 2 {
			blocks[i] = strings.TrimSpace(all[0]) + " " + strings.TrimSpace(all[len(all)-1])
		}
	}
	return strings.Join(blocks, "\n\n")
}
