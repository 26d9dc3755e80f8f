// Package fault says what kind of failure an error is, and so what to do about it.
//
// Everything that reacts to errors (a breaker, a rate limiter, a retry loop, an agent that must decide what to tell a
// person) asks one question of them: which [Class]? [Of] answers it for any error. An error answers for itself with a
// method
//
//	Fault() fault.Class
//
// which Of finds anywhere among the wrapped errors; for the rest it knows the errors of the standard library: contexts,
// the network, TLS, files, JSON. [FromHTTP] turns a response into an error with a class. What is unknown is [Permanent]:
// nothing is tried again on a guess.
//
//	class         example                        what a caller does               again?  on a breaker
//	none          nil, canceled, preempted      nothing                          no      no
//	transient     timeout, connection reset      try again soon                   yes     counts
//	rate_limited  429                            wait as told, then try again     yes     no
//	degraded      503, connection refused        wait longer, or go elsewhere     yes     counts
//	user_fixable  401, quota, wrong certificate  show a person the remedy         no      no
//	permanent     400, anything unknown          give up                          no      no
//	invalid       JSON that doesn't parse        correct the input                no      no
//	not_found     no such file                   ask for something else           no      no
//	denied        no permission                  don't, or ask for permission     no      no
//
// The last two columns are [Retryable] and [Class.Counts]. Two more things travel with an error: how long to wait
// ([RetryAfter], [WithRetryAfter], [ParseRetryAfter]) and what a person can do about it ([Remedy], [FixableError]).
//
// A caller needs little of it:
//
//	res, err := client.Do(req)
//	if err == nil {
//		err = fault.FromHTTP(res)
//	}
//	switch class := fault.Of(err); {
//	case fault.Retryable(class):
//		wait, told := fault.RetryAfter(err)
//		...
//	case class == fault.UserFixable:
//		remedy, known := fault.Remedy(err)
//		...
//	}
//
// # Guarantees
//
// Of, RetryAfter and Remedy never panic, whatever the methods of foreign errors do, end on errors that wrap themselves,
// and allocate nothing for the errors of this package. No duration from this package is negative. No error of this
// package prints the query or the user information of a URL by itself; what [Wrap], [WithRetryAfter] and a [FixableError]
// without a message print is the text of their cause. Everything here is safe for concurrent use; errors don't change once made.
package fault
