package fault

import "strconv"

// A Class says what kind of failure an error is: None, Transient, RateLimited, Degraded,
// UserFixable, Permanent, Invalid, NotFound or Denied. Its text form ([Class.String],
// [Class.MarshalText]) is stable and may be stored; its number may not.
type Class uint8

const (
	// None is the class of nil and of calls that ended without failing: canceled by the caller, or
	// preempted. Don't retry on your own, don't report it, and don't count it as a failure of the
	// resource.
	None Class = iota

	// Transient is a failure that may be gone at the next attempt: a timeout, a connection that
	// broke. Try again after a short delay.
	Transient

	// RateLimited is a resource that works and asks for fewer calls. Wait as [RetryAfter] advises,
	// or with a growing delay if there is no advice, and try again; other callers of the same
	// resource should wait, too.
	RateLimited

	// Degraded is a resource that is down or overloaded. Try again a few times with longer delays,
	// or use another resource.
	Degraded

	// UserFixable is a failure that ends when a person does something: sets a key, pays, corrects
	// an address. Don't try it again; show what [Remedy] says.
	UserFixable

	// Permanent is a failure that another attempt would only repeat. Every failure of an unknown
	// kind is permanent. Give up.
	Permanent

	// Invalid is a failure of the input: it doesn't parse, or breaks a rule. The author of the
	// input, which may be a model, should correct it.
	Invalid

	// NotFound means that the thing that the call named doesn't exist. Try another name.
	NotFound

	// Denied means that the caller isn't allowed to do this. Don't repeat it unless a permission
	// changes.
	Denied

	numClasses = iota
)

var classNames = [numClasses]string{
	None:        "none",
	Transient:   "transient",
	RateLimited: "rate_limited",
	Degraded:    "degraded",
	UserFixable: "user_fixable",
	Permanent:   "permanent",
	Invalid:     "invalid",
	NotFound:    "not_found",
	Denied:      "denied",
}

// String returns the name of c: "none", "transient", "rate_limited", "degraded", "user_fixable",
// "permanent", "invalid", "not_found" or "denied". A value that is none of the constants reads
// "class(200)".
func (c Class) String() string {
	if c < numClasses {
		return classNames[c]
	}
	return "class(" + strconv.Itoa(int(c)) + ")"
}

// MarshalText returns the name of c, or an error of class Invalid if c is none of the constants.
func (c Class) MarshalText() ([]byte, error) {
	if c >= numClasses {
		return nil, unknown(c.String())
	}
	return []byte(classNames[c]), nil
}

// UnmarshalText sets c to the class of that name, in the exact spelling of [Class.String]. For any
// other text it returns an error of class Invalid and leaves c as it was.
func (c *Class) UnmarshalText(text []byte) error {
	for i, name := range classNames {
		if string(text) == name {
			*c = Class(i)
			return nil
		}
	}
	return unknown(string(text))
}

// Counts reports whether an error that is known ([Known]) to be of class c is a failure of the
// resource, and so counts on a breaker: [Transient] and [Degraded] are. The other classes are about
// the call or its caller; a rate limit shows that the resource works.
func (c Class) Counts() bool { return c == Transient || c == Degraded }

// Retryable reports whether the same call may succeed later by itself: [Transient], [RateLimited]
// and [Degraded]. The caller must know whether it is safe to repeat the call.
func Retryable(c Class) bool { return c == Transient || c == RateLimited || c == Degraded }

func unknown(text string) error { return Errorf(Invalid, "fault: unknown class %.64q", text) }
