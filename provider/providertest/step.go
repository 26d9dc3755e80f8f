package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// A Step is one reply of a scripted model: what it streams, and how that ends. Its zero value is
// [Empty]. A Step is a value: what changes one returns another, and the same one may stand in a
// script, or in several, many times.
type Step struct {
	content []provider.Chunk // between Start and End
	stop    provider.StopReason
	usage   *provider.Usage
	delay   time.Duration // before each chunk
	ending  ending
	after   int   // chunks that come before an ending other than complete, Start counted
	err     error // for ending failed
	unfit   []int // where in content calls begin that needn't fit: see Unfit
	waits   []gate
}

type ending uint8

const (
	complete ending = iota
	failed
	cut
	hung
)

// ownID stands for a call id that the script makes up when it is built.
const ownID = "\x00own"

// Say streams text word by word, long words in pieces, and ends with [provider.StopDone].
func Say(text string) Step { return textStep(provider.KindText, words(text)) }

// SayChunks streams texts, each as one chunk and exactly as it is.
func SayChunks(texts ...string) Step { return textStep(provider.KindText, texts) }

// Think streams reasoning. It is meant to stand in a [Reply], before what follows from it.
func Think(text string) Step { return textStep(provider.KindReasoning, words(text)) }

// Refuse streams a refusal, and ends with [provider.StopFiltered].
func Refuse(text string) Step {
	s := textStep(provider.KindRefusal, words(text))
	s.stop = provider.StopFiltered
	return s
}

// Empty is a reply that says nothing and ends properly.
func Empty() Step { return Step{} }

// Huge streams size bytes of text, in chunks of 4 KiB.
func Huge(size int) Step {
	const chunk = 4096
	block := strings.Repeat("All work and no play. ", chunk/22+1)[:chunk]
	var texts []string
	for ; size > 0; size -= chunk {
		texts = append(texts, block[:min(size, chunk)])
	}
	return SayChunks(texts...)
}

// Source cites a source.
func Source(s provider.Source) Step { return Chunks(provider.Cite(s)) }

// File gives media that the model made.
func File(m provider.Media) Step { return Chunks(provider.File(m)) }

// ProviderRan reports a call that the provider ran itself, and its result.
func ProviderRan(call provider.ToolCall, result provider.ToolResult) Step {
	return Chunks(provider.ProviderCall(call), provider.ProviderResult(result))
}

// Chunks streams chunks as they are. They are the content of a reply, unless the first of them is a
// Start or a Waiting: then they are the whole stream, and no Start and no End is added.
func Chunks(chunks ...provider.Chunk) Step { return Step{content: slices.Clone(chunks)} }

// Reply joins several contents to one reply, in their order:
//
//	Reply(Think("Oslo, then."), Say("Let me see."), Call("weather", City{"Oslo"}))
//
// The reply ends as the last of the steps that says how, so [Stop], [WithUsage], [Slow], [Cut] and
// the like may be applied to a content or to the whole; what stands behind a cut is never streamed.
// Calls are numbered through the reply, and with them opaque data of the same content; a content
// without calls may hold data for those of the contents before.
func Reply(contents ...Step) Step {
	var r Step
	var calls int32 // so far, which the calls of the next content are counted on from
	for _, s := range contents {
		if s.ending != complete && r.ending == complete {
			r.ending, r.err, r.after = s.ending, s.err, min(s.after, len(s.content)+1)
			if len(r.content) > 0 { // the Start is out already
				r.after = len(r.content) + max(r.after, 1)
			}
		}
		for _, at := range s.unfit {
			r.unfit = append(r.unfit, len(r.content)+at)
		}
		for _, w := range s.waits {
			r.waits = append(r.waits, gate{len(r.content) + w.at, w.ready})
		}
		first, own := calls, false
		for _, c := range s.content {
			own = own || c.Kind == provider.KindToolStart
			if own && isCallChunk(&c) { // else it is opaque data for a call before
				c.Index += first
				calls = max(calls, c.Index+1)
			}
			r.content = append(r.content, c)
		}
		if s.stop != "" {
			r.stop = s.stop
		}
		if s.usage != nil {
			r.usage = s.usage
		}
		r.delay = max(r.delay, s.delay)
	}
	return r
}

// Stop is the step with another stop reason. Without it a reply ends with [provider.StopToolCalls]
// if it calls tools, else with [provider.StopDone].
func Stop(reason provider.StopReason, s Step) Step {
	s.stop = reason
	return s
}

// WithUsage is the step with that usage. Without it a reply takes 10 tokens of input, and a token
// of output for every four bytes.
func WithUsage(u provider.Usage, s Step) Step {
	s.usage = &u
	return s
}

// WithIDs is the step with these ids for its calls, in their order; the last one serves all further
// calls. So WithIDs(s, "") is a provider that gives no ids, and WithIDs(s, "1") one that repeats
// itself. Without it every call of a script has an id of its own: call-1, call-2 and so on.
func WithIDs(s Step, ids ...string) Step {
	s.content = slices.Clone(s.content)
	n := 0
	for i := range s.content {
		if c := &s.content[i]; c.Kind == provider.KindToolStart && len(ids) > 0 {
			c.ID = ids[min(n, len(ids)-1)]
			n++
		}
	}
	return s
}

