package guard

const (
	KindRecovery = kindRecovery
)
