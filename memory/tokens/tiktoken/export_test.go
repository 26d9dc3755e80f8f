package tiktoken

var (
	EncodingOf = encodingOf
)
