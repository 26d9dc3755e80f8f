// Package lazyctx has the context of a call that most often is over before anybody asks whether it should stop.
//
// A [Context] is what context.WithCancelCause returns, without what that costs as long as nobody looks: the standard context
// is made when Done is called first. Who makes a call makes one for it, and ends it when the call is over:
//
//	c := &lazyctx.Context{Parent: ctx}
//	defer c.End(context.Canceled)
//	return serve(c)
//
// # Guarantees
//
//   - Done, Err, context.Cause and contexts derived from it agree as those of a standard context do, whoever asks what first.
//   - Contexts derived from it cost no goroutine, and after End the parent holds nothing of it.
package lazyctx
