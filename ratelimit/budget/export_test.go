package budget

const (
	CallLost = callLost
)

var (
	ErrSettled = errSettled
)