// Slow is the step with a delay of d before each chunk, and before the error if it fails. A
// canceled context ends it at once. The delay is a timer, so that it costs nothing under
// testing/synctest.
func Slow(d time.Duration, s Step) Step {
	s.delay = max(d, 0)
	return s
}

// WaitFor is the step that begins when ready is closed, or a value is received from it. If the
// context is done before, it yields [context.Cause]. Within a [Reply], what stands before s comes
// first:
//
//	Reply(Say("Let me see."), WaitFor(joined, Say("It is cold.")))
//
// In a bubble of testing/synctest the channel should be made there.
func WaitFor(ready <-chan struct{}, s Step) Step {
	s.waits = append([]gate{{0, ready}}, s.waits...)
	return s
}

// A gate is a channel that is waited for before a chunk: in a Step at is a place in its content, in
// a play in all chunks. At 0 it is before the Start.
type gate struct {
	at    int
	ready <-chan struct{}
}

// Response returns the reply as a whole, or what comes of it before it fails, is cut or hangs. It
// is handy in [Func].
func (s Step) Response() *provider.Response {
	var c provider.Collector
	for _, chunk := range compile(s, "reply", new(int)).chunks {
		if c.Add(chunk) != nil {
			break
		}
	}
	return c.Response()
}

// A CallSpec is one of several calls of a reply; see [Calls].
type CallSpec struct {
	Tool  string
	Input any // as in Call
}

// Call asks for one tool call. The input is marshalled to JSON, without escaping HTML characters; a
// string, a []byte and a json.RawMessage are taken as the JSON text itself, as it is, also if it is
// none, which needs [Unfit] in a [Script]; nil is a call without arguments. The arguments are
// streamed in pieces. If the input can't be marshalled, the step fails and says so.
func Call(tool string, input any) Step { return Calls(CallSpec{tool, input}) }

// Calls asks for several calls in one reply, one after the other.
func Calls(calls ...CallSpec) Step {
	var s Step
	for i, spec := range calls {
		chunks, err := callChunks(i, spec)
		if err != nil {
			return FailWith(err)
		}
		s.content = append(s.content, chunks...)
	}
	return s
}

// Interleaved is [Calls] in an odd order, which the grammar allows: all calls begin before any of
// them goes on, their arguments come in turns, and the last one ends first.
func Interleaved(calls ...CallSpec) Step {
	var begin, middle, end []provider.Chunk
	rest := make([][]provider.Chunk, len(calls))
	for i, spec := range calls {
		chunks, err := callChunks(i, spec)
		if err != nil {
			return FailWith(err)
		}
		last := len(chunks) - 1
		begin = append(begin, chunks[0])
		rest[i] = chunks[1:last]
		end = append([]provider.Chunk{chunks[last]}, end...)
	}
	for more := true; more; {
		more = false
		for i := range rest {
			if len(rest[i]) > 0 {
				middle, rest[i], more = append(middle, rest[i][0]), rest[i][1:], true
			}
		}
	}
	return Step{content: slices.Concat(begin, middle, end)}
}

func callChunks(index int, spec CallSpec) ([]provider.Chunk, error) {
	text, err := jsonText(spec.Input)
	if err != nil {
		return nil, fault.Errorf(fault.Permanent, "providertest: the input of the scripted call of %q is no JSON: %w",
			spec.Tool, err)
	}
	chunks := []provider.Chunk{provider.ToolStart(index, ownID, spec.Tool)}
	for _, piece := range pieces(nil, text, 12) {
		chunks = append(chunks, provider.ToolDelta(index, piece))
	}
	return append(chunks, provider.ToolEnd(index)), nil
}

func jsonText(input any) (string, error) {
	switch v := input.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case json.RawMessage:
		return string(v), nil
	}
	return marshal(input)
}

// marshal returns v as JSON in which HTML characters stay as they are, as models send it.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("%T: %w", v, err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func textStep(kind provider.ChunkKind, texts []string) Step {
	s := Step{content: make([]provider.Chunk, len(texts))}
	for i, text := range texts {
		s.content[i] = provider.Chunk{Kind: kind, Text: text}
	}
	return s
}

// words cuts text behind its spaces, and long words in pieces.
func words(text string) []string {
	var out []string
	for word := range strings.SplitAfterSeq(text, " ") {
		out = pieces(out, word, 24)
	}
	return out
}

// pieces appends text to out in pieces of at most size bytes, cut between runes.
func pieces(out []string, text string, size int) []string {
	for len(text) > size {
		n := size
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// isCallChunk reports a chunk whose Index names a call.
func isCallChunk(c *provider.Chunk) bool {
	switch c.Kind {
	case provider.KindToolStart, provider.KindToolDelta, provider.KindToolEnd:
		return true
	case provider.KindOpaque:
		return c.Index >= 0
	}
	return false
}
