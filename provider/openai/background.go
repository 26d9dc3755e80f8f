package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
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
// A key is a hash of the session and the request. It is removed when its answer was read to the
// end, or failed.
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

const (
	// lookTime is how long a look takes at most, and the request that asks for an answer. After the
	// Waiting chunk, nothing else ends a request that hangs.
	lookTime = time.Minute
	// mostFailed is how many looks in a row fail before the call does.
	mostFailed = 10
	// mostAdvice limits the advice of a server when to look again.
	mostAdvice = 5 * time.Minute
	// cancelTime is how long a call takes at most to cancel its answer.
	cancelTime = 2 * time.Second
)

// errLate ends a request that takes longer than lookTime.
var errLate = fault.New(fault.Transient,
	"openai: the server didn't answer a request in background mode within "+lookTime.String())

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

// A wait is one call that waits for an answer in background mode.
type wait struct {
	*answer
	key   string // of the Pending; "": the answer isn't kept
	id    string // of the answer
	said  bool   // a Waiting chunk was yielded
	left  bool   // the consumer has left, and the context hasn't ended
	ended bool   // End was yielded
	made  bool   // nothing is being made at the server any more
}

// background makes an answer in background mode: it asks for it, unless that was done before, and
// looks until it is there.
func (m *Model) background(ctx context.Context, a *answer, d decoder, body []byte, session string) {
	w := &wait{answer: a}
	if session != "" { // without it, equal requests may be different ones
		sum := sha256.Sum256(append([]byte(m.name+"\n"+session+"\n"), body...))
		w.key = m.waiting.take(hex.EncodeToString(sum[:]))
		defer m.waiting.release(w.key)
	}
	data, err := m.begin(ctx, w, body)
	if err != nil {
		a.fail(err)
		return
	}
	defer m.leave(ctx, w)
	if data, err = m.await(ctx, w, data); err != nil {
		a.fail(err)
	}
	if data == nil {
		return
	}
	w.made = true
	w.watch(ctx)
	if d.whole(data); w.ended || a.err != nil { // else it may be read again
		m.forget(ctx, w.key)
	}
}

// watch notes when End is yielded.
func (w *wait) watch(ctx context.Context) {
	yield := w.Yield
	w.Yield = func(c provider.Chunk) bool {
		more := yield(c)
		if c.Kind == provider.KindEnd { // after the end of the context, it isn't yielded
			w.ended = more || ctx.Err() == nil
		}
		return more
	}
}

// begin finds the answer that was asked for before, or asks for it. It returns the answer as it
// stands; nil if that isn't known.
func (m *Model) begin(ctx context.Context, w *wait, body []byte) (data []byte, err error) {
	if w.id, err = m.remembered(ctx, w.key); err == nil && w.id == "" {
		w.id, data, err = m.ask(ctx, w.answer, w.key, body)
	}
	return data, err
}

// await looks until the answer, which stands as data says, is there. It returns nil if the call
// ends before.
func (m *Model) await(ctx context.Context, w *wait, data []byte) ([]byte, error) {
	pause, advice, failed := firstLook, time.Duration(0), 0
	for data == nil || unfinished(data) {
		if data != nil || failed > 0 {
			if !w.wait(ctx, max(pause, min(advice, mostAdvice))) {
				return nil, nil
			}
			pause, advice = min(pause*3/2, longestLook), 0
		}
		now, err := m.look(ctx, w.answer, w.id)
		if err == nil {
			data, failed = now, 0
			continue
		}
		var e *provider.Error
		switch failed++; {
		case ctx.Err() != nil:
			return nil, err
		case errors.As(err, &e) && e.Status == http.StatusNotFound:
			m.forget(ctx, w.key) // the next attempt asks anew
			return nil, err
		case failed == mostFailed || !fault.Retryable(fault.Of(err)):
			return nil, err
		}
		advice, _ = fault.RetryAfter(err)
	}
	return data, nil
}

// wait waits for d, and says first that the call waits, once. It reports whether the call goes on.
func (w *wait) wait(ctx context.Context, d time.Duration) bool {
	if !w.said {
		w.said = true
		if !w.Yield(provider.Waiting(provider.Wait{Reason: provider.WaitBackground})) {
			w.Over, w.left = true, ctx.Err() == nil
			return false
		}
	}
	return sleep(ctx, d)
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
	data, err = within(ctx, func(ctx context.Context) ([]byte, error) {
		res, err := m.client.Post(ctx, a.Model, "responses", nil, body)
		return m.piece(a, res, err)
	})
	if err != nil {
		return "", nil, err
	}
	var r response
	_ = decode(data, &r) // it is JSON
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
	return within(ctx, func(ctx context.Context) ([]byte, error) {
		res, err := m.client.Get(ctx, a.Model, "responses/"+url.PathEscape(id), nil)
		return m.piece(a, res, err)
	})
}

