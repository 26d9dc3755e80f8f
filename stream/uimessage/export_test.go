package uimessage

const (
	StateStreaming = stateStreaming
)
