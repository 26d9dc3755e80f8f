package live_test

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider"
)

// A localBus is a bus in one process, with one subscriber for each topic. In a service, the two
// methods call a client of NATS or Redis.
type localBus struct{ topics sync.Map }

func (b *localBus) topic(name string) chan []byte {
	c, _ := b.topics.LoadOrStore(name, make(chan []byte, 100))
	return c.(chan []byte)
}

func (b *localBus) Publish(_ context.Context, topic string, message []byte) error {
	select {
	case b.topic(topic) <- message:
	default: // nobody listens, and it may be lost
	}
	return nil
}

func (b *localBus) Subscribe(ctx context.Context, topic string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			select {
			case message := <-b.topic(topic):
				if !yield(message, nil) {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

// Two hubs have one store and one bus. Who reads at the second one sees how the first one's model
// writes.
func ExampleBus() {
	store, bus, ctx := &journal.MapStore{}, new(localBus), context.Background()
	shown := make(chan struct{}) // a reader has the text; only then the model goes on
	model := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			_ = yield(provider.Start("model"), nil) && yield(provider.Text("A quick brown fox"), nil)
			<-shown
			_ = yield(provider.Text(" jumps."), nil) && yield(provider.End(provider.StopDone, provider.Usage{}), nil)
		}
	})
	hub := func() *live.Hub {
		a, err := agent.New(agent.Config{Journal: store, Provider: model})
		if err != nil {
			panic(err)
		}
		h, err := live.New(live.Config{Agent: a, Bus: bus})
		if err != nil {
			panic(err)
		}
		return h
	}
	one, two := hub(), hub()
	defer one.Close()
	defer two.Close()
	started, err := one.Start(ctx, agent.Input{Session: "s-1", Prompt: "Write something."})
	if err != nil {
		panic(err)
	}
	var first sync.Once
	for ev, err := range two.Watch(ctx, "s-1", started.After) {
		switch ev := ev.(type) {
		case *agent.TextDelta:
			first.Do(func() {
				fmt.Println("it writes:", ev.Text)
				close(shown)
			})
		case *agent.Replied:
			fmt.Println("it wrote:", ev.Message.Text())
			return
		}
		if err != nil {
			panic(err)
		}
	}
	// Output:
	// it writes: A quick brown fox
	// it wrote: A quick brown fox jumps.
}
