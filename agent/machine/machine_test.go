package machine_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

func TestACloneAndItsOriginalDontChangeEachOther(t *testing.T) {
	eachLog(t, 20, func(t *testing.T, s *sim) {
		var clone *machine.Machine
		var was string
		s.before = func(f machine.Fact) {
			clone, was = s.m.Clone(), stateJSON(t, s.m)
			require.NoError(t, clone.Apply(f))
			require.Equal(t, was, stateJSON(t, s.m), "the original, after %s", machine.KindOf(f))
			clone = s.m.Clone()

			m := s.m.Clone()
			giveRoom(reflect.ValueOf(m.State()).Elem())
			if r := m.State().Run; r != nil {
				giveRoom(reflect.ValueOf(r).Elem())
			}
			before := m.Clone()
			require.NoError(t, m.Apply(f))
			requireNoSharedEnd(t, machine.KindOf(f), reflect.ValueOf(before.State()), reflect.ValueOf(m.State()))
		}
		s.after = func(f machine.Fact) {
			require.Equal(t, was, stateJSON(t, clone), "the clone, after %s", machine.KindOf(f))
		}
	})
}

// giveRoom gives all slices of a state arrays of their own with room to append.
func giveRoom(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				giveRoom(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() > 0 {
			roomy := reflect.MakeSlice(v.Type(), v.Len(), 2*v.Len()+2)
			reflect.Copy(roomy, v)
			v.Set(roomy)
		}
		for i := range v.Len() {
			giveRoom(v.Index(i))
		}
	}
}

// requireNoSharedEnd fails if a slice of the state now was made by appending to one of the state
// before without another array: what is appended to the one before then changes the one now.
func requireNoSharedEnd(t *testing.T, path string, before, now reflect.Value) {
	t.Helper()
	switch before.Kind() {
	case reflect.Pointer:
		if !before.IsNil() && !now.IsNil() && before.Pointer() != now.Pointer() {
			requireNoSharedEnd(t, path, before.Elem(), now.Elem())
		}
	case reflect.Struct:
		for i := range before.NumField() {
			requireNoSharedEnd(t, path+"."+before.Type().Field(i).Name, before.Field(i), now.Field(i))
		}
	case reflect.Slice:
		if before.Pointer() == now.Pointer() {
			require.False(t, now.Len() > before.Len() && before.Cap() > before.Len(),
				"%s: append to slices.Clip of it, or a Clone of the machine shares what is appended", path)
			return
		}
		for i := range min(before.Len(), now.Len()) {
			requireNoSharedEnd(t, path, before.Index(i), now.Index(i))
		}
	}
}

func TestARollbackBringsBackTheState(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		m := machine.New(s.m.State().Session)
		var batch []machine.Fact // facts of one append
		s.before = func(f machine.Fact) { batch = append(batch, f) }
		s.after = func(machine.Fact) {
			if len(batch) < 4 && s.one(2) {
				return
			}
			was, run := stateJSON(t, m), m.State().Run
			for range 2 { // an append that fails
				m.Begin()
				for _, f := range batch {
					require.NoError(t, m.Apply(f))
				}
				for range 2 {
					m.Rollback()
					require.Equal(t, was, stateJSON(t, m))
					require.Same(t, run, m.State().Run)
				}
			}
			m.Begin()
			for _, f := range batch {
				require.NoError(t, m.Apply(f))
			}
			require.Equal(t, stateJSON(t, s.m), stateJSON(t, m))
			batch = nil
		}
	})
}

func TestPointersIntoARunStayValidAfterARollback(t *testing.T) {
	b := inRun(t)
	b.add(&machine.StepStarted{Meta: step(1)}, replyWith(provider.StopToolCalls, b.call(0), b.call(1)))
	run := b.m.State().Run
	call := &run.Calls[1]
	f := machine.Stamp(&machine.ToolStarted{Call: call.Call}, b.meta(1, call.Call.ID))
	b.m.Begin()
	require.NoError(t, b.m.Apply(f))
	require.Equal(t, machine.CallStarted, call.Status)
	b.m.Rollback()
	require.Equal(t, machine.CallOpen, call.Status)
	require.Same(t, run, b.m.State().Run)
}

