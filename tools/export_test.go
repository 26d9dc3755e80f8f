package tools

const (
	MaxTitle = maxTitle
)
