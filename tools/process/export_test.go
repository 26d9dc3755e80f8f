package process

const SlotWait = slotWait
