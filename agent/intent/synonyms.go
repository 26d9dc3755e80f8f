package intent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A synonym is a way to say something for which patterns have a more common one. some in from
// stands for up to four words, which are $1 in to.
type synonym struct{ to, from string }

// some are words between the parts of a phrase.
const some = `(\S+(?: \S+){0,3}?)`

// things are replaced first: words in front of a thing that don't matter, and synonyms of what
// assistants for texts and pages work on.
var things = []synonym{
	{"", `(?:a|an|the) (?:\S+ )?(?:version|piece|couple|bunch|pair|set|copy|bit|part|kind|sort) of`},
	{"", `(?:two|three|one or two|two or three|ein paar|ein bisschen|zwei oder drei|mir|uns|mal eben|ne|noch)`},
	{"on $1", `(?:on |this |next |for |by |come )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`},
	{"tomorrow", `tonight|(?:at|by|around) (?:\d+|noon|midnight|six|seven|eight|nine|ten)(?: (?:am|pm|o'clock))?|in \S+ (?:days|weeks|hours)|` +
		`(?:on )?the \d+(?:st|nd|rd|th)|over the weekend|later (?:today|this week)|this (?:afternoon|evening|weekend)`},
	{"am $1", `(?:am |für |auf |diesen |nächsten |kommenden )?(montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)` +
		`(?: (?:früh|morgen|mittag|vormittag|nachmittag|abend))?`},
	{"morgen", `heute abend|übermorgen|in \S+ (?:tagen|stunden|wochen)|um \S+ uhr|(?:am|übers) wochenende|nächste woche`},
	{"article", `blog entry|essay|column|write up|op ed|guide`},
	{"artikel", `blogbeitrag|blogpost|blogartikel|bericht|aufsatz|kolumne|ratgeber`},
	{"image", `photos?|drawings?|graphics?|sketch|sketches|diagrams?|charts?|artworks?|screenshots?|icons?|thumbnails?|banners?|pics?|img|infographics?|photographs?`},
	{"bilder", `grafik|grafiken|zeichnung|zeichnungen|abbildung|abbildungen|skizzen?|illustration|diagramme?|infografik|infografiken|aufnahmen?|motive?`},
	{"heading", `header|caption|name of the \S+`},
	{"page", `site|webpage|web page|microsite|section of the site`},
	{"articles", `blog posts|blogposts|pieces|stories|entries`},
	{"beiträge", `blogbeiträge|blogartikel|blogposts|posts|einträge|storys`},
}

