package tools_test

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

var (
	errTransient = fault.New(fault.Transient, "connection reset")
	errDegraded  = fault.New(fault.Degraded, "the service is down")
)

// With breakers, call runs a tool once.
func call(t testing.TB, ctx context.Context, set *circuit.Set, d *tools.Definition) tools.Outcome {
	t.Helper()
	return through(t, ctx, set, d, &tools.Call{Name: d.Name(), Input: json.RawMessage(`{}`)})
}

// through asks the breaker of a tool and executes a call.
func through(t testing.TB, ctx context.Context, set *circuit.Set, d *tools.Definition, c *tools.Call) tools.Outcome {
	var p tools.Pass
	if refused := p.Take(d, set); refused != nil {
		return *refused
	}
	return tools.Execute(ctx, d, approve(t, d, c), &p)
}

func TestABreakerStopsCallsOfAToolThatKeepsFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Tool())
		ran, err := 0, errTransient
		d := define(t,
			raw(tools.Spec{}, func(context.Context) (tools.Result, error) { ran++; return tools.Text("ok"), err }))
		for range 3 {
			require.Equal(t, tools.Failed, call(t, t.Context(), set, d).Status)
		}
		<-time.After(2500 * time.Millisecond)
		out := call(t, t.Context(), set, d)
		require.Equal(t, 3, ran)
		require.Equal(t, tools.Unavailable, out.Status)
		require.False(t, out.Status.Ran())
		require.Equal(t, fault.Degraded, out.Class)
		require.Zero(t, out.Attempts)
		wait, ok := fault.RetryAfter(out.Err)
		require.True(t, ok)
		require.Equal(t, 7500*time.Millisecond, wait)
		var open *circuit.OpenError
		require.ErrorAs(t, out.Err, &open)
		require.Equal(t, "tool:t", open.Name)
		require.Equal(t,
			`The call wasn't run: "t" is temporarily unavailable, because calls like it have failed. Try again in 8s, or do something else.`, text(out.Parts))

		<-time.After(wait)
		err = nil
		require.Equal(t, tools.OK, call(t, t.Context(), set, d).Status)
		require.Equal(t, circuit.Closed, set.Get("tool:t").State())
	})
}

