package intent

import (
	"regexp"
	"strings"
)

// A mood is what a sentence does with a match: see [Clause.Mood]. All but two withhold it.
type mood string

const (
	requested mood = "requests"
	mentioned mood = "mentions"
)

func (m mood) withheld() bool { return m != requested && m != mentioned }

// The highest confidence of a match by mood. That of a match of weight 1 is only bounded if it is
// withheld.
const (
	atMostConfirmed = 0.85
	atMostOffered   = 0.6
)

// phrases compiles alternatives for whole words: each begins and ends with a space in the text.
func phrases(list string) *regexp.Regexp {
	return regexp.MustCompile(` (?:` + strings.Join(strings.Fields(strings.ReplaceAll(list, "_", `\s`)), "|") + `) `)
}

// leading compiles what a clause begins with, after words that don't matter.
func leading(list string) *regexp.Regexp {
	return regexp.MustCompile(`^ (?:(?:` + fillers + `) )*` + phrases(list).String()[1:])
}

// fillers are words before a request that neither ask nor forbid.
const fillers = `and|so|then|now|just|please|pls|plz|kindly|also|ok|okay|yes|yeah|yep|yup|sure|well|hey|hi|hello|` +
	`great|good|fine|perfect|thanks|thank you|right|first|next|finally|oh|actually|simply|quickly|again|already|` +
	`go ahead and|go on and|go ahead|let's|let us|quick question|one more thing|i'm done|` +
	`und|dann|jetzt|nun|bitte|mal|auch|also|ja|gut|super|danke|hallo|na|einfach|schnell|kurz|gleich|sofort|nochmal|zuerst|` +
	`erst|als nächstes|sag mal|eine frage|kurze frage|the|a|an|my|our|this|that|these|all|der|die|das|den|dem|` +
	`ein|eine|einen|mein|meine|meinen|diese|diesen|dieses|alle`

