package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/circuit/fault"
)

// An inbox answers requests about items.
type inbox struct {
	*server
	cfg   ApprovalsConfig
	items *approvals.Inbox
}

// list answers with the open items that the user may see. A page ends with all items of a session,
// and only a session that the user may see is named.
func (i *inbox) list(w http.ResponseWriter, r *http.Request, _ string) *problem {
	q, p := query(r, "prefix", "kind", "tool", "for", "before", "after", "limit")
	if p != nil {
		return p
	}
	f := approvals.Filter{Prefix: q["prefix"], Kind: agent.PauseKind(q["kind"]), Tool: q["tool"], For: q["for"],
		After: q["after"]}
	if text := q["before"]; text != "" {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return malformed(`"before" has to be a time such as 2006-01-02T15:04:05Z`)
		}
		f.Before = t
	}
	limit, p := number(q, "limit", approvalsPage)
	if p != nil {
		return p
	}
	limit = cmp.Or(limit, approvalsPage)
	out := struct {
		Items []approvals.Open `json:"items"`
		Next  string           `json:"next,omitempty"` // the value of ?after= for what follows
	}{Items: []approvals.Open{}}
	for o, err := range i.items.List(r.Context(), f) {
		switch {
		case err != nil && o.Session == "":
			return failed(err)
		case err != nil: // the items that its head shows follow
			i.log.ErrorContext(r.Context(), "serve: a session with many open items can't be read", "session", o.Session,
				"error", err)
			continue
		}
		if _, err := i.may(r, itemOf(&o), ActionList); err != nil {
			if p := notNow(err); p != nil { // else the item would be missing
				return p
			}
			continue
		}
		if n := len(out.Items); n >= limit && out.Items[n-1].Session != o.Session {
			out.Next = out.Items[n-1].Session
			break
		}
		out.Items = append(out.Items, o)
	}
	answer(w, http.StatusOK, out)
	return nil
}

func itemOf(o *approvals.Open) Item {
	return Item{Session: o.Session, ID: o.ID, Kind: o.Kind, Tool: o.Tool, Reason: o.Reason, For: o.For,
		Expires: o.Expires}
}

// item answers with one item.
func (i *inbox) item(w http.ResponseWriter, r *http.Request, _ string) *problem {
	q, p := query(r, "session", "id", "messages")
	if p != nil {
		return p
	}
	messages, p := number(q, "messages", approvalsMessages)
	if p != nil {
		return p
	}
	d, _, p := i.seen(r, q["session"], q["id"], messages)
	if p != nil {
		return p
	}
	answer(w, http.StatusOK, d)
	return nil
}

// noItem is the answer both for missing items and for items that the user may not see.
func noItem() *problem {
	return fail(http.StatusNotFound, CodeUnknown, fault.NotFound, "there is no such item, or it isn't yours to see")
}

// seen returns an item that the user may see, and the authorizer's Item for it. A missing item and
// one that the user may not see are treated alike.
func (i *inbox) seen(r *http.Request, session, id string, messages int) (*approvals.Detail, Item, *problem) {
	d, err := i.items.Find(r.Context(), session, id, messages)
	if err != nil {
		return nil, Item{}, i.notFound(r, err, Item{Session: session, ID: id})
	}
	asked := d.Pause // a copy, so that the authorizer can't change the item
	item := Item{Session: session, ID: id, Kind: d.Pause.Kind, Tool: d.Pause.Call.Name, Reason: d.Pause.Reason,
		For: d.Pause.For, Expires: d.Pause.Expires, Agent: d.Agent, Pause: &asked}
	if _, err := i.may(r, item, ActionRead); err != nil {
		return nil, Item{}, cmp.Or(notNow(err), noItem())
	}
	return d, item, nil
}

// notFound returns the answer to a request for an item of a session that couldn't be read, or that
// isn't there. Those who may do something with what is known without the log get the error. To all
// others it is as if there were no such session.
func (i *inbox) notFound(r *http.Request, err error, item Item) *problem {
	u, unreadable := errors.AsType[*approvals.UnreadableError](err)
	if !unreadable {
		return failed(err)
	}
	if n := slices.IndexFunc(u.Open, func(o approvals.Open) bool { return o.ID == item.ID }); n >= 0 {
		item = itemOf(&u.Open[n])
	}
	_, denied := i.may(r, item, ActionList)
	if p := notNow(denied); p != nil {
		return p
	}
	if denied != nil {
		i.log.WarnContext(r.Context(), "serve: a request for a session that can't be read, by somebody who may not see it",
			"session", item.Session, "error", err)
		return noItem()
	}
	return failed(err)
}

// may calls the authorizer. A panic denies.
func (i *inbox) may(r *http.Request, item Item, action Action) (user string, err error) {
	err = host("ApprovalsConfig.Authorize", func() (err error) {
		user, err = i.cfg.Authorize(r, item, action)
		return err
	})
	i.logPanic(err)
	return user, err
}

// decide takes a decision.
func (i *inbox) decide(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body struct {
		Session string `json:"session"`
		request.Decision
	}
	if p := i.decode(w, r, &body); p != nil {
		return p
	}
	if body.Session == "" || body.ID == "" || body.Decision.Decision == "" {
		return malformed(`the body needs "session", "id" and "decision"`)
	}
	ds, p := parse([]request.Decision{body.Decision})
	if p != nil {
		return p
	}
	detail, item, p := i.seen(r, body.Session, body.ID, 0)
	if p != nil {
		return p
	}
	proposed := ds[0] // a copy, so that what is recorded is what the body says
	proposed.Input, proposed.Value = slices.Clone(proposed.Input), slices.Clone(proposed.Value)
	item.Decision = &proposed
	user, err := i.may(r, item, ActionDecide)
	switch {
	case notNow(err) != nil:
		return notNow(err)
	case err != nil:
		return fail(http.StatusForbidden, codeForbidden, fault.Denied, "you may see this, but not do it")
	case user == "":
		return internal(errors.New("serve: ApprovalsConfig.Authorize permits it but doesn't say to whom"))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
	defer cancel()
	if err := i.items.Decide(ctx, detail, ds[0].By(user)); err != nil {
		return failed(err)
	}
	if i.cfg.OnDecided != nil {
		i.logPanic(host("ApprovalsConfig.OnDecided", func() error { // the decision is recorded, whatever that does
			i.cfg.OnDecided(context.WithoutCancel(r.Context()), Decided{Agent: i.cfg.Agents[detail.Agent],
				Session: body.Session, ID: body.ID, Kind: ds[0].Kind, User: user})
			return nil
		}))
	}
	answer(w, http.StatusOK, struct {
		Session  string             `json:"session"`
		ID       string             `json:"id"`
		Decision agent.DecisionKind `json:"decision"`
		By       string             `json:"by"`
	}{body.Session, body.ID, ds[0].Kind, user})
	return nil
}

// number returns a number of a query from 0, the default, to most.
func number(q map[string]string, key string, most int) (int, *problem) {
	if q[key] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(q[key])
	if err != nil || n < 0 {
		return 0, malformed("%q has to be a number from 0 to %d", key, most)
	}
	return min(n, most), nil
}
