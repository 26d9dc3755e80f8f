package stream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

func TestACheckEndsTheAnswerBeforeTheConsumerGetsTheChunk(t *testing.T) {
	told := 0
	seq := deaf(&told, start, provider.Text("fine "), provider.Text("bad"), provider.Text(" more"), end)
	seq = stream.Guard(seq, 0, func(w *stream.Written) error {
		if strings.Contains(w.Text(), "bad") {
			return errDown
		}
		return nil
	})
	res, err := stream.Collect(seq)
	var abort *stream.AbortError
	require.ErrorAs(t, err, &abort)
	require.ErrorIs(t, err, errDown)
	require.Equal(t, "fine bad", abort.Text)
	require.Equal(t, "fine ", res.Text())
	require.Equal(t, fault.Permanent, fault.Of(err))
	require.Equal(t, 3, told, "the producer is told to stop")
}

func TestTheClassOfAnAbortIsThatOfItsCause(t *testing.T) {
	cause := fault.New(fault.Transient, "try again")
	_, err := read(stream.Guard(words(1), 0, func(*stream.Written) error { return cause }))
	require.Equal(t, fault.Transient, fault.Of(err))
}

func TestACheckThatPanicsEndsTheAnswer(t *testing.T) {
	_, err := read(stream.Guard(words(1), 0, func(*stream.Written) error { panic("oops") }))
	var p *stream.PanicError
	require.ErrorAs(t, err, &p)
	require.IsType(t, &stream.AbortError{}, err)
}

func TestACheckSeesWhatWasWritten(t *testing.T) {
	var last *stream.Written
	lens := []int{}
	seq := stream.Guard(of(nil, provider.Waiting(provider.Wait{}), start, provider.Text("void"), provider.Reset(""), start,
		provider.Reasoning("hm"), provider.Text("one "), provider.Text(""), provider.Text("two"), provider.Refusal("no"),
		provider.ToolStart(0, "a", "first"), provider.ToolStart(1, "b", "second"), provider.ToolDelta(1, `{"x":`),
		provider.ToolDelta(0, `{}`), provider.ToolEnd(0), provider.ToolDelta(1, `1}`), provider.ToolDelta(9, "stray"), end),
		0, func(w *stream.Written) error {
			last = w
			lens = append(lens, w.Len())
			if len(w.Calls()) == 2 && w.Calls()[0].Done && !w.Ended() {
				require.Equal(t, `{"x":`, w.Calls()[1].Input()[:5])
			}
			return nil
		})
	got, err := read(seq)
	require.NoError(t, err)
	require.Len(t, got, 18)
	require.Equal(t, "one two", last.Text())
	require.Equal(t, "hm", last.Reasoning())
	require.Equal(t, "no", last.Refusal())
	require.True(t, last.Ended())
	require.Equal(t, "first", last.Calls()[0].Name)
	require.Equal(t, "b", last.Calls()[1].ID)
	require.True(t, last.Calls()[0].Done)
	require.False(t, last.Calls()[1].Done)
	require.Equal(t, `{"x":1}`, last.Calls()[1].Input())
	require.Equal(t, []int{4, 2, 6, 9, 11, 11, 11, 16, 18, 18, 20, 20}, lens)
}

func TestACheckIsCalledByBytesAndAtTheEnd(t *testing.T) {
	var lens []int
	_, err := read(stream.Guard(words(10), 12, func(w *stream.Written) error {
		lens = append(lens, w.Len())
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, []int{15, 30, 45, 50}, lens)
}

func TestAGuardWithNothingToDoIsTheSequenceItself(t *testing.T) {
	got, err := read(stream.Guard(words(1), 0, nil))
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Nil(t, stream.Guard(nil, 0, func(*stream.Written) error { return errors.New("x") }))
	require.Nil(t, stream.Measure(nil, &stream.Metrics{}))
}