// doings are synonyms of what such an assistant does. They are replaced one at a time, so that none
// hides another. None of them has a negation.
var doings = []synonym{

	{"what's the status", `(?:how's|hows|how is|how are) (?:it|things|everything|that|this|the \S+(?: \S+)?) (?:going|coming|looking|doing)(?: along)?`},
	{"what's the status", `(?:any|some|is there any|are there any) (?:news|updates?)`},
	{"what's the status", `(?:what's|what is|what|which \S+) (?:is |are )?(?:still |yet )?(?:missing|left|open|pending|outstanding|to do)`},
	{"what's the status", `(?:a|an|me a|me an|the) (?:\S+ )?(?:update|progress report|heads up|summary of where \S+ \S+) (?:on|about|of|for)`},
	{"what's the status", `where (?:do|does|are) (?:we|things|it|this|that) stand|are we there yet|how much (?:is|longer|more)|are we done|what's up with|what is happening with`},
	{"wie ist der status", `wie (?:läuft|steht|stehts|sieht|siehts|geht|kommt) (?:es|das|die \S+|der \S+)?(?: (?:mit|um|bei))?`},
	{"wie ist der status", `(?:was|wie viel|welche \S+) (?:fehlt|fehlen|ist offen|steht noch aus|bleibt)`},
	{"wie ist der status", `(?:ein |kurzes )*(?:update|zwischenstand|statusbericht|lagebericht)(?: (?:zu|zum|zur|über|bei))?|gibt es neuigkeiten|was gibt es neues|wie lange dauert`},
	{"bist du fertig", `(?:bist du|seid ihr|sind wir) (?:\S+ ){0,4}?(?:dran|durch|soweit|so weit)`},

	{"is it done", `(?:is|are) (?:\S+ ){0,3}?(?:ready|done|finished|complete)`},
	{"ist es fertig", `(?:ist|sind) (?:\S+ ){0,3}?(?:fertig|bereit|erledigt)`},

	{"delete $1", `(?:throw|chuck|toss) ` + some + ` (?:out|away)`},
	{"delete $1", `take ` + some + ` (?:down|offline)`},
	{"delete $1", some + ` (?:can|should|may) (?:go|be deleted|be removed|disappear)`},
	{"delete", `erase|trash|scrap|discard|ditch|wipe|kill|destroy|dump|clear out|do away with|take down|throw out|get rid of`},
	{"lösche $1", `(?:wirf|werf|schmeiß|schmeiße|hau|nimm) ` + some + ` (?:weg|raus|runter|heraus)`},
	{"lösche $1", some + ` (?:kann|können|soll|muss|darf) (?:weg|verschwinden)`},
	{"löschen", `wegwerfen|rauswerfen|rausschmeißen|wegmachen|entsorgen|tilgen|ausradieren|beseitigen|loswerden|rausnehmen|eliminieren`},
	{"lösche", `weg mit|entferne?|tilge|beseitige|eliminiere`},

	{"undo $1", `(?:bring|take|put|roll|change|turn|set|get|have|switch|move) ` + some + ` back`},
	{"undo", `(?:go|switch|return|revert)(?: back)? to (?:the|my|our) (?:old|previous|last|original|earlier) \S+|one step back|a step back|` +
		`the way it was(?: before)?|how it was(?: before)?`},
	{"undo", `reverse|bring back|roll back|rollback|restore|go back to|put back|take back|backtrack|rewind|reinstate|recover|un do`},
	{"rückgängig $1", `(?:hol|hole|nimm|setz|setze|dreh|drehe|roll|rolle|spul) ` + some + ` zurück`},
	{"rückgängig", `stelle? ` + some + ` wieder her|kommando zurück|(?:einen )?schritt zurück|(?:alte|vorige|vorherige|ursprüngliche) ` +
		`(?:fassung|version) (?:bitte|zurück|wieder)`},
	{"rückgängig", `widerrufe?n?|zurückrollen|zurückdrehen|zurückholen|zurücksetzen|zurücknehmen|wiederherstellen|ungeschehen|` +
		`stelle? \S+ wieder her|storniere?n?`},

	{"schedule $1", `(?:line|queue|set) ` + some + ` up`},
	{"schedule $1 for", `(?:set|put|book|slot|pencil|time|plan|save|hold) ` + some + ` (?:down |in )?(?:for|on|at)`},
	{"schedule", `line up|queue up|pencil in|book in`},
	{"schedule $1", `(?:time|plan|queue|book|slot) (it|this|that|the|my|our)`},
	{"plane $1 ein", `(?:merk|merke|setz|setze|trag|trage|leg|lege|stell|stelle) ` + some + ` (?:vor|an|fest)`},
	{"am $1 veröffentlichen", `am (\S+)(?: \S+){0,2} (?:legen|setzen|schieben|verschieben|einstellen)`},
	{"publish on $1", `(?:move|shift|postpone) \S+ (?:to|until) (?:on )?(\S+)`},
	{"einplanen", `vormerken|terminieren|vorplanen|ansetzen|timen|eintakten|planen`},

	{"publish $1", `(?:get|put|push|send|bring|move|make|take) ` + some + ` (?:out|up|live|online|public)`},
	{"publish $1", `(?:release|ship|launch|post|share) (it|this|that|the|my|our)`},
	{"publish", `go out|go up|go online|go public|come out|be (?:published|released|out|online|live)|roll out|send out|` +
		`make public|put out`},
	{"veröffentliche $1", `(?:stell|stelle|schalte?|schick|schicke|bring|bringe|setz|setze|lade?|gib) ` + some +
		` (?:live|frei|raus|hoch|rein ins netz|ins netz|auf den blog|auf die seite|auf die website)`},
	{"veröffentlichen", `(?:auf den blog|auf die seite|auf die website|ins netz|online|live) (?:stellen|setzen|bringen|gehen|schalten|nehmen)|` +
		`rausgehen|erscheinen|erscheint|raus damit|kann raus|darf raus|rausschicken|freigeben|freischalten|rausbringen|publizieren|posten|hochladen|raushauen|rausgeben|publik machen`},
	{"veröffentliche", `publiziere?|poste`},

	{"rename $1", `(?:retitle|call|name|rename|relabel) (it|this|that|the)`},
	{"benenne $1 um", `nenne? (?:das|es|die|den|ihn|sie) ` + some},
	{"change $1", `(?:could|can|should|let) (?:the|this|its) (\S+) (?:say|read|be|become|go)`},
	{"change $1", `(\S+) (?:should|must|needs to|has to|ought to) (?:say|read|be|become|change)`},
	{"change", `correct|amend|adjust|alter|modify|revise|tweak|swap|switch|reword|rephrase|reformulate|improve|touch up|rework`},
	{"$1 ändern", `(\S+) (?:soll|sollte|muss|müsste) (?:\S+ ){0,2}?(?:heißen|lauten|sein|werden)`},
	{"ändern", `anpassen|abändern|umformulieren|korrigieren|austauschen|tauschen|überarbeiten|verbessern|berichtigen|wechseln|umschreiben`},
	{"ändere", `korrigiere?|tausche?|überarbeite?|verbessere?|berichtige?|formuliere?|wechsele?|wechsle|passe?`},

	{"humanize", `(?:sounds?|reads?|feels?|seems?|looks?) (?:\S+ ){0,2}like (?:a |an |it was |some )?(?:robot|machine|ai|chatgpt|computer|bot)s?(?: wrote it)?|` +
		`less (?:mechanical|stiff|wooden|artificial|clunky|generic)(?: \S+)?|more (?:alive|lively|personal|conversational|human like)|warmer|friendlier|livelier|` +
		`(?:loosen|liven|warm) (?:\S+ ){0,2}?up`},
	{"robotic", `stiff|wooden|clunky|mechanical|artificial|sterile|lifeless|hölzern|steif|künstlich|roboterhaft|maschinell`},
	{"humanisieren", `(?:klingt|liest sich|wirkt|hört sich) (?:\S+ ){0,2}(?:wie|nach) (?:von )?(?:einem |einer |ein |eine )?(?:roboter|maschine|ki|computer|chatgpt)|` +
		`weniger (?:steif|hölzern|künstlich|roboterhaft|mechanisch|maschinell)|lebendiger|lockerer|persönlicher|wärmer`},

	{"research on", `(?:the latest|up to speed|everything|anything|something|what's known|whatever you can find|state of the art) (?:on|about|in)`},
	{"recherche zu", `(?:hintergrundinfos|hintergründe|infos|daten|zahlen|studien|material|wissenswertes|belege) (?:zu|zum|zur|über|für)`},
	{"recherchiere", `mache? dich (?:\S+ )?schlau|schaue? (?:\S+ )?(?:was|ob)`},
	{"research on", `(?:background|info|infos|information|insights?|intel|data|facts|material|details|literature|studies|evidence|statistics|stats|numbers|figures) ` +
		`(?:on|about|for|regarding|around)`},
	{"research", `look up|dig into|dig up|dig around|find out|investigate|read up on|check out|study up on|explore|look around for|look for|search for|search`},
	{"find $1", `(?:pull|get|put|bring) ` + some + ` together`},
	{"find", `check|locate|track down|hunt for|hunt down|pull together|get me|google|compile|assemble|source`},
	{"recherchieren", `nachforschen|nachsehen|nachschauen|nachschlagen|herausfinden|rausfinden|nachlesen|googeln|schlau machen|schlaumachen|untersuchen|ermitteln|` +
		`in erfahrung bringen|erkunden|einlesen`},
	{"recherchiere", `forsche? (?:\S+ ){0,3}?nach|finde? (?:\S+ ){0,3}?(?:heraus|raus)|schaue? (?:\S+ ){0,4}?nach|sieh (?:\S+ ){0,3}?nach|untersuche?|ermittle|googl?e`},
	{"suchen", `zusammentragen|zusammensuchen|zusammenstellen|auftreiben|heraussuchen|raussuchen|beschaffen|besorgen|recherchieren`},
	{"suche", `trage? (?:\S+ ){0,3}?zusammen|besorge?|beschaffe?|treibe? (?:\S+ ){0,3}?auf`},

	{"write", `get (?:going|started) (?:with|on)|start (?:on|with|writing)|begin|finish|continue|carry on with`},
	{"schreibe", `lege? los mit|fange? (?:\S+ )?mit|beginne? mit|mache? weiter mit`},
	{"write $1", `(?:turn|make|convert|expand|develop|transform|flesh) (?:it|this|that|them|these|those|everything|my \S+|the \S+|our \S+) (?:out )?into ` + some},
	{"write", `write up|draw up|put together|come up with|knock out|pen|jot down|type up|author|formulate`},
	{"schreibe $1", `fasse? (?:\S+ ){0,3}?zu ` + some + ` zusammen`},
	{"schreibe $1", `mache? (?:\S+ )?daraus ` + some},
	{"$1 schreiben", `daraus ` + some + ` (?:machen|bauen|formen|basteln|entwickeln)`},
	{"schreiben", `ausformulieren|formulieren|aufschreiben|ausarbeiten|runterschreiben|texten|tippen|verfassen|aufsetzen|erstellen|anfertigen`},
	{"schreibe", `formuliere?|texte|tippe?|setze? (?:\S+ ){0,4}?auf`},

	{"illustrate", `bebildere?|illustriere?|bebildern|illustrieren`},

	{"show", `(?:can|could|may) (?:i|we) (?:see|get)|let me see|display|print|enumerate|pull up|bring up|give me|get me|(?:an |a quick )?overview of|run through`},
	{"zeige", `gib|gibt|nenne?|liefere?|führe|(?:eine |ne )?(?:übersicht|liste|aufstellung) (?:über|von|aller|mit)`},
	{"zeigen", `aufzählen|aufführen|nennen|sehen|ausgeben|darstellen`},

	{"create", `(?:we're|we are|i'm|i am) missing|there should be`},
	{"erstelle", `(?:es|uns|mir) fehlt|fehlt noch`},
	{"create", `(?:i|we) (?:need|want|require|could use)|(?:i'd|we'd|i would|we would) (?:like|love)(?: to have)?|(?:can|could) (?:i|we) have|` +
		`open|start|put up|whip up|spin up|set up|establish|prepare|produce|design`},
	{"add", `put in|put|drop in|place|stick|include|throw in|paste|attach|embed|slot in|pop|work in`},
	{"erstelle", `(?:ich|wir) (?:brauche|brauchen|bräuchte|bräuchten|benötige|benötigen|möchte|möchten|will|wollen|hätte gern|hätten gern|hätte gerne)|` +
		`richte|leg|lege|eröffne|setze? auf|generiere|füge?`},
	{"erstellen", `einrichten|anlegen|aufsetzen|hinzufügen|aufmachen|eröffnen|generieren|bauen|hochziehen`},
	{"füge", `pack|packe|setz|setze|bau|baue|tu|häng|hänge|nimm|leg|lege|stell|stelle|ergänze?`},
	{"einfügen", `reinpacken|reinsetzen|einsetzen|einbauen|ergänzen|reintun|einbinden|hinzufügen|platzieren`},
}

