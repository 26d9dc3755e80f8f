package memory

const (
	FamilyAnthropic = familyAnthropic
	FamilyDeepSeek  = familyDeepSeek
	FamilyGemini    = familyGemini
	FamilyLlama     = familyLlama
	FamilyQwen      = familyQwen
	FamilyUnknown   = familyUnknown
	KindUser        = kindUser
)

var (
	ErrEmptySummary   = errEmptySummary
	ErrSummaryBudget  = errSummaryBudget
	ErrSummaryTooLong = errSummaryTooLong
	FamilyOf          = familyOf
	ImportanceOf      = importanceOf
)
