package screen

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Pattern is something that attacks say. Texts are matched in lower case, with single spaces, and
// without quotation marks, apostrophes, emphasis (*, _, `, ~) and invisible characters.
type Pattern struct {
	Name string
	Weak bool // it only warns
	// Match finds the pattern.
	Match *regexp.Regexp
	// Except makes a match harmless if a match of Except begins within it; nil: nothing does.
	// Regular expressions of Go can't look ahead.
	Except *regexp.Regexp

	// Each match of wordsOf contains one of words. Looking for words is much faster than matching.
	words   []string
	wordsOf *regexp.Regexp
}

// find returns where the pattern is in a text, or -1.
func (p *Pattern) find(text string) int {
	if p.Match == p.wordsOf && !slices.ContainsFunc(p.words, func(w string) bool { return strings.Contains(text, w) }) {
		return -1
	}
	for _, at := range p.Match.FindAllStringIndex(text, -1) {
		if p.Except == nil {
			return at[0]
		}
		if loc := p.Except.FindStringIndex(text[at[0]:]); loc == nil || loc[0] >= at[1]-at[0] {
			return at[0]
		}
	}
	return -1
}

// Patterns returns the default patterns: ignore-instructions, new-role, forget, disregard-rules,
// act-as and pretend, which refuse, and raw-output and only-format, which warn. The caller may
// change the list.
func Patterns() []Pattern { return slices.Clone(defaults()) }

// begin is where a request begins: the start of a text or a sentence, or after a word that asks.
const begin = `(?:^|[.!?:;,>\-–—)\]}|/#] ?|\b(?:please|now|and|then|must|should|kindly|just|you to|also|so) )`

