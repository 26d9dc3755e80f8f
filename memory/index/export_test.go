package index

const (
	MatchLess   = matchLess
	MatchLikely = matchLikely
)

var (
	ErrVersion = errVersion
)
