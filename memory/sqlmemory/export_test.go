package sqlmemory

var (
	ErrReadOnly = errReadOnly
)
