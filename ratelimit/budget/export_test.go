package budget

const (
	CallLost       = callLost
	EventForgotten = eventForgotten
	EventReached   = eventReached
	EventUnpriced  = eventUnpriced
)

var (
	ErrSettled = errSettled
)