// replacements compiles the synonyms when they are first needed.
var replacements = sync.OnceValue(func() *dictionary {
	return &dictionary{compile(things), compile(doings), wordsOf()}
})

// A dictionary has the synonyms, and the words in them, which are spelled as they are.
type dictionary struct {
	things, doings []replacement
	words          map[string]bool
}

func wordsOf() map[string]bool {
	var patterns []string
	for _, s := range slices.Concat(things, doings) {
		patterns = append(patterns, s.from)
	}
	// a negation that is spelled as another word would be lost
	for _, re := range []*regexp.Regexp{negation, around, affirmed, bareNegation, polite, permitted, asking, doubtful,
		telling, condition, reported, retracted, limiting, themselves, contrast, listed, able, pleading} {
		patterns = append(patterns, re.String())
	}
	words := make(map[string]bool)
	for _, p := range patterns {
		named(p, words)
	}
	return words
}

// named adds the words that an expression names to a set.
func named(pattern string, words map[string]bool) {
	for _, text := range expandText(pattern) {
		for w := range strings.FieldsSeq(strings.ReplaceAll(text, gap, " ")) {
			words[w] = true
		}
	}
}

// questions are those of the common ways to say something that ask.
var questions = regexp.MustCompile(`status|^bist du|^ist es|^is it`)

// A replacement is a synonym.
type replacement struct {
	from *regexp.Regexp
	to   string
	asks bool // it stands for a question, which is then no reason to withhold
	// words are those that from names: a text without any of them doesn't match, and needs no look
	words map[string]bool
}

// in replaces the synonym in a clause.
func (p *replacement) in(clause string) string {
	for w := range strings.FieldsSeq(clause) {
		if p.words[w] {
			return p.from.ReplaceAllString(clause, p.to)
		}
	}
	return clause
}

func compile(list []synonym) []replacement {
	out := make([]replacement, len(list))
	for i, s := range list {
		out[i] = replacement{regexp.MustCompile(" (?:" + s.from + ") "), " ", questions.MatchString(s.to),
			make(map[string]bool)}
		named(s.from, out[i].words)
		if s.to != "" {
			out[i].to = " " + s.to + " "
		}
	}
	return out
}
