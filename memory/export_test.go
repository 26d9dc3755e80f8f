package memory

var (
	ErrEmptySummary   = errEmptySummary
	ErrSummaryBudget  = errSummaryBudget
	ErrSummaryTooLong = errSummaryTooLong
	FamilyOf          = familyOf
	ImportanceOf      = importanceOf
)