func TestOnlyFailuresOfItsResourceOpenABreaker(t *testing.T) {
	returns := func(err error) func(context.Context) (tools.Result, error) {
		return func(context.Context) (tools.Result, error) { return tools.Text("x"), err }
	}
	for name, c := range map[string]struct {
		fn    func(ctx context.Context) (tools.Result, error)
		spec  tools.Spec
		stop  bool // the run, after a second
		opens bool
	}{
		"transient": {fn: returns(errTransient), opens: true},
		"degraded":  {fn: returns(errDegraded), opens: true},
		"its time limit": {fn: func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, ctx.Err()
		}, opens: true},
		"killed at it": {fn: func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, errors.New("killed")
		}, opens: true},
		"permanently": {fn: func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, fault.Wrap(fault.Permanent, context.Cause(ctx))
		}, opens: true},
		"success":         {fn: returns(nil)},
		"rate limited":    {fn: returns(fault.New(fault.RateLimited, "x"))},
		"for a person":    {fn: returns(fault.NewFixable("x", "y", errTransient))},
		"permanent":       {fn: returns(fault.New(fault.Permanent, "x"))},
		"unknown":         {fn: returns(errors.New("status 503"))},
		"a program":       {fn: returns(&exec.ExitError{ProcessState: &os.ProcessState{}})},
		"a database":      {fn: returns(driver.ErrBadConn), opens: true},
		"a device":        {fn: returns(&fs.PathError{Op: "read", Path: "f", Err: syscall.EIO}), opens: true},
		"too many files":  {fn: returns(os.NewSyscallError("socket", syscall.EMFILE)), opens: true},
		"invalid":         {fn: returns(fault.New(fault.Invalid, "x"))},
		"not found":       {fn: returns(fault.New(fault.NotFound, "x"))},
		"denied":          {fn: returns(fault.New(fault.Denied, "x"))},
		"suspended":       {fn: returns(tools.Suspend{Kind: "job"})},
		"another breaker": {fn: returns(&circuit.OpenError{Name: "other", RetryAfter: time.Second})},
		"canceled": {fn: func(ctx context.Context) (tools.Result, error) {
			<-ctx.Done()
			return tools.Result{}, errDegraded
		}, stop: true},
		"panic": {fn: func(context.Context) (tools.Result, error) { panic(errTransient) }},
		"no goroutine": {fn: func(context.Context) (tools.Result, error) {
			runtime.Goexit()
			return tools.Result{}, nil
		}},
		"Failed":       {fn: func(context.Context) (tools.Result, error) { return tools.Result{Failed: true}, nil }},
		"bad output":   {fn: returns(nil), spec: tools.Spec{Output: json.RawMessage(`{"type":"object"}`)}},
		"switched off": {fn: returns(errTransient), spec: tools.Spec{NoBreaker: true}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var changes []circuit.State
				cfg := circuit.Tool()
				cfg.OnChange = func(c circuit.Change) { changes = append(changes, c.To) }
				set := circuit.NewSet(cfg)
				ran := 0
				d := define(t, raw(c.spec, func(ctx context.Context) (tools.Result, error) { ran++; return c.fn(ctx) }))
				one := func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if c.stop {
						defer time.AfterFunc(time.Second, cancel).Stop()
					}
					var wg sync.WaitGroup
					wg.Go(func() { call(t, ctx, set, d) })
					wg.Wait()
				}
				for range 20 {
					one()
				}
				if !c.opens {
					require.Equal(t, 20, ran)
					require.Empty(t, changes)
				} else {
					require.Equal(t, 3, ran)
					require.Equal(t, []circuit.State{circuit.Open}, changes)
				}
				if c.spec.NoBreaker {
					require.Empty(t, set.Snapshot())
					return
				}

				// A probe that ends so holds no place.
				b := set.Get("tool:t")
				b.Reset()
				for range 3 {
					p, err := b.Allow()
					require.NoError(t, err)
					p.Done(errTransient)
				}
				<-time.After(10 * time.Second)
				one()
				s := b.Snapshot()
				require.Zero(t, s.Probes)
				switch {
				case c.opens:
					require.Equal(t, circuit.Open, s.State)
				case name == "success":
					require.Equal(t, circuit.Closed, s.State)
				default:
					require.Equal(t, circuit.HalfOpen, s.State)
				}
			})
		})
	}
}

func TestToolsOfOneResourceShareItsBreaker(t *testing.T) {
	set := circuit.NewSet(circuit.Tool())
	var ran [3]int
	tool := func(i int, name, resource string) tools.Tool {
		return raw(tools.Spec{Name: name, Resource: resource}, func(context.Context) (tools.Result, error) {
			ran[i]++
			return tools.Result{}, errDegraded
		})
	}
	reg := registry(t, tool(0, "read", "network:cms"), tool(1, "write", "network:cms"), tool(2, "other", ""))
	for range 10 {
		for _, d := range reg.All() {
			call(t, t.Context(), set, d)
		}
	}
	require.Equal(t, [3]int{2, 1, 3}, ran)
	var names []string
	for _, s := range set.Snapshot() {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"network:cms", "tool:other"}, names)

	other := circuit.NewSet(circuit.Tool())
	call(t, t.Context(), other, reg.All()[0])
	require.Equal(t, 3, ran[0], "another set has another breaker")
	require.Equal(t, tools.Unavailable, call(t, t.Context(), set, reg.All()[0]).Status)
}

