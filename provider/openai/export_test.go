package openai

const (
	DefaultEmbeddings = defaultEmbeddings
)