// within makes a request that takes no longer than lookTime.
func within(ctx context.Context, request func(context.Context) ([]byte, error)) ([]byte, error) {
	limited, stop := context.WithTimeoutCause(ctx, lookTime, errLate)
	defer stop()
	data, err := request(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = errLate
	}
	return data, err
}

// piece returns the body of a server's answer, which is JSON.
func (m *Model) piece(a *answer, res *adapter.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	a.Res = res
	data, err := adapter.Whole(m.name, res.Body)
	if err == nil && !json.Valid(data) {
		err = &provider.Error{Class: fault.Transient, Err: provider.ErrIncomplete,
			Message: "the server's answer to a request in background mode isn't JSON"}
	}
	return data, err
}

// unfinished reports whether a response is still being made.
func unfinished(data []byte) bool {
	var r response
	return decode(data, &r) == nil && r.ID != "" && (r.Status == "queued" || r.Status == "in_progress")
}

// leave is called at the end of a call. It cancels an answer that is being made and that nobody
// will ask for again.
func (m *Model) leave(ctx context.Context, w *wait) {
	_, own := m.pending.(*pendingHere)
	switch {
	case w.made:
	case w.key == "": // nobody can
		m.cancel(ctx, w.Model, w.id)
	case own && (w.left || stopped(ctx)): // with a Pending of the host, another process may
		m.cancel(ctx, w.Model, w.id)
		m.forget(ctx, w.key)
	}
}

// stopped reports whether ctx was canceled for good. Its cause is then [context.Canceled] itself,
// or the machine.StopError of a run that somebody has canceled, which this package can't import and
// knows by its class and its words for people. The class alone isn't enough: a call that made room
// for a person's (ratelimit.ErrPreempted) is made again, and so is one whose leg is over, and
// perhaps one after a time limit or with a lost lease. If in doubt, the answer goes on.
func stopped(ctx context.Context) bool {
	cause := context.Cause(ctx)
	var stop interface {
		error
		Words() string
	}
	return errors.Is(cause, context.Canceled) || errors.As(cause, &stop) && fault.Of(stop) == fault.None
}

// cancel tells the server that nobody waits for an answer.
func (m *Model) cancel(ctx context.Context, model, id string) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	if res, err := m.client.Post(ctx, model, "responses/"+url.PathEscape(id)+"/cancel", nil, []byte("{}")); err == nil {
		res.Body.Close()
	}
}

// forget removes a key. If that fails, the next equal request of the session gets the same answer
// once more, and tries again to remove it.
func (m *Model) forget(ctx context.Context, key string) {
	if key != "" {
		_ = m.pending.SetPending(context.WithoutCancel(ctx), key, "")
	}
}

func pendingError(err error) error {
	return &provider.Error{Class: fault.Transient, Err: err,
		Message: "the store of answers that are being made in the background failed: " + err.Error()}
}

// waitingKeys are the keys of the calls that are in progress. A Model that New didn't make has nil.
type waitingKeys struct {
	mu   sync.Mutex // guards what follows
	keys map[string]bool
}

// take returns key, or "" if another call has it: of two equal requests at the same time, each gets
// an answer of its own.
func (w *waitingKeys) take(key string) string {
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.keys[key] {
		return ""
	}
	if w.keys == nil {
		w.keys = map[string]bool{}
	}
	w.keys[key] = true
	return key
}

// release gives back what take has returned.
func (w *waitingKeys) release(key string) {
	if key == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.keys, key)
}

// mostPending is how many answers a pendingHere keeps.
const mostPending = 1000

// A pendingHere is a Pending of one process.
type pendingHere struct {
	mu   sync.Mutex // guards what follows
	ids  map[string]string
	keys []string // of ids, the oldest first
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
		p.remove(key)
		return nil
	}
	if p.ids == nil {
		p.ids = map[string]string{}
	}
	if p.ids[key] == "" {
		if len(p.keys) >= mostPending {
			p.remove(p.keys[0])
		}
		p.keys = append(p.keys, key)
	}
	p.ids[key] = id
	return nil
}

// remove removes a key, if it is there.
func (p *pendingHere) remove(key string) {
	if i := slices.Index(p.keys, key); i >= 0 {
		p.keys = slices.Delete(p.keys, i, i+1)
	}
	delete(p.ids, key)
}
