package journal

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoSession says that no session has that name.
var ErrNoSession = errors.New("journal: no such session")

// ErrInbox says that an append with [Append].Quiet wasn't stored, because something is in the
// inbox.
var ErrInbox = errors.New("journal: not appended, because something is in the inbox")

// A ConflictError says that the caller isn't the writer of a session, or no longer: another writer
// has appended, or the fence is stale. The caller must read the log again before it does anything
// else. The same append again gets the same error.
type ConflictError struct {
	Session string
	// After is what the append named, HaveSeq the number of the last record. Renew and Take name no
	// number; then After is HaveSeq.
	After, HaveSeq uint64
	// Fence is what the caller named. HaveFence is the fence of the session's newest lease. It is 0
	// if the session was never leased, or doesn't exist: a session deleted whole takes its leases
	// along. So every fence of a deleted session is stale, and a writer that holds one can't bring
	// the session back.
	Fence, HaveFence uint64
	// Owner has the newest lease until Until. It is empty if that lease was released, or if there
	// is none.
	Owner string
	Until time.Time
}

// Stale reports whether the fence is the reason for the conflict, and not the number.
func (e *ConflictError) Stale() bool {
	return e.Fence != e.HaveFence || e.Fence != 0 && e.Owner == ""
}

// Error says what was expected and what the session has.
func (e *ConflictError) Error() string {
	switch {
	case !e.Stale():
		return fmt.Sprintf("journal: session %q: can't append after record %d, the last one is %d", e.Session, e.After,
			e.HaveSeq)
	case e.HaveFence == 0:
		return fmt.Sprintf("journal: session %q: fence %d is stale, the session isn't leased or was deleted", e.Session,
			e.Fence)
	case e.Owner == "":
		return fmt.Sprintf("journal: session %q: fence %d is stale, fence %d was released", e.Session, e.Fence,
			e.HaveFence)
	default:
		return fmt.Sprintf("journal: session %q: fence %d is stale, %q has fence %d until %s",
			e.Session, e.Fence, e.Owner, e.HaveFence, e.Until.Format(time.RFC3339Nano))
	}
}

// A HeldError says that another owner has a lease on a session that hasn't ended.
type HeldError struct {
	Session string
	Owner   string
	Until   time.Time // when to try again, by the store's clock
}

// Error names the session, who leases it, and until when.
func (e *HeldError) Error() string {
	return fmt.Sprintf("journal: session %q is leased by %q until %s", e.Session, e.Owner,
		e.Until.Format(time.RFC3339Nano))
}

// A PostedError says that an item wasn't posted, because its id, or one of those that it closes,
// was used in its session before.
type PostedError struct {
	Session string
	ID      string // the id that was used before
	Taken   bool   // the first item with that id is no longer in the inbox: it was taken, or the id was closed
}

// Error names the item and says where it is.
func (e *PostedError) Error() string {
	where := "is in the inbox"
	if e.Taken {
		where = "was taken"
	}
	return fmt.Sprintf("journal: session %q: item %q %s already", e.Session, e.ID, where)
}

// A PrunedError says that some of the requested records were deleted.
type PrunedError struct {
	Session string
	After   uint64 // what was requested
	UpTo    uint64 // reading after this number works
}

// Error says what was requested and what was deleted.
func (e *PrunedError) Error() string {
	return fmt.Sprintf("journal: session %q: can't read after record %d, records up to %d were pruned", e.Session,
		e.After, e.UpTo)
}

// An InvalidError says that a request is invalid, whatever the store holds.
type InvalidError struct {
	Field   string // as in Append.Records[2].Kind
	Problem string // what is wrong with it, and what would be valid
}

// Error names the field and says what would be valid.
func (e *InvalidError) Error() string { return "journal: " + e.Field + " " + e.Problem }

// ErrUnusable matches the errors of a store that can't be written until somebody has acted: its
// disk is full, it may not be written, it is damaged. The same append again would get the same
// error, so a caller needn't repeat it. See [Unusable].
var ErrUnusable = errors.New("journal: the store can't be written until somebody has acted")

// Unusable returns an error with that text that matches [ErrUnusable] with [errors.Is].
func Unusable(text string) error { return &unusableError{text} }

type unusableError struct{ text string }

func (e *unusableError) Error() string { return e.text }

func (e *unusableError) Is(target error) bool { return target == ErrUnusable }

// Unclear reports whether err, from a method that changes a store, leaves open whether the change
// was made. That is so for every error that isn't one of this package's. A context that ended
// counts, because it may have ended too late to stop a commit.
func Unclear(err error) bool {
	return err != nil && !errors.Is(err, ErrNoSession) && !errors.Is(err, ErrInbox) && !is[*ConflictError](err) &&
		!is[*HeldError](err) && !is[*PostedError](err) && !is[*PrunedError](err) && !is[*InvalidError](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
