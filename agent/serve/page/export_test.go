package page

const (
	KindPlan = kindPlan
)
