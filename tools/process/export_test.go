package process

const (
	SlotWait = slotWait
	MaxKept  = maxKept
	MaxWhole = maxWhole
)