func TestASessionWithoutRunsCanBeAskedEverything(t *testing.T) {
	m := machine.New("s-1")
	require.False(t, m.Waiting())
	require.Empty(t, m.State().Goal())
	require.Empty(t, m.State().LastUserText())
	require.Nil(t, m.State().Input())
	require.Nil(t, m.State().Run.Pending())
	require.Nil(t, m.State().Run.Call("c"))
	c, p := m.State().Run.Suspended("p")
	require.Nil(t, c)
	require.Nil(t, p)
	require.Zero(t, m.State().Run.ContextResets())
	require.Equal(t, "s-1", m.Result(machine.Failed, "", nil).Session)
	require.Equal(t, m.State(), m.Clone().State())
}

func TestWhatIsNoFactIsReturnedAsItIs(t *testing.T) {
	for _, f := range []machine.Fact{nil, pretender{}, &pretender{}, (*machine.RunEnded)(nil)} {
		require.Equal(t, f, machine.Stamp(f, machine.Meta{Step: 1}))
		require.Equal(t, journal.Record{}, machine.Record(f))
		machine.Redactor(redactSecret).Fact(f)
	}
	require.Equal(t, &machine.RunEnded{Meta: machine.Meta{Step: 1}},
		machine.Stamp(&machine.RunEnded{}, machine.Meta{Step: 1}))
}

func TestTheGoalIsTheFirstInputOfAChain(t *testing.T) {
	b := inRun(t)
	b.add(&machine.Steered{Message: provider.User("and hurry")},
		&machine.RunEnded{Status: machine.Stopped, Code: machine.CodeContextReset})
	require.Equal(t, "go", b.m.State().Goal())
	require.Equal(t, "and hurry", b.m.State().LastUserText())
	b.run = "r-3"
	b.add(&machine.RunStarted{Message: message(provider.RoleUser, provider.TextPart("go"),
		provider.TextPart("context reset 1")),
		ContextReset: &machine.ContextResetState{Index: 1, From: "r-2", Prompt: 1}})
	require.Equal(t, "go", b.m.State().Goal())
	require.Equal(t, "and hurry", b.m.State().LastUserText(), "it is told to the next run")
	require.Equal(t, 1, b.m.State().Run.ContextResets())
}

func TestAModelCallThatIsLostInEveryAttemptEndsTheRun(t *testing.T) {
	m := machine.New("s")
	origin := machine.Origin{Session: "s", Run: "r-1"}
	apply := func(make func(machine.Meta) machine.Fact) {
		require.NoError(t, m.Apply(make(machine.Meta{Origin: &origin, Seq: m.State().Seq + 1, Step: 1})))
	}
	apply(func(meta machine.Meta) machine.Fact {
		return &machine.RunStarted{Meta: meta, Message: provider.User("go"),
			Limits: new(machine.Limits{Steps: 3}.WithDefaults())}
	})
	apply(func(meta machine.Meta) machine.Fact { return &machine.StepStarted{Meta: meta} })
	made := 1
	for ; m.Next().Kind == machine.ActCallModel; made++ { // each time, the process dies before the reply
		require.Less(t, made, 10)
		apply(func(meta machine.Meta) machine.Fact { return &machine.Continued{Meta: meta} })
		apply(func(meta machine.Meta) machine.Fact { return &machine.StepStarted{Meta: meta} })
	}
	require.Equal(t, 4, made) // three, and the one that is granted on top
	act := m.Next()
	require.Equal(t, machine.ActFinish, act.Kind)
	var limit *machine.LimitError
	require.ErrorAs(t, act.Err, &limit)
	require.Equal(t, machine.LimitSteps, limit.Limit)
	require.Equal(t, int64(4), limit.Have)
	require.Equal(t, "3 of them were lost in a crash, and made again", limit.Note)
}

// pretender embeds a fact, and so has its methods.
type pretender struct{ machine.Fact }

