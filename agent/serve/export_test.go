package serve

const (
	CodeAllowance   = codeAllowance
	CodeBusy        = codeBusy
	CodeCrossSite   = codeCrossSite
	CodeElsewhere   = codeElsewhere
	CodeForbidden   = codeForbidden
	CodeInternal    = codeInternal
	CodeInterrupted = codeInterrupted
	CodeMethod      = codeMethod
	CodeReaders     = codeReaders
	CodeReplaced    = codeReplaced
	CodeSignIn      = codeSignIn
	CodeSlow        = codeSlow
	CodeTooLarge    = codeTooLarge
	CodeUnavailable = codeUnavailable
	CodeUnread      = codeUnread
	CodeUsed        = codeUsed
	MaxMessage      = maxMessage
)
