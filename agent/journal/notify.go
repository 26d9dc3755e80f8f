package journal

// A Notifier is a [Store] that says when something is posted to a session. The inboxes of other
// stores are read every 500 ms while a run of the session is in progress.
type Notifier interface {
	Store
	// Posted returns a channel that gets a value when something may have been posted to a session
	// since the channel was read last, by this or another process: within a second of the post, or
	// later if the store says when, and at other times, too. It never blocks. The caller must call
	// stop, once.
	Posted(session string) (posted <-chan struct{}, stop func())
}
