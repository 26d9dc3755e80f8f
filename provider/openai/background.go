package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A Pending keeps the ids of the answers that are being made in background mode, so that a call
// that is made again, after a crash or by another process, waits for the answer that was asked for
// before, and doesn't pay for a second one. Its methods must be safe for concurrent use.
//
// A key is a hash of the session and the request. It is removed when its answer was read, or
// failed.
type Pending interface {
	// Pending returns the id of a key; "" if it has none.
	Pending(ctx context.Context, key string) (id string, err error)
	// SetPending sets the id of a key; "" removes it.
	SetPending(ctx context.Context, key, id string) error
}

// The times between two looks at an answer, which become longer.
const (
	firstLook   = time.Second
	longestLook = 10 * time.Second
)

// cancelTime is how long a call whose context has ended takes at most to cancel its answer.
const cancelTime = 2 * time.Second

// inBackground returns the body of a request that asks for background mode as that mode requires
// it; ok is false for other requests.
func inBackground(body []byte) (_ []byte, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || string(fields["background"]) != "true" {
		return body, false
	}
	fields["store"], fields["stream"] = json.RawMessage("true"), json.RawMessage("false")
	return adapter.JSON(fields), true
}

// background makes an answer in background mode: it asks for it, unless that was done before, and
// looks until it is there.
func (m *Model) background(ctx context.Context, a *answer, d decoder, body []byte, session string) {
	key := ""
	if session != "" { // without it, equal requests may be different ones
		sum := sha256.Sum256(append([]byte(m.name+"\n"+session+"\n"), body...))
		key = hex.EncodeToString(sum[:])
	}
	id, err := m.remembered(ctx, key)
	if err != nil {
		a.fail(err)
		return
	}
	var data []byte // the answer as it stood at the last look
	if id == "" {
		if id, data, err = m.ask(ctx, a, key, body); err != nil {
			a.fail(err)
			return
		}
	}
	wait := firstLook
	for data == nil || unfinished(data) {
		if data != nil {
			if wait == firstLook { // said once
				a.Over = !a.Yield(provider.Waiting(provider.Wait{Reason: provider.WaitBackground}))
			}
			if a.Over || !sleep(ctx, wait) {
				m.left(ctx, a.Model, key, id)
				return
			}
			wait = min(wait*3/2, longestLook)
		}
		if data, err = m.look(ctx, a, id); err != nil {
			if ctx.Err() != nil {
				m.left(ctx, a.Model, key, id)
			} else if e := (*provider.Error)(nil); errors.As(err, &e) && e.Status == http.StatusNotFound {
				m.forget(ctx, key) // the next attempt asks anew
			}
			a.fail(err)
			return
		}
	}
	d.whole(data)
	m.forget(ctx, key)
}

// remembered returns the id of an answer that was asked for before.
func (m *Model) remembered(ctx context.Context, key string) (string, error) {
	if key == "" {
		return "", nil
	}
	id, err := m.pending.Pending(ctx, key)
	if err != nil {
		return "", pendingError(err)
	}
	return id, nil
}

// ask asks for an answer, and remembers its id.
func (m *Model) ask(ctx context.Context, a *answer, key string, body []byte) (id string, data []byte, err error) {
	res, err := m.client.Post(ctx, a.Model, "responses", nil, body)
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	a.Res = res
	if data, err = adapter.Whole(m.name, res.Body); err != nil {
		return "", nil, err
	}
	var r response
	if err := decode(data, &r); err != nil {
		return "", nil, &provider.Error{Class: fault.Transient, Err: provider.ErrIncomplete,
			Message: "the server's answer to a request in background mode isn't JSON"}
	}
	if key != "" && unfinished(data) {
		if err := m.pending.SetPending(ctx, key, r.ID); err != nil {
			m.cancel(ctx, a.Model, r.ID)
			return "", nil, pendingError(err)
		}
	}
	return r.ID, data, nil
}

// sleep waits, and reports whether ctx is still valid.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// look returns the answer as it stands.
func (m *Model) look(ctx context.Context, a *answer, id string) ([]byte, error) {
	res, err := m.client.Get(ctx, a.Model, "responses/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a.Res = res
	return adapter.Whole(m.name, res.Body)
}

// unfinished reports whether a response is still being made.
func unfinished(data []byte) bool {
	var r response
	return decode(data, &r) == nil && r.ID != "" && (r.Status == "queued" || r.Status == "in_progress")
}

// left is called when the context has ended before the answer, or the consumer has left. What
// somebody may come back for goes on: after a time limit, and with a Pending of the host.
func (m *Model) left(ctx context.Context, model, key, id string) {
	_, own := m.pending.(*pendingHere)
	if own && (key == "" || ctx.Err() == nil || provider.Canceled(adapter.Over(ctx))) {
		m.cancel(ctx, model, id)
		m.forget(ctx, key)
	}
}

// cancel tells the server that nobody waits for an answer.
func (m *Model) cancel(ctx context.Context, model, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if res, err := m.client.Post(ctx, model, "responses/"+url.PathEscape(id)+"/cancel", nil, []byte("{}")); err == nil {
		res.Body.Close()
	}
}

// forget removes a key. If that fails, the answer is read once more, at most.
func (m *Model) forget(ctx context.Context, key string) {
	if key != "" {
		_ = m.pending.SetPending(context.WithoutCancel(ctx), key, "")
	}
}

func pendingError(err error) error {
	return &provider.Error{Class: fault.Transient, Err: err,
		Message: "the store of answers that are being made in the background failed: " + err.Error()}
}

// mostPending is how many answers a pendingHere keeps.
const mostPending = 1000

// A pendingHere is a Pending of one process.
type pendingHere struct {
	mu  sync.Mutex // guards what follows
	ids map[string]string
}

func (p *pendingHere) Pending(_ context.Context, key string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids[key], nil
}

func (p *pendingHere) SetPending(_ context.Context, key, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if id == "" {
		delete(p.ids, key)
		return nil
	}
	if p.ids == nil {
		p.ids = map[string]string{}
	}
	for old := range p.ids { // any one
		if len(p.ids) < mostPending {
			break
		}
		delete(p.ids, old)
	}
	p.ids[key] = id
	return nil
}
