package screen

// MatchesWithoutWord reports whether a pattern matches a text in which none of its words is.
func MatchesWithoutWord(p Pattern, text string) bool {
	return p.Match.MatchString(fold(text)) && p.Except == nil && p.find(fold(text)) < 0
}