var (
	filler = regexp.MustCompile(`^ (?:(?:` + fillers + `) )*$`)

	// negation forbids what follows it, and around what precedes it in its clause as well.
	negation = phrases(`not no don't dont doesn't doesnt didn't didnt won't wont wouldn't shouldn't shouldnt can't cant
		cannot couldn't mustn't needn't isn't aren't wasn't weren't ain't haven't hasn't hadn't never nobody nothing none
		nor neither without stop stopping avoid quit refrain hold_off keep leave behalte behalt belass instead_of rather_than against hardly
		nicht nix kein keine keinen keinem keiner keines nie niemals ohne statt anstatt weder niemand nichts
		stopp bloß_nicht lass_das vergiss finger_weg hör_auf verzichte`)
	around = phrases(`nicht nix kein keine keinen keinem keiner keines nie niemals weder nichts auf_keinen_fall nothing none`)
	// affirmed are negations that ask for something.
	affirmed = regexp.MustCompile(` (?:(?:do not|don't|dont|never) (?:forget|hesitate|be (?:shy|afraid))|` +
		`(?:vergiss|vergesst) nicht|(?:can't|cant|couldn't|won't|wouldn't) you|why (?:don't|dont) (?:you|we)|why not|` +
		`no (?:need to wait|problem|worries|rush|hurry|matter|doubt|more than|later than)|not only|nicht nur|kein problem|` +
		`if not|wenn nicht) `)
	// bareNegation is a clause that negates the next one: "Don't, whatever happens, publish it".
	bareNegation = regexp.MustCompile(` (?:don't|dont|do not|never|not|nicht|niemals|nie|stop) $`)

	// polite asks in the form of a question.
	polite = regexp.MustCompile(`^ (?:(?:` + fillers + `|if possible|wenn möglich) )*(?:` +
		`(?:can|could|would|will|can't|cant|couldn't|won't|wouldn't) you(?: guys)?(?: please)?|` +
		`would you mind|do you mind|are you able to|(?:may|can|could) i (?:please )?(?:see|have|get|ask you to)|` +
		`(?:can|could) we (?:see|have|get)|why (?:don't|dont) (?:you|we)|why not|how about|what about|` +
		`(?:kannst|könntest|würdest|magst|möchtest|willst) du|(?:können|könnten|würden|mögen) (?:sie|wir)|` +
		`(?:könnt|könntet|würdet) ihr|wärst du so|wären sie so|(?:kann|könnte|darf) ich (?:bitte )?(?:mal )?(?:sehen|haben)|` +
		`wie wäre es|warum nicht|gibst du|machst du|schreibst du|zeigst du) `)
	// able asks what somebody can do, unless it says please.
	able     = leading(`can_you can't_you cant_you will_you would_you würdest_du würden_sie kannst_du können_sie könnt_ihr willst_du`)
	pleading = phrases(`please pls plz bitte for_me für_mich now jetzt mind`)
	// permitted asks whether something can happen, which may be a request.
	permitted = leading(`can could would may kann könnte könnten dürfen dürfte shall_we should_we sollen_wir`)
	// asking begins a question.
	asking = leading(`what what's whats which who who's whom whose why where when how how's whether
		is are was were am does did has had do_(?:i|you|we|they|these|those|people) have_(?:i|you|we|they|these|those|people) should shall will may might must isn't aren't doesn't didn't
		can_(?:i|it|that|this|one|anyone|anybody|somebody|someone|they|people) could_(?:i|it|one|anyone|somebody|someone|they)
		would_(?:i|it|that|this|they)
		was wer wie warum wieso weshalb wann wo wohin woher womit wofür wozu welche welcher welches welchen wessen wem wen
		ob ist sind war waren hat haben hast habt hatte wird werden wirst wurde wurden soll sollen sollte sollten muss
		müssen musst darf dürfen darfst gibt geht bin
		(?:kann|könnte)_(?:ich|man|jemand|es)`)
	// doubtful are words of a question about what is possible, and not of a request.
	doubtful = phrases(`still later ever even actually usually really eigentlich später überhaupt jemals immer_noch noch_ändern
		possible möglich`)
	// telling asks to be told something.
	telling = regexp.MustCompile(` (?:explain|define|erklär|erkläre) | (?:tell|explain|describe|know|say|understand|wonder|wondering|ask|asking|remind|curious|` +
		`sag|sagen|erklär|erkläre|erklären|weißt|wissen|verrat|verraten|frage|fragen) (?:\S+ ){0,3}` +
		`(?:how|what|why|when|where|who|whether|if|which|wie|was|warum|wann|wo|wer|ob|welche|welcher|welches) `)

	// condition makes what it begins, and what it belongs to, depend on something.
	condition = phrases(`if when whenever once unless until till whether in_case as_soon_as as_long_as provided assuming suppose
		(?:after|before|while|because|that)_(?:i|i've|you|you've|we|we've|he|she|it|they|someone|somebody)
		falls wenn sobald solange sofern bevor ehe nachdem ob dass damit_(?:ich|du|wir|sie|er|es|man)`)
	// reported is what somebody says, thinks or once wanted.
	reported = phrases(`said says say told tells telling asked asks thinks thought believes wants wanted claims heard suggested
		suggests recommended keeps kept was_going were_going was_thinking were_thinking thinking_(?:about|of) used_to
		would_have could_have should_have had_planned i_hope hopefully i'd_rather
		sagt sagte gesagt meint meinte findet denkt glaubt behauptet rät riet geraten erzählt gehört wollte wollten will_dass
		hofft hoffe hoffentlich dachte dachten vorgeschlagen empfohlen lieber`)
	// retracted begins a clause that takes back what precedes it.
	retracted = regexp.MustCompile(`^ (?:(?:oh|well|hmm|hm|actually|sorry|ach|äh|but|and|aber|und|doch|i mean|on second thought|` +
		`on second thoughts|or|oder|oder doch) )*(?:no|nope|nah|nein|nee|nö|wait|stop|halt|stopp|moment|hold on|hang on|` +
		`never mind|nevermind|forget (?:it|that|about it)|scratch that|cancel|leave it|let's not|not yet|not now|` +
		`better not|rather not|maybe not|i changed my mind|changed my mind|just kidding|vergiss es|lieber nicht|doch nicht|` +
		`lass es|lass mal|warte|noch nicht|besser nicht|on second thoughts?|abbrechen) `)
	// themselves is what a person is going to do.
	themselves = phrases(`i'll i_will i'm_going_to myself ourselves we'll ich_selbst ich_selber mache_ich mach_ich ich_werde`)
	// limiting are words with which a request isn't plain any more.
	limiting = phrases(`but however although though except unless rather instead off not_sure unsure
		aber jedoch obwohl außer allerdings sondern stattdessen erledigt dagegen überlegen unsicher`)
	// permission lets somebody do something: "You can publish it now."
	permission = regexp.MustCompile(` (?:(?:i|we) (?:want|need|would like|'d like) you to|i'd like you to|feel free to|be so kind|` +
		`make sure(?: that)?(?: you)?|remember to|i want to|we want to|i need to|i'd like to|i'd love to|` +
		`(?:do not|don't|dont) (?:forget|hesitate) to|ich möchte|ich will|ich hätte gern(?:e)?|vergiss nicht) $`)
)

