package assistant

import (
	"context"

	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

// After returns a function that carries out a call, or a plan, that waits for a decision on a copy
// of the site, so that the preview can show the site as it would be. The call is named by its id or
// by that of its pause.
func After(hub *live.Hub, cfg cmstools.Config) func(context.Context, *site.Site, string, string) error {
	return func(ctx context.Context, copied *site.Site, session, call string) error {
		pending, err := hub.Agent().Session(session).Pending(ctx)
		if err != nil {
			return err
		}
		for _, p := range pending {
			for _, p := range p.Flat() {
				if p.ID == call || p.Call.ID == call {
					on := cfg
					on.Site = copied
					return cmstools.Try(ctx, on, p.Call.Name, p.Call.Input)
				}
			}
		}
		return fault.Errorf(fault.NotFound, "assistant: the call %q doesn't wait for a decision", call)
	}
}
