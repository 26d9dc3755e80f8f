package live

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"time"
)

// A Bus carries messages between processes: Redis or NATS, for example. A message that is lost
// costs nothing but notes, and messages may come twice. It is used by several goroutines at a time.
type Bus interface {
	// Publish sends a message to those who are subscribed to a topic. It should return soon: the
	// messages of a run wait for each other, and nothing else does.
	Publish(ctx context.Context, topic string, message []byte) error
	// Subscribe yields the messages that are published to a topic from now on, in order, until ctx
	// ends or an error, which is yielded.
	Subscribe(ctx context.Context, topic string) iter.Seq2[[]byte, error]
}

const (
	// publishEvery is how long notes wait for others before they are published, and wholeEvery how
	// often the whole reply so far is, for those who subscribe in mid-reply.
	publishEvery = 50 * time.Millisecond
	wholeEvery   = time.Second
	// mostSilence is how long nothing comes of a run before it counts as gone: its process may be.
	mostSilence = 5 * time.Second
	// publishLast is how long a run that has ended waits for its last message to be published.
	publishLast = 2 * time.Second
	// subscribeAgain is how long after an error a hub subscribes again.
	subscribeAgain = time.Second
)

// A busMessage is a message about a run in progress. Facts are numbers: readers get them from the
// journal.
type busMessage struct {
	From   string            `json:"from"`   // the publisher
	Number int               `json:"number"` // of this message among those of the publisher, from 1
	Run    string            `json:"run"`
	Seq    uint64            `json:"seq"`             // the number of the newest fact before the notes
	Clear  bool              `json:"clear,omitempty"` // another reply begins with the notes
	Whole  bool              `json:"whole,omitempty"` // the notes are the reply so far
	Notes  []json.RawMessage `json:"notes,omitempty"`
	End    bool              `json:"end,omitempty"` // the run has ended or paused
}

// topicOf returns the topic of a session, in which every bus allows all characters.
func topicOf(session string) string {
	sum := sha256.Sum256([]byte(session))
	return "pawl-" + hex.EncodeToString(sum[:16])
}
