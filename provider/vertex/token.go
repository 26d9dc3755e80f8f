package vertex

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream"
)

const scope = "https://www.googleapis.com/auth/cloud-platform"

// tokenTimeout is the longest time for a request to a token server.
const tokenTimeout = 30 * time.Second

// defaultSource returns the source of the application default credentials, and their project.
func defaultSource(ctx context.Context) (oauth2.TokenSource, string, error) {
	// Later requests for tokens use this context, so it must not end.
	ctx = context.WithValue(context.WithoutCancel(ctx), oauth2.HTTPClient, &http.Client{Timeout: tokenTimeout})
	found, err := google.FindDefaultCredentials(ctx, scope)
	if err != nil {
		// The text of err could contain a part of the file.
		return nil, "", fault.NewFixable("vertex: no usable application default credentials", remedy, nil)
	}
	return found.TokenSource, found.ProjectID, nil
}

// tokens returns a Key that gets access tokens from a source. The source doesn't know the context
// of a call, so a call that is canceled leaves it behind; it ends after at most tokenTimeout.
func tokens(source oauth2.TokenSource) adapter.Key {
	type result struct {
		token *oauth2.Token
		err   error
	}
	return func(ctx context.Context) (string, error) {
		done := make(chan result, 1)
		go func() {
			defer func() {
				if v := recover(); v != nil {
					done <- result{err: stream.NewPanicError("the token source", v)}
				}
			}()
			token, err := source.Token()
			done <- result{token, err}
		}()
		select {
		case <-ctx.Done():
			return "", adapter.Over(ctx)
		case r := <-done:
			switch {
			case r.err != nil:
				return "", tokenError(r.err)
			case r.token == nil || r.token.AccessToken == "":
				return "", tokenError(errors.New("the token is empty"))
			}
			return r.token.AccessToken, nil
		}
	}
}

// tokenError returns the error of a token that didn't come. It has nothing of the body of a token
// server's answer and of the address, either of which may contain secrets.
func tokenError(err error) error {
	e := &provider.Error{Class: fault.UserFixable, Provider: Name, Remedy: remedy, Message: "no access token"}
	var refused *oauth2.RetrieveError
	var failed *url.Error
	switch {
	case errors.As(err, &refused):
		if refused.Response != nil {
			e.Message += fmt.Sprintf(": the token server answered with status %d", refused.Response.StatusCode)
			if class := fault.FromStatus(refused.Response.StatusCode); fault.Retryable(class) {
				e.Class, e.Remedy = class, ""
			}
		}
	case errors.As(err, &failed):
		e.Message += ": the token server can't be reached"
		e.Class, e.Remedy = adapter.Unreached(failed.Err), ""
	}
	return e
}
