// Package abandon calls functions that may ignore the end of their context. Such a function is
// abandoned: its goroutine stays until it returns, and nobody waits for it any more.
//
//	var page string
//	if !abandon.Do(ctx, abandon.Reports{}, func() { page = fetch(ctx, url) }) {
//		return ctx.Err() // fetch still runs, and may still write page
//	}
package abandon
