package journal

import "time"

// PollInbox is how often package agent looks into the inbox of a session whose run is in progress,
// if its [Store] isn't a [Notifier].
const PollInbox = 500 * time.Millisecond

// A Notifier is a [Store] that says when something is posted to a session, so that its inbox
// needn't be read again and again.
type Notifier interface {
	Store
	// Posted returns a channel that gets a value when something may have been posted to a session
	// since the channel was read last, by this or another process: within a second of the post, or
	// later if the store says when, and at other times, too. It never blocks. The caller must call
	// stop, once.
	Posted(session string) (posted <-chan struct{}, stop func())
}
