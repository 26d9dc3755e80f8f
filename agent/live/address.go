package live

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
)

// maxAddress is how many bytes Config.Address may have: it is in the name of the owner of a lease.
const maxAddress = 200

// checkAddress returns what is wrong with Config.Address.
func checkAddress(address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		(u.Scheme+"://"+u.Host == address) && !strings.ContainsAny(address, " \t") && len(address) <= maxAddress {
		return nil
	}
	return &agent.ArgError{Func: "live.New", Field: "Config.Address", Err: err,
		Problem: fmt.Sprintf("it is %q; give a scheme and a host of at most %d bytes, such as http://10.0.0.7:8080", address,
			maxAddress)}
}

// Elsewhere returns the Config.Address of the hub that drives the run in progress of a session, if
// that is another hub with an address, and else nothing. Package agent/serve sends readers there,
// because that hub alone has the text of a model call in progress. A hub without an address of its
// own returns nothing.
func (h *Hub) Elsewhere(ctx context.Context, name string) (address string, err error) {
	if h == nil || h.topics == nil {
		return "", errNoHub
	}
	if h.cfg.Address == "" || h.drives(name) {
		return "", nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	head, err := h.cfg.Agent.Journal().Head(ctx, name)
	if err != nil || agent.Status(head.Status) != agent.Running || !time.Now().Before(head.Until) {
		return "", err
	}
	if address = session.AddressOf(head.Owner); address == h.cfg.Address {
		return "", nil
	}
	return address, nil
}

// drives reports whether a run of the session is in progress in this hub.
func (h *Hub) drives(name string) bool {
	h.mu.Lock()
	t := h.topics[name]
	h.mu.Unlock()
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.driven && !t.remote
}