func TestAPassIsEndedOnce(t *testing.T) {
	set := circuit.NewSet(circuit.Config{Consecutive: 100})
	d := define(t,
		raw(tools.Spec{}, func(context.Context) (tools.Result, error) { return tools.Result{}, errTransient }))
	inARow := func() int { return set.Get("tool:t").Snapshot().InARow }
	for name, end := range map[string]func(*tools.Pass){
		"executed, then given up": func(p *tools.Pass) {
			tools.Execute(t.Context(), d, approve(t, d, &tools.Call{}), p)
			p.Done(errDegraded)
			p.Cancel()
		},
		"given up, then executed": func(p *tools.Pass) {
			p.Done(errDegraded)
			tools.Execute(t.Context(), d, approve(t, d, &tools.Call{}), p)
		},
	} {
		before := inARow()
		var p tools.Pass
		require.Nil(t, p.Take(d, set), name)
		end(&p)
		require.Equal(t, before+1, inARow(), name)
	}
	before := inARow()
	var p tools.Pass
	require.Nil(t, p.Take(d, set))
	p.Done(errors.New("of no class"))
	require.Equal(t, before, inARow())
	require.Nil(t, p.Take(d, set))
	p.Cancel()
	p.Done(errDegraded)
	require.Equal(t, before, inARow())
	require.Nil(t, p.Take(d, set), "it may be taken again")
	tools.Execute(t.Context(), nil, nil, &p)
	p.Done(errDegraded)
	require.Equal(t, before, inARow(), "ended though there was nothing to run")

	require.Nil(t, p.Take(d, set))
	open := circuit.NewSet(circuit.Config{Consecutive: 1})
	last, err := open.Get("tool:t").Allow()
	require.NoError(t, err)
	last.Done(errDegraded)
	require.NotNil(t, p.Take(d, open))
	p.Done(errDegraded)
	require.Equal(t, before, inARow(), "what was refused has no pass")

	before = inARow()
	for range 5 {
		through(t, t.Context(), set, d, &tools.Call{})
	}
	require.Equal(t, before+5, inARow(), "each call has its own")
	before = inARow()

	var none *tools.Pass
	none.Done(nil)
	none.Cancel()
	require.Equal(t, tools.Failed, tools.Execute(t.Context(), d, approve(t, d, &tools.Call{}), nil).Status)
	require.Nil(t, p.Take(nil, set))
	require.Nil(t, p.Take(d, nil))
	p.Done(errDegraded)
	require.Equal(t, before, inARow())
}

func TestAtRecoveryOneCallIsTheProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Tool())
		fails := true
		var ran atomic.Int32
		d := define(t, raw(tools.Spec{}, func(context.Context) (tools.Result, error) {
			ran.Add(1)
			if fails {
				return tools.Result{}, errTransient
			}
			<-time.After(time.Second)
			return tools.Text("ok"), nil
		}))
		for range 3 {
			call(t, t.Context(), set, d)
		}
		<-time.After(10 * time.Second)
		fails = false
		ran.Store(0)
		var ok, refused atomic.Int32
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				switch out := call(t, t.Context(), set, d); out.Status {
				case tools.OK:
					ok.Add(1)
				case tools.Unavailable:
					refused.Add(1)
					if text(out.Parts) !=
						`The call wasn't run: "t" is temporarily unavailable, because calls like it have failed. Try again soon, or do something else.` {
						t.Error(text(out.Parts))
					}
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, ok.Load())
		require.EqualValues(t, 1, ran.Load())
		require.EqualValues(t, 199, refused.Load())
	})
}

func TestAToolKeepsToItsBreakerWhenTheSetHasDroppedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := circuit.NewSet(circuit.Tool())
		var err error
		d := define(t, raw(tools.Spec{}, func(context.Context) (tools.Result, error) { return tools.Result{}, err }))
		call(t, t.Context(), set, d)
		for range 30 { // the set looks once a minute
			<-time.After(time.Minute)
			set.Snapshot()
		}
		require.Empty(t, set.Snapshot())
		err = errDegraded
		for range 3 {
			require.Equal(t, tools.Failed, call(t, t.Context(), set, d).Status)
		}
		require.Equal(t, tools.Unavailable, call(t, t.Context(), set, d).Status)
		require.Equal(t, circuit.Open, set.Get("tool:t").State())
	})
}
