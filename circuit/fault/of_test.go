package fault_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func TestTheStandardLibrarysErrorsHaveAClass(t *testing.T) {
	timeout := &net.DNSError{Err: "i/o timeout", Name: "cms", IsTimeout: true, IsNotFound: true}
	tests := []struct {
		name string
		err  error
		want fault.Class
	}{
		{"nil", nil, fault.None},
		{"canceled", context.Canceled, fault.None},
		{"deadline of a context", context.DeadlineExceeded, fault.Transient},
		{"deadline of a file or connection", os.ErrDeadlineExceeded, fault.Transient},
		{"handler timeout", http.ErrHandlerTimeout, fault.Transient},
		{"end of file", io.EOF, fault.Transient},
		{"unexpected end of file", io.ErrUnexpectedEOF, fault.Transient},
		{"name lookup timed out", timeout, fault.Transient},
		{"name lookup failed for now", &net.DNSError{IsTemporary: true}, fault.Transient},
		{"no such host", &net.DNSError{IsNotFound: true}, fault.UserFixable},
		{"name lookup canceled", &net.DNSError{UnwrapErr: context.Canceled}, fault.None},
		{"name lookup failed, nobody knows why", &net.DNSError{}, fault.Permanent},
		{"unknown authority", x509.UnknownAuthorityError{}, fault.UserFixable},
		{"wrong host name in a certificate", x509.HostnameError{Certificate: &x509.Certificate{}}, fault.UserFixable},
		{"expired certificate", x509.CertificateInvalidError{Reason: x509.Expired}, fault.UserFixable},
		{"certificate that doesn't verify", &tls.CertificateVerificationError{Err: errors.New("x")}, fault.UserFixable},
		{"not TLS", tls.RecordHeaderError{}, fault.UserFixable},
		{"HTTP on a TLS port", http.ErrSchemeMismatch, fault.UserFixable},
		{"no such file", fs.ErrNotExist, fault.NotFound},
		{"no permission", fs.ErrPermission, fault.Denied},
		{"JSON syntax", json.Unmarshal([]byte(`{"a":`), new(any)), fault.Invalid},
		{"JSON type", json.Unmarshal([]byte(`"a"`), new(int)), fault.Invalid},
		{"unsupported", errors.ErrUnsupported, fault.Permanent},
		{"exists already", fs.ErrExist, fault.Permanent},
		{"no rows", sql.ErrNoRows, fault.NotFound},
		{"broken connection of a database", driver.ErrBadConn, fault.Transient},
		{"status of a program", &exec.ExitError{}, fault.Permanent},
		{"unknown", errors.New("something else"), fault.Permanent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, fault.Of(tt.err))
			if tt.err != nil {
				wrapped := &url.Error{Op: "Get", URL: "x", Err: fmt.Errorf("call: %w", tt.err)}
				require.Equal(t, tt.want, fault.Of(wrapped), "wrapped")
				require.Equal(t, tt.want, fault.Of(errors.Join(errors.New("other"), tt.err)), "joined")
			}
		})
	}
}

func TestRealFileErrorsHaveAClass(t *testing.T) {
	dir := t.TempDir()

	_, err := os.Open(filepath.Join(dir, "missing"))
	require.Equal(t, fault.NotFound, fault.Of(err))

	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = w.Write([]byte("x"))
	require.Error(t, err)
	require.Equal(t, fault.Transient, fault.Of(err), "broken pipe")
	require.NoError(t, w.Close())
}

func TestAnExplicitClassWinsOverInferenceWhereverItIs(t *testing.T) {
	deep := fmt.Errorf("a: %w", fmt.Errorf("b: %w", fault.New(fault.RateLimited, "slow down")))
	tests := []struct {
		name string
		err  error
		want fault.Class
	}{
		{"around a known error", fault.Wrap(fault.Degraded, io.EOF), fault.Degraded},
		{"below a known error", fmt.Errorf("%w: %w", io.EOF, deep), fault.RateLimited},
		{"last of a join", errors.Join(io.EOF, fs.ErrNotExist, deep), fault.RateLimited},
		{"outer wins over inner", fault.Wrap(fault.Denied, deep), fault.Denied},
		{"first branch wins, however deep", errors.Join(deep, fault.New(fault.Denied, "no")), fault.RateLimited},
		{"none is no failure", fmt.Errorf("x: %w", fault.Wrap(fault.None, deep)), fault.None},
		{"out of range is permanent", fault.New(fault.Class(99), "x"), fault.Permanent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, fault.Of(tt.err)) })
	}
}

