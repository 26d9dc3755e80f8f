package process

const (
	MaxRaw   = maxRaw
	SlotWait = slotWait
)
