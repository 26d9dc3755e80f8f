package consent

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/pawlkit/pawl/agent/intent"
)

// maxRead is how many bytes of a message package intent reads.
const maxRead = 4 << 10

// A Kind is what a message does.
type Kind string

// The kinds.
const (
	Requests   Kind = "requests"   // it asks for something, or says something
	Forbids    Kind = "forbids"    // "Don't touch Home."
	Questions  Kind = "questions"  // "Should we delete it?", "Show me a draft."
	TakesBack  Kind = "takes back" // "Publish it. Wait, not yet."
	Conditions Kind = "conditions" // "Publish it as soon as Ben has read it."
	Unknown    Kind = "unknown"    // the rules aren't sure
)

// words returns the alternatives of a list, in which "_" stands for a space.
func words(list string) string {
	return `(?:` + strings.ReplaceAll(strings.Join(strings.Fields(list), "|"), "_", " ") + `)`
}

// within compiles what a clause has in it, and begins what it begins with, after light words. The
// words of a clause have a space before, between and after them.
func within(list string) *regexp.Regexp { return regexp.MustCompile(" " + words(list) + " ") }
func begins(list string) *regexp.Regexp {
	return regexp.MustCompile(`^ (?:` + light + ` )*?` + words(list) + " ")
}

// The words of the rules.
var (
	// courtesy is how people ask without an imperative. It is read as "could you".
	courtesy = regexp.MustCompile(`(?i)\b` + words(`if_you_don['’]?t_mind if_(?:it['’]?s_|it_is_)?possible
		if_you_(?:can|could|like|want) if_you['’]d_be_so_kind if_it['’]?s_not_too_much_trouble
		(?:can|could|may|might)_i_(?:ask|trouble|bother)_you_to
		it(?:['’]d|_would)_be_(?:great|nice|good|lovely|wonderful|helpful|kind)_if_(?:you|we)(?:_could)?
		(?:i_was_hoping|i_wonder_if)_you_(?:could|would)
		i(?:['’]d|_would|_should)_(?:really_|very_much_)?(?:appreciate|love|like)_it_if_you(?:_could|_would)?
		i(?:['’]d|_would|_should)_be_(?:very_|most_)?(?:grateful|glad|happy|thankful)_if_you(?:_could|_would)?
		would_it_be_possible(?:_for_you)?_to
		(?:would_you_)?be_so_(?:kind|good)_(?:as_)?to do_me_a_favou?r_and (?:do_not|don['’]?t|never)_(?:forget|hesitate)_to
		(?:can['’]?t|couldn['’]?t|won['’]?t|why_don['’]?t)_(?:you|we)(?:_go_ahead_and)? vergiss_nicht
		wenn_(?:möglich|es_geht) (?:sei|wärst_du)_so_(?:lieb|nett|gut)(?:_und)?`) + `,?\s`)
	// light are words that neither ask nor forbid, before those that do.
	light = words(`a an the my our your their its all and so then now just please pls plz kindly also ok okay well oh hm
		hmm um but actually yes yeah yep sure hey hi hello thanks thx right really rather again first to of i i'd i'll i'm
		we we'd we'll you you'd he she it they one would could can should may might must shall will do does did be been
		have has had need want like love prefer under at in for as let us me maybe perhaps on any that this these those
		better best from or still only let's there thank much many cheers dear you're oops whoops bitte mal doch und aber
		du sie ihr ich wir man soll sollst sollte darf dürfen kann kannst möchte will die der das den dem ein eine einen
		mir uns erst jetzt nun`)
	negation = `not no don't dont doesn't didn't didnt won't wouldn't shouldn't can't cant cannot mustn't isn't
		aren't wasn't nothing nobody never none nor neither without stop avoid quit refrain hold_off keep leave against
		nicht nichts nix kein keine keinen keinem nie niemals ohne stopp vergiss`
	// verbs are those of work on pages and articles. A request that is plain begins with one.
	verbs = `add append put insert create make build start begin write draft compose set set_up fill rename name call
		change update edit revise rewrite rework improve fix correct replace swap exchange use move reorder sort shorten
		cut trim tighten condense lengthen expand extend translate link unlink clone copy duplicate delete remove drop
		clear archive unarchive publish unpublish hide unhide upload attach tag label undo restore revert bring_back
		go_back roll_back take finish complete continue go_on carry_on resume research find search generate humanize
		polish proofread split merge join turn convert give switch mark increase reduce simplify accept approve apply clean tidy
		ergänze füge erstelle erstell lege mach mache ändere änder setz setze schreib schreibe kürze kürz lösche lösch
		veröffentliche übersetze ersetze ersetz verschieb verschiebe benenne nenne entferne`
	// negates is what a plain request hasn't.
	negates = within(negation + ` else other others rest but except instead_of only undo_(?:that|this|it)
		at_all ever even theoretically hypothetically generally theoretisch überhaupt`)
	idle     = regexp.MustCompile(`^ (?:` + light + ` )*$`)
	plain    = begins(verbs + ` (?:i'd_like|i_need|i_want|we_need|we_should_have|can_we_(?:get|have))_(?:a|an|some)`)
	forbids  = begins(negation)
	inGerman = within(`nicht nichts kein keine keinen keinem niemals`)
	asItIs   = within(`as_(?:it|they|he|she)_(?:is|are|was|were) the_way_(?:it|they)_(?:is|are) hands_off finger_weg
		(?:would|will|'d)_be_(?:wrong|a_mistake|a_bad_idea|too_early) off_limits (?:is|are)_mine not_allowed
		(?:to|must|should|has_to|have_to|shall)_(?:stay|remain) lass_.*so so_lassen only_(?:work|talk|look|read) from_now_on
		(?:change|touch|do)_nothing`)
	// states begins a statement.
	states = regexp.MustCompile(`^ (?:` + words(`and so but oh well hm ok okay sorry because since although though while
		whatever whether no actually`) + ` )*` + words(`i i'm i've i'll we we're he she it it's they there there's this that
		these the my our his her ich wir er es das die der hope
		\pL+_(?:is|are|was|were|has|had|said|says|ist|sind|war)`) + " ")
	// reads begins a request to be told or shown something. What is shown or said without "me" may
	// be for the visitors of a page.
	reads = begins(`(?:show|say|zeig|zeige)_(?:me|us|mir|uns) tell explain suggest propose describe list look let_me
		check compare count wonder wondering ask asking know sag erklär erkläre`)
	polite = begins(`(?:can|could|would|will|might)_(?:you|we) may_i_(?:ask|have|get) how_about would_you_mind
		(?:kannst|könntest|würdest|magst)_du (?:können|könnten|würden)_(?:sie|wir)`)
	// able asks what the assistant can do, if it names no object.
	able   = begins(`can_you kannst_du`)
	object = within(`the a an my our this that it them to please pls me us [“"]+ die der das den ein eine einen mir
		bitte`)
	takes = regexp.MustCompile(`^ (?:` + words(`oh oops whoops well hmm hm um actually sorry ach äh but and i_mean or
		rather ok okay on_second_thoughts? aber und doch oder please`) + ` )*` + words(`no nope nah nein nee wait
		no_wait stop halt hold_on hang_on never_?mind nvm abort disregard ignore_(?:that|my_.*|what_i_.*)
		forget_(?:it|that|this|about.*) scratch_.* scrap_.* cancel(?:_.*)? leave_it keep_it let's_not lets_not not_yet
		not_now better_not (?:rather|maybe|perhaps)_not (?:rather_)?don't (?:rather_)?dont
		(?:i_)?changed_my_mind i've_changed_my_mind just_kidding wrong_\pL+ my_mistake on_second_thoughts?_.*
		vergiss_es
		(?:lieber|doch|besser|noch)_nicht
		lass_(?:es|mal) warte moment`) + `(?: ` + words(`please then for_now again sorry thanks bitte doch`) + `)* $`)
	condition = regexp.MustCompile(`^ should \pL+ \pL+|(?:^| (\pL+)) ` + words(`if unless assuming once until till
		when whenever as_soon_as as_long_as provided in_case (?:after|before)_(?:i|i've|you|we|we've|he|she|they)
		after_.*_(?:is|are|has|have|was) falls wenn sobald sofern solange bis (?:bevor|nachdem)_(?:ich|du|wir|sie|er)`) + " ")
	embeds   = regexp.MustCompile(`^(?:answers?|explains?|says?|shows?|asks?|describes?|know)$`) // before "when"
	sometime = regexp.MustCompile(" " + words(`tomorrow tonight later next_\S+ on_\S+day not_before on_[\pL]+_\d+(?:st|nd|rd|th)
		in_\S+_(?:minutes|hours|days|weeks|months) at_\d+\S* after_(?:lunch|work) morgen später nächste_woche`) +
		` | then it can | can go live `)
)

