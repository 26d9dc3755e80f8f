package fault

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
)

// Of returns the class of err, always one of the constants.
//
// It looks at err and at what err wraps, outermost first; joined errors are searched in their
// order, each with all that it wraps. The first error with a method Fault() Class decides, wherever
// it is. So the class of a wrapper overrides the class of what it wraps, and an error of class
// [None] is no failure. If no error has that method, the first known error of the standard library
// decides:
//
//	none          context.Canceled
//	transient     context.DeadlineExceeded, os.ErrDeadlineExceeded, http.ErrHandlerTimeout,
//	              everything else whose Timeout() is true, a temporary failure of DNS, a
//	              connection that was reset, aborted or closed early (io.EOF,
//	              io.ErrUnexpectedEOF and driver.ErrBadConn too), a stream that HTTP/2 reset
//	degraded      a connection that was refused, a host or network that can't be reached,
//	              a device that can't be read or written (EIO), too many open files (EMFILE,
//	              ENFILE)
//	user_fixable  a host name that doesn't exist (a wrong base URL, most often), a certificate
//	              that doesn't verify, plain HTTP or something else on a TLS port, a full disk
//	invalid       syntax and type errors of encoding/json
//	not_found     fs.ErrNotExist, sql.ErrNoRows
//	denied        fs.ErrPermission
//	permanent     errors.ErrUnsupported, fs.ErrExist
//
// Too many open files are degraded and not transient, because an immediate retry would fail again.
// An *exec.ExitError has no class here: only its caller knows what its exit status means.
//
// An error that matches one of these by a method Is(error) bool has its class. The class of nil is
// None; the class of any other error, and of an error whose class is out of range, is [Permanent]:
// see [Known]. A cause given to a context ([context.WithCancelCause]) is classified like any error:
// to be no failure, it must have a class or wrap context.Canceled.
func Of(err error) Class {
	c, _ := Known(err)
	return c
}

// Known returns the class of err as [Of] does, and whether it is known: from a method Fault, or
// because err is nil or in Of's table. For an unknown error it returns [Permanent] and false.
func Known(err error) (Class, bool) {
	if err == nil {
		return None, true
	}
	if c, ok := find(err, explicit); ok {
		if c >= numClasses {
			return Permanent, false
		}
		return c, true
	}
	if c, ok := find(err, inferred); ok {
		return c, true
	}
	return Permanent, false
}

func explicit(err error) (Class, bool) {
	if e, ok := err.(interface{ Fault() Class }); ok {
		return e.Fault(), true
	}
	return None, false
}

// inferred classifies errors of the standard library. It checks types before sentinels, and
// sentinels before Timeout, because the earlier ones are more specific: a name that doesn't resolve
// is also a network error.
func inferred(err error) (Class, bool) {
	if c, ok := ofType(err); ok {
		return c, true
	}
	if c, ok := ofErrno(err); ok {
		return c, true
	}
	asks, _ := err.(interface{ Is(error) bool })
	for i := range sentinels {
		s := &sentinels[i]
		if err == s.err || asks != nil && asks.Is(s.err) {
			return s.class, true
		}
	}
	if e, ok := err.(interface{ Timeout() bool }); ok && e.Timeout() {
		return Transient, true
	}
	return None, false
}

var sentinels = [...]struct {
	err   error
	class Class
}{
	{context.Canceled, None},
	{context.DeadlineExceeded, Transient},
	{os.ErrDeadlineExceeded, Transient},
	{io.EOF, Transient},
	{io.ErrUnexpectedEOF, Transient},
	{http.ErrHandlerTimeout, Transient},
	{driver.ErrBadConn, Transient},
	{http.ErrSchemeMismatch, UserFixable}, // what net/http makes of a tls.RecordHeaderError that is an HTTP response
	{fs.ErrNotExist, NotFound},
	{sql.ErrNoRows, NotFound},
	{fs.ErrPermission, Denied},
	{fs.ErrExist, Permanent},
	{errors.ErrUnsupported, Permanent},
}

func ofType(err error) (Class, bool) {
	switch e := err.(type) {
	case *net.DNSError:
		switch {
		case e.IsTimeout || e.IsTemporary:
			return Transient, true
		case e.IsNotFound:
			return UserFixable, true
		}
	case *tls.CertificateVerificationError, tls.RecordHeaderError,
		x509.UnknownAuthorityError, x509.HostnameError, x509.CertificateInvalidError, x509.ConstraintViolationError,
		x509.InsecureAlgorithmError, x509.SystemRootsError, x509.UnhandledCriticalExtension:
		return UserFixable, true
	case *json.SyntaxError, *json.UnmarshalTypeError:
		return Invalid, true
	case interface{ As(any) bool }:
		// net/http's type for this is not exported, but its As method converts it to a struct with
		// the same fields.
		var reset streamReset
		if e.As(&reset) {
			return reset.class(), true
		}
	}
	return None, false
}

// A streamReset receives the HTTP/2 stream error of net/http, or of golang.org/x/net/http2, by its
// method As. The fields must have these names and order.
type streamReset struct {
	StreamID uint32
	Code     uint32 // RFC 9113, section 7
	Cause    error
}

func (s streamReset) Error() string { return "fault: HTTP/2 stream reset" } // As asks for an error

func (s streamReset) class() Class {
	const inadequateSecurity, http11Required = 0xc, 0xd
	if s.Code == inadequateSecurity || s.Code == http11Required {
		return Permanent
	}
	return Transient
}
