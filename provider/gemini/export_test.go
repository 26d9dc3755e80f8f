package gemini

const (
	DefaultEmbeddings = defaultEmbeddings
)
