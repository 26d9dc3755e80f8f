package sqlite

var (
	ErrFull     = errFull
	ErrReadOnly = errReadOnly
	ErrReplaced = errReplaced
)