func TestAClassThatNobodyHasSetIsntKnown(t *testing.T) {
	var none *fault.HTTPError
	for _, err := range []error{
		errors.New("status 503"), &exec.ExitError{}, &net.DNSError{}, fault.New(fault.Class(99), "x"), &hostile{}, none,
		loop{},
	} {
		class, known := fault.Known(err)
		require.Equal(t, fault.Permanent, class)
		require.False(t, known)
	}
	for _, err := range []error{
		nil, context.Canceled, errors.ErrUnsupported, fs.ErrNotExist, io.EOF, fault.New(fault.Permanent, "x"),
		fmt.Errorf("x: %w", errors.Join(errors.New("y"), fault.NewFixable("x", "y", nil))),
	} {
		class, known := fault.Known(err)
		require.Equal(t, fault.Of(err), class)
		require.True(t, known, err)
	}
}

func TestOfJoinedKnownErrorsTheFirstDecides(t *testing.T) {
	require.Equal(t, fault.NotFound, fault.Of(errors.Join(fmt.Errorf("x: %w", fs.ErrNotExist), io.EOF)))
	require.Equal(t, fault.Transient, fault.Of(errors.Join(io.EOF, fs.ErrNotExist)))
}

func TestACauseIsNoFailureOnlyIfItSaysSo(t *testing.T) {
	stop := errors.New("stopped by a person")
	for want, cause := range map[fault.Class]error{
		fault.Permanent: stop,
		fault.None:      fault.Wrap(fault.None, stop),
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		require.Equal(t, want, fault.Of(context.Cause(ctx)))
		require.Equal(t, fault.None, fault.Of(ctx.Err()))
	}
}

// http2Reset converts itself by As the way that net/http's stream error does.
type http2Reset uint32

func (http2Reset) Error() string { return "stream error" }

func (r http2Reset) As(target any) bool {
	code := reflect.ValueOf(target).Elem().FieldByName("Code")
	if code.IsValid() {
		code.SetUint(uint64(r))
	}
	return code.IsValid()
}

func TestAResetStreamIsTransientUnlessHTTP2ItselfIsRefused(t *testing.T) {
	for code, want := range map[http2Reset]fault.Class{
		0x0: fault.Transient, // NO_ERROR
		0x2: fault.Transient, // INTERNAL_ERROR
		0x7: fault.Transient, // REFUSED_STREAM
		0xc: fault.Permanent, // INADEQUATE_SECURITY
		0xd: fault.Permanent, // HTTP_1_1_REQUIRED
	} {
		// Beside an error of another class, so that permanent isn't just the answer for the
		// unknown.
		require.Equal(t, want, fault.Of(errors.Join(code, fs.ErrNotExist)), "%#x", uint32(code))
	}
}

// hostile fails in every method that a search calls.
type hostile struct{ err error }

func (h *hostile) Error() string                     { return "hostile" }
func (h *hostile) Fault() fault.Class                { panic("fault") }
func (h *hostile) RetryAfter() (time.Duration, bool) { panic("retry after") }
func (h *hostile) Is(error) bool                     { panic("is") }
func (h *hostile) As(any) bool                       { panic("as") }
func (h *hostile) Timeout() bool                     { panic("timeout") }
func (h *hostile) Unwrap() error                     { return h.err } // panics on nil

func TestAnErrorThatPanicsSaysNothing(t *testing.T) {
	var (
		none    *hostile
		fixable *fault.FixableError
		status  *fault.HTTPError
	)
	for _, err := range []error{none, status, &hostile{}} {
		require.Equal(t, fault.Permanent, fault.Of(err))
		require.Equal(t, fault.NotFound, fault.Of(errors.Join(err, fs.ErrNotExist)), "the others are still heard")
		require.Equal(t, fault.Denied, fault.Of(errors.Join(err, fault.New(fault.Denied, "no"))))
		_, ok := fault.RetryAfter(err)
		require.False(t, ok)
	}
	require.Equal(t, fault.NotFound, fault.Of(&hostile{err: fs.ErrNotExist}))
	_, ok := fault.Remedy(fixable)
	require.False(t, ok)
}

// loop wraps itself; loops wraps itself twice.
type loop struct{}

func (l loop) Error() string { return "loop" }
func (l loop) Unwrap() error { return l }

type loops struct{}

func (loops) Error() string   { return "loops" }
func (loops) Unwrap() []error { return []error{loops{}, loops{}, io.EOF} }

func TestAnErrorThatWrapsItselfEndsTheSearch(t *testing.T) {
	require.Equal(t, fault.Permanent, fault.Of(loop{}))
	require.Equal(t, fault.Permanent, fault.Of(loops{}))
	_, ok := fault.RetryAfter(loops{})
	require.False(t, ok)
}