func TestNilPointersAndTypesThatEmbedAFactAreRefused(t *testing.T) {
	s := newSim(t, 1)
	for len(s.facts) < 20 {
		s.step()
	}
	refuses(t, s.m, nil, "nil")
	refuses(t, s.m, pretender{}, "a struct around nil")
	refuses(t, s.m, pretender{&machine.RunEnded{Meta: s.meta(""), Status: machine.Stopped}}, "a struct around a fact")
	for kind, typ := range machine.FactTypes {
		refuses(t, s.m, reflect.Zero(reflect.PointerTo(typ)).Interface().(machine.Fact), "nil *"+kind)
		refuses(t, s.m, reflect.New(typ).Interface().(machine.Fact), "zero "+kind)
		for _, f := range []machine.Fact{nil, pretender{},
			reflect.Zero(reflect.PointerTo(typ)).Interface().(machine.Fact),
			reflect.New(typ).Interface().(machine.Fact)} {
			var fe *machine.FactError
			require.NotPanics(t, func() { _, err := machine.Encode(f); require.ErrorAs(t, err, &fe) }, kind)
		}
	}
}

func TestTimeWhilePausedDoesNotCount(t *testing.T) {
	m := machine.New("s-1")
	origin := machine.Origin{Session: "s-1", Run: "r-1"}
	at := func(second int64) machine.Meta {
		return machine.Meta{Origin: &origin, Seq: m.State().Seq + 1, Time: time.Unix(second, 0)}
	}
	require.NoError(t,
		m.Apply(&machine.RunStarted{Meta: at(100), Message: provider.User("go"), Limits: new(machine.DefaultLimits())}))
	require.NoError(t, m.Apply(&machine.RunEnded{Meta: at(107), Status: machine.Paused}))
	require.NoError(t, m.Apply(&machine.Continued{Meta: at(1000)}))
	require.NoError(t, m.Apply(&machine.RunEnded{Meta: at(1002), Status: machine.Paused}))
	require.NoError(t, m.Apply(&machine.RunEnded{Meta: at(5000), Status: machine.Stopped}))
	require.Equal(t, 9*time.Second, m.State().Run.Worked)
}

// TestALimitThatAFactDoesNotHaveIsTheDefault: what an older version has written has no limits that
// are new, and its runs go on as if it had known them.
func TestALimitThatAFactDoesNotHaveIsTheDefault(t *testing.T) {
	meta := func(seq uint64) machine.Meta {
		return machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: seq, Time: time.Unix(1, 0).UTC()}
	}
	defaults := machine.DefaultLimits()
	check := func(t *testing.T, missing string, older *machine.Limits) {
		m := machine.New("s-1")
		require.NoError(t, m.Apply(&machine.RunStarted{Meta: meta(1), Message: provider.User("go"), Limits: older}))
		require.Equal(t, &defaults, m.State().Run.Limits, missing)
		require.Equal(t, machine.ActCallModel, m.Next().Kind, missing)
		if older != nil {
			m.State().Run.Limits = nil
			require.NoError(t, m.Apply(&machine.ModeChanged{Meta: meta(2), To: "other", Limits: older}))
			require.Equal(t, &defaults, m.State().Run.Limits, missing)
		}
		state, err := machine.CloneState(m.State())
		require.NoError(t, err)
		state.Run.Limits = older
		other := machine.NewAfter("s-1", m.State().Seq-1)
		require.NoError(t, other.Apply(&machine.Snapshot{Meta: meta(m.State().Seq), State: state}))
		require.Equal(t, &defaults, other.State().Run.Limits, missing)
		require.Equal(t, m.Next(), other.Next(), missing)
		require.Equal(t, older, state.Run.Limits, "a fact isn't changed")
	}
	check(t, "all", nil)
	limits := reflect.TypeFor[machine.Limits]()
	for i := range limits.NumField() {
		older := defaults
		reflect.ValueOf(&older).Elem().Field(i).SetZero()
		check(t, limits.Field(i).Name, &older)
	}
}
