// Package fault classifies errors by what to do about them.
//
// Code that reacts to errors (a breaker, a rate limiter, a retry loop, an agent that reports to a
// person) needs to know their [Class]. [Of] returns it for any error. An error states its class
// with a method
//
//	Fault() fault.Class
//
// which Of finds anywhere among the wrapped errors. Of also knows the errors of the standard
// library: contexts, the network, TLS, files, databases, JSON. [FromHTTP] turns a response into an
// error with a class. An unknown error is [Permanent]: nothing is retried on a guess. [Known] tells
// it from an error that somebody called permanent.
//
//	class         example                        what a caller does               again?  on a breaker
//	none          nil, canceled, preempted      nothing                          no      no
//	transient     timeout, connection reset      try again soon                   yes     counts
//	rate_limited  429                            wait as advised, then try again  yes     no
//	degraded      503, connection refused        wait longer, or use another      yes     counts
//	user_fixable  401, quota, wrong certificate  show a person the remedy         no      no
//	permanent     400, unsupported               give up                          no      no
//	invalid       JSON that doesn't parse        correct the input                no      no
//	not_found     no such file                   ask for something else           no      no
//	denied        no permission                  don't, or ask for permission     no      no
//	(permanent)   anything unknown               give up                          no      counts
//
// The last two columns are [Retryable], and [Class.Counts] of a known error. An error can also
// carry how long to wait ([RetryAfter], [WithRetryAfter], [ParseRetryAfter]) and what a person can
// do about it ([Remedy], [FixableError]).
//
// A typical caller:
//
//	res, err := client.Do(req)
//	if err == nil {
//		err = fault.FromHTTP(res)
//	}
//	switch class := fault.Of(err); {
//	case fault.Retryable(class):
//		wait, ok := fault.RetryAfter(err)
//		...
//	case class == fault.UserFixable:
//		remedy, ok := fault.Remedy(err)
//		...
//	}
//
// [Do] is such a caller: it calls a function again as its errors advise, or by a [Retry] for each
// class.
//
// # Guarantees
//
// Of, RetryAfter and Remedy never panic, even if methods of foreign errors do. They terminate on
// errors that wrap themselves, and allocate nothing for the errors of this package. No duration
// from this package is negative. The errors of this package don't print the query or the user
// information of a URL; [Wrap], [WithRetryAfter] and a [FixableError] without a message print the
// text of their cause. Everything here is safe for concurrent use; errors are immutable.
package fault
