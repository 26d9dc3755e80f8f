package agui

const (
	EncryptedMessage = encryptedMessage
	SubagentSuccess  = subagentSuccess
)