var defaults = sync.OnceValue(func() []Pattern {
	list := []Pattern{
		{Name: "ignore-instructions",
			words: split(
				"ignor, bypass, override, vergiss, missacht, vergessen sie, oublie, olvid, negeer, игнорируй, " +
					"talimat, komut, 忽略, 无视, 忽視, 無視, 忘れ, 무시, 잊"), Match: oneOf(
				`\b(?:ignore|bypass|override)\b.{0,30}\b(?:previous|prior|above|earlier|preceding|original|system|your|all)\b.{0,25}\b(?:instructions?|prompts?)\b`,
				`(?:ignorier|vergiss|missacht|vergessen sie)\pL*.{0,30}(?:vorherig|bisherig|obig|früher|vorig|vorangegangen|ursprünglich)\pL*.{0,20}(?:anweisung|anleitung|instruktion|prompt)`,
				`(?:ignore|oublie)\pL*.{0,20}(?:instructions?|consignes?|directives?).{0,20}(?:précédent|antérieur|ci-dessus|initial)`,
				`(?:ignor|olvid)\pL*.{0,30}(?:instrucciones|indicaciones|órdenes|instruções|ordens).{0,20}(?:anterior|previ|prévi|arriba|acima)`,
				`ignora\pL*.{0,20}(?:istruzioni|indicazioni).{0,20}(?:precedent|sopra)`,
				`negeer.{0,30}(?:vorige|eerdere|bovenstaande|voorgaande).{0,20}(?:instructies|opdrachten)`,
				`zignoruj.{0,20}(?:poprzedni|wcześniejsz|powyższ)\pL*.{0,20}(?:instrukcj|poleceni)`,
				`игнорируй\pL*.{0,20}(?:предыдущ|прежн|вышеуказанн)\pL*.{0,20}(?:инструкц|указани|команд)`,
				`(?:önceki|yukarıdaki).{0,20}(?:talimat|komut)\pL*.{0,20}(?:yok say|görmezden gel|unut)`,
				`(?:忽略|无视|忽視|無視).{0,10}(?:之前|以上|先前|前面|上面|所有).{0,10}(?:指令|指示|提示)`,
				`(?:以前|前|上記|これまで).{0,8}(?:指示|命令|プロンプト).{0,8}(?:無視|忘れ)`,
				`(?:이전|위의|앞의).{0,10}(?:지시|명령|프롬프트).{0,10}(?:무시|잊)`,
			)},
		{Name: "new-role", words: split("you are now, du bist, tu es, ahora eres, agora você, ты теперь, 你现在是"),
			Match: oneOf(
				`\byou are now (?:a |an |the )?(?:different|new|another|unrestricted|unfiltered|uncensored|dan\b|evil|jailbroken|in developer mode|free of|no longer bound)`,
				`\bdu bist (?:jetzt|nun|ab jetzt|ab sofort) (?:eine? )?(?:ander|neu|unbeschränkt|uneingeschränkt|unzensiert)`,
				`\btu es (?:maintenant|désormais) une? (?:autre|nouvel|ia sans|assistant sans)`,
				`\bahora eres una? (?:nuev|otr|ia sin|asistente sin)|\bagora você é uma? (?:nov|outr|ia sem)`,
				`ты теперь (?:друг|нов|неограничен)`,
				`你现在是(?:一个)?(?:不同|新的|另一|没有限制|不受限制)`,
			)},
		{Name: "forget", words: split("forget, vergiss, oublie, olvida, забудь, 忘记, 忘掉"), Match: oneOf(
			begin+`forget (?:everything|all)\b.{0,30}\b(?:above|before|previous|earlier|instructions?|told|said|rules|learned)\b`,
			begin+`forget (?:all )?(?:of )?your (?:previous |prior |earlier )?(?:instructions?|rules|guidelines|training|programming|prompts?)\b`,
			`\bvergiss (?:alles|alle|deine).{0,30}(?:anweisung|regeln|gesagt|vorher|bisher|instruktion)`,
			`\boublie tout.{0,30}(?:instruction|précéd|avant|dit)|\bolvida (?:todo|todas).{0,30}(?:instrucciones|anterior|antes|dicho)`,
			`забудь (?:все|всё).{0,30}(?:инструкц|указани|ранее|до этого|правил)`,
			`(?:忘记|忘掉)(?:你)?(?:之前|所有|以前).{0,10}(?:指令|指示|规则|内容)`,
		)},
		{Name: "disregard-rules",
			words: split("disregard, missachte, umgehe, ignoriere, ne tiens pas compte, no hagas caso, не обращай"),
			Match: oneOf(
				`\bdisregard (?:(?:all|any|every|the|your|of|these|those|previous|prior|above|earlier|safety|system|existing|content) )*(?:rules?|instructions?|guidelines?|prompts?|directives?|policy|policies|restrictions?)\b`,
				`\b(?:missachte|umgehe|ignoriere) (?:alle |deine |sämtliche )+(?:\pL+ )?(?:regeln|vorgaben|richtlinien|einschränkungen|anweisungen)`,
				`\bne tiens pas compte (?:de tes|des) (?:règles|instructions|consignes)|\bno hagas caso (?:a|de) (?:tus|las) (?:reglas|instrucciones)`,
				`не обращай внимания на (?:свои |все |эти )*(?:правила|инструкции|ограничения)`,
			)},
		{Name: "act-as", words: split("act as, act like, handle, verhalte, agiere, actúa, agis comme"), Match: oneOf(
			`\bact (?:as|like) (?:(?:if )?(?:you are|you were|youre) )?(?:a |an |the )?(?:different|new|unrestricted|unfiltered|uncensored|jailbroken|evil)\b`,
			`\b(?:handle|verhalte dich|agiere) (?:als|wie) (?:eine? )?(?:ander|neue|unbeschränkt|uneingeschränkt|unzensiert)`,
			`\bactúa como (?:si fueras )?una? (?:ia sin|asistente sin|otr|nuev)|\bagis comme (?:si tu étais )?une? (?:autre|ia sans|assistant sans)`,
		)},
		{Name: "pretend", words: split("pretend, tu so, fais semblant, finge, finja, притворись, 假装"), Match: oneOf(
			begin+`pretend (?:that )?(?:you are|youre|you were|to be|you have no)\b`,
			`\btu so,? als (?:wärst|wärest|ob) du|\bfais semblant d(?:e |)être|\bfinge (?:ser|que eres)\b|\bfinja (?:ser|que)\b`,
			`притворись\b|假装你是`,
		), Except: regexp.MustCompile(`pretend (?:that )?(?:you are|youre|you were|to be) writing\b`)},
		{Name: "raw-output", words: split("output"), Weak: true,
			Match: oneOf(`\boutput (?:only )?(?:the )?(?:raw|just|pure)\b|\boutput only\b`)},
		{Name: "only-format", words: split("respond, antworte"), Weak: true,
			Match: oneOf(
				`\brespond (?:only )?(?:with )?(?:only )?(?:json|code|raw)\b|\bantworte nur mit (?:json|code)\b`)},
	}
	for i := range list {
		list[i].wordsOf = list[i].Match
	}
	return list
})

// oneOf returns an expression for any of several.
func oneOf(list ...string) *regexp.Regexp { return regexp.MustCompile(strings.Join(list, "|")) }

func split(words string) []string { return strings.Split(words, ", ") }
