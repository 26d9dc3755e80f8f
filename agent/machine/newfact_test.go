package machine

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// A praised fact shows what a new fact needs: its type, three methods without which it isn't a
// Fact, and a line in the list facts. checkOrder has a case for it only if it may come at other
// times than most facts.
type praised struct {
	Meta
	Text string `json:"text"`
}

func (*praised) kind() string        { return "praised" }
func (f *praised) redact(r Redactor) { f.Text = r.Text(f.Text) }
func (f *praised) apply(m *Machine, _ *RunState) string {
	if f.Text == "" {
		return "it has no text"
	}
	m.s.Phase = f.Text
	return ""
}

func TestANewFactNeedsItsTypeThreeMethodsAndALine(t *testing.T) {
	addFact(&praised{}, 0)
	t.Cleanup(func() {
		delete(factTypes, "praised")
		delete(factTraits, "praised")
		delete(isFactType, reflect.TypeFor[*praised]())
	})
	m, run := New("s"), &Origin{Session: "s", Run: "r"}
	require.NoError(t, m.Apply(&RunStarted{Meta: Meta{Origin: run, Seq: 1, V: Version}, Message: provider.User("go")}))
	m.Begin()
	require.Error(t, m.Apply(&praised{Meta: Meta{Origin: run, Seq: 2}}))
	f := &praised{Meta: Meta{Origin: run, Seq: 2, Time: time.Unix(7, 0).UTC(), V: Version}, Text: "secret"}
	Redactor(func(string) string { return "good" }).Fact(f)
	require.Equal(t, "good", f.Text)
	rec, err := Encode(f)
	require.NoError(t, err)
	back, err := Decode("s", rec)
	require.NoError(t, err)
	require.Equal(t, f, back)
	require.NoError(t, m.Apply(back))
	require.Equal(t, "good", m.State().Phase)
}