// kinds are what messages do, because each call asks about all of its conversation.
var kinds = struct {
	sync.Mutex
	of map[string]Kind
}{of: map[string]Kind{}}

// maxKinds is of how many messages the kind is kept.
const maxKinds = 10_000

// kindOf is readOne for a message that may have been read before.
func kindOf(message string) Kind {
	kinds.Lock()
	kind, ok := kinds.of[message]
	kinds.Unlock()
	if ok || len(message) > maxRead {
		return cmp.Or(kind, Unknown)
	}
	kind = readOne(message)
	kinds.Lock()
	defer kinds.Unlock()
	if len(kinds.of) >= maxKinds {
		clear(kinds.of)
	}
	kinds.of[message] = kind
	return kind
}

// readOne returns what a message does by itself. It is a request only if it begins like one and has
// nothing in it that negates, asks, takes back or sets a condition: what is in quotation marks
// doesn't count.
func readOne(message string) Kind {
	if len(message) > maxRead {
		return Unknown
	}
	var asked, forbidden, conditions, questions, back, unsure bool
	for _, c := range intent.Read(courtesy.ReplaceAllString(message+" ", " could you ")) {
		all := " " + strings.Join(c.Words, " ") + " "
		asks := polite.MatchString(all)
		switch {
		case idle.MatchString(all):
		case takes.MatchString(all):
			back, asked = true, false
		case asItIs.MatchString(all), !asks && (forbids.MatchString(all) && !states.MatchString(all) ||
			inGerman.MatchString(all)):
			forbidden = true
		case !c.Asked && conditional(all):
			conditions = true
		case able.MatchString(all) && !object.MatchString(all),
			!asks && c.Mood(0, min(2, len(c.Words)-1), "") == "questions", reads.MatchString(all):
			questions = true
		case plain.MatchString(all) && !negates.MatchString(all) && (!c.Asked || asks):
			asked = true
		default:
			unsure = true
		}
	}
	switch {
	case unsure || asked && (forbidden || conditions || questions):
		return Unknown
	case asked:
		return Requests
	case back:
		return TakesBack
	case forbidden:
		return Forbids
	case conditions:
		return Conditions
	case questions:
		return Questions
	}
	return Unknown
}

// conditional reports whether a clause depends on something, or is for another time.
func conditional(clause string) bool {
	if sometime.MatchString(clause) {
		return true
	}
	for _, m := range condition.FindAllStringSubmatch(clause, -1) {
		if !embeds.MatchString(m[1]) {
			return true
		}
	}
	return false
}
