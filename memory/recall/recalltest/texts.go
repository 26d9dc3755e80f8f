package recalltest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
)

// Texts runs the suite of a [memory.Store] that forgets the oldest texts, on those that open
// returns: empty, and for up to mostBytes (0: the store's default). The bytes of handles may count
// or not.
func Texts(t *testing.T, open func(t *testing.T, mostBytes int) memory.Store) {
	t.Helper()
	for _, c := range []struct {
		name  string
		most  int
		check func(f *texts)
	}{
		{"a text is read back as it was put", 0, textsBack},
		{"handles alike are apart", 0, handlesApart},
		{"the oldest are forgotten", 1_000, textsForgotten},
		{"a text that is too long is refused and drives nothing out", 1_000, textTooLong},
		{"what is put again takes no room", 1_000, textsAgain},
		{"goroutines put and get", 0, textsAtOnce},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(&texts{t, open(t, c.most)}) })
	}
}

type texts struct {
	*testing.T
	s memory.Store
}

func (f *texts) put(handle, text string) {
	f.Helper()
	if err := f.s.Put(f.Context(), handle, text); err != nil {
		f.Fatalf("putting %q: %v", handle, err)
	}
}

func (f *texts) holds(handle, text string) {
	f.Helper()
	got, err := f.s.Get(f.Context(), handle)
	if err != nil || got != text {
		f.Fatalf("getting %q: %.80q and %v, not %.80q", handle, got, err, text)
	}
}

func (f *texts) missing(handle string) {
	f.Helper()
	if got, err := f.s.Get(f.Context(), handle); fault.Of(err) != fault.NotFound || got != "" {
		f.Fatalf("getting %q: %.80q and %v, not an error of class fault.NotFound", handle, got, err)
	}
}

func textsBack(f *texts) {
	f.missing("m-1")
	for i, text := range []string{"", "one", "größer\n", "\x00", "a\x00b\xff\xfe", strings.Repeat("long ", 200_000)} {
		f.put(fmt.Sprint("m-", i), text)
		f.holds(fmt.Sprint("m-", i), text)
	}
	for _, handle := range []string{"", "m-\x00", "\xff", strings.Repeat("m", 1_000)} { // whatever a model makes up
		f.missing(handle)
	}
}

func handlesApart(f *texts) {
	for i, handle := range odd {
		f.put(handle, fmt.Sprint(i))
	}
	for i, handle := range odd {
		f.holds(handle, fmt.Sprint(i))
	}
	f.missing("S.")
}

func textsForgotten(f *texts) {
	text := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 300) }
	for i := range 7 {
		f.put(fmt.Sprint(i), text(i))
	}
	for i := range 4 {
		f.missing(fmt.Sprint(i))
	}
	for i := 4; i < 7; i++ {
		f.holds(fmt.Sprint(i), text(i))
	}
	f.put("7", strings.Repeat("x", 600)) // for which two must go
	f.missing("4")
	f.missing("5")
	f.holds("6", text(6))
	f.holds("7", strings.Repeat("x", 600))
	f.put("4", text(4))
	f.holds("4", text(4))
}

func textTooLong(f *texts) {
	f.put("a", "short")
	if err := f.s.Put(f.Context(), "b", strings.Repeat("x", 1_001)); fault.Of(err) != fault.Permanent {
		f.Fatalf("got %v, not an error of class fault.Permanent", err)
	}
	f.missing("b")
	f.holds("a", "short")
}

func textsAgain(f *texts) {
	for _, handle := range []string{"a", "b", "a", "b", "b", "a", "a"} {
		f.put(handle, strings.Repeat(handle, 400))
	}
	f.holds("a", strings.Repeat("a", 400))
	f.holds("b", strings.Repeat("b", 400))
}

func textsAtOnce(f *texts) {
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for i := range each { // all put the same
				handle := fmt.Sprint("m-", i)
				if err := f.s.Put(f.Context(), handle, "text of "+handle); err != nil {
					f.Error(err)
				}
				if got, err := f.s.Get(f.Context(), handle); err != nil || got != "text of "+handle {
					f.Error(got, err)
				}
			}
		})
	}
	wg.Wait()
}
