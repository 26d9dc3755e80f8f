package browser

// useChatColumns are the columns of clients with useChat.
func useChatColumns() []matrixColumn { return nil }