// moodOf returns what the text does with a match at these offsets; own are the words that the
// pattern itself names, such as "without".
func (r *reading) moodOf(begin, end int, own string) mood {
	i := r.clauseAt(begin)
	if i < 0 {
		return requested
	}
	c := r.clauses[i]
	whole := r.plain[c.begin:max(c.end, end)]
	before := r.plain[c.begin : begin+1]
	inside := r.plain[begin:end]
	switch {
	case r.retracts(i, end):
		return "retracts"
	case r.forbids(i, before, inside, whole, own):
		return "forbids"
	case r.asks(c, before, whole, inside, own):
		return "questions"
	case condition.MatchString(before):
		return "depends"
	case r.reports(i, before):
		return "reports"
	case notOwn(themselves, whole, own):
		return "oneself"
	case r.plainly(c, before, inside, end):
		return requested
	}
	return mentioned
}

// forbids reports whether the clause negates the match, or the one before it does.
func (r *reading) forbids(i int, before, inside, whole, own string) bool {
	if negates(before) || notOwn(negation, inside, own) || around.MatchString(whole) && notOwn(around, whole, own) {
		return true
	}
	if contrast.MatchString(before) {
		return false
	}
	for j := i - 1; j >= 0 && r.clauses[j].sentence == r.clauses[i].sentence; j-- {
		earlier := affirmed.ReplaceAllString(r.plain[r.clauses[j].begin:r.clauses[j].end], " ")
		// "Don't research, write or publish anything"
		if bareNegation.MatchString(earlier) || negation.MatchString(earlier) && listed.MatchString(whole) {
			return true
		}
	}
	return false
}

// contrast begins a clause with what is to happen instead.
var contrast = regexp.MustCompile(`^ (?:but|just|instead|sondern|nur|only|sondern erst) `)

var listed = phrases(`or nor anything any yet either oder noch irgendwas irgendetwas`)

// negates reports whether a text has a negation that forbids.
func negates(text string) bool {
	return negation.MatchString(affirmed.ReplaceAllString(text, " "))
}

// notOwn reports whether a text has such a word that the pattern doesn't name itself.
func notOwn(words *regexp.Regexp, text, own string) bool {
	for {
		at := words.FindStringIndex(text)
		if at == nil {
			return false
		}
		if !strings.Contains(own, strings.TrimSpace(text[at[0]:at[1]])) {
			return true
		}
		text = text[at[1]-1:]
	}
}

// asks reports whether the clause asks about the match.
func (r *reading) asks(c clause, before, whole, inside, own string) bool {
	if telling.MatchString(before) {
		return true
	}
	if polite.MatchString(whole) {
		return doubtful.MatchString(whole)
	}
	for _, earlier := range r.clauses { // "How long does it take, if you write it?"
		if c.asked && earlier.sentence == c.sentence && earlier.begin < c.begin &&
			asking.MatchString(r.plain[earlier.begin:earlier.end]) {
			return true
		}
	}
	at := asking.FindStringIndex(whole)
	if at == nil {
		return permitted.MatchString(whole) && doubtful.MatchString(whole)
	}
	if at[1] > len(before) { // the question is within the match: the pattern is one
		return notOwn(asking, inside, own)
	}
	return true
}

// reports reports whether the match is what somebody says.
func (r *reading) reports(i int, before string) bool {
	if reported.MatchString(before) {
		return true
	}
	return i > 0 && r.clauses[i-1].sentence == r.clauses[i].sentence &&
		reported.MatchString(r.plain[r.clauses[i-1].begin:r.clauses[i-1].end])
}

// retracts reports whether what follows takes the match back.
func (r *reading) retracts(i, end int) bool {
	for _, c := range r.clauses[i+1:] {
		clause := r.plain[c.begin:c.end]
		if c.end > end && !affirmed.MatchString(clause) && retracted.MatchString(clause) {
			return true
		}
	}
	return false
}

// plainly reports whether the clause is a request, and nothing in the text speaks against it.
func (r *reading) plainly(c clause, before, inside string, end int) bool {
	if r.unclear() {
		return false
	}
	for _, other := range r.clauses {
		if other.sentence == c.sentence && condition.MatchString(r.plain[other.begin:other.end]) {
			return false
		}
	}
	if whole := r.plain[c.begin:max(c.end, end)]; polite.MatchString(whole) {
		return !able.MatchString(whole) || pleading.MatchString(r.plain)
	}
	// A question within the match is the pattern's own: another one would withhold it.
	return (!c.asked || asking.MatchString(inside)) && (filler.MatchString(before) || permission.MatchString(before))
}

// unclear reports whether anything in the text negates or limits.
func (r *reading) unclear() bool {
	if r.doubt == 0 {
		if r.doubt = 1; negates(r.plain) || limiting.MatchString(r.plain) {
			r.doubt = 2
		}
	}
	return r.doubt == 2
}
