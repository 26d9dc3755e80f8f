// Package mock answers the outside calls of tools from files: without keys and network, and the
// same in each test.
//
// [Call] goes around the function that calls out, inside the tool. Only that function is replaced.
// What else the tool does, such as storing the answer, happens all the same:
//
//	set, err := mock.New(mock.Config{
//		Master:  mock.Mode(os.Getenv("MOCK_ALL")), // API, MOCK or PER_TOGGLE; empty is API
//		Toggles: map[string]mock.Mode{"research": mock.Mode(os.Getenv("MOCK_RESEARCH"))},
//		Files:   []fs.FS{os.DirFS("mocks")},
//	})
//	…
//	research := set.Category("research") // for the constructor of the tool
//	…
//	key := mock.Key{Name: "search", Variant: "blog", Values: map[string]any{"topic": in.Topic}}
//	sources, err := mock.Call(ctx, research, key,
//		func(ctx context.Context) ([]Source, error) { return client.Search(ctx, in.Topic) })
//	…
//	return Found{}, store.Add(ctx, sources)
//
// A nil [Category] always makes the outside call, so that a tool works without a [Set].
//
// # Files
//
// The answers are JSON in the files <category>/<name>.<variant>.json. Other files are ignored. If
// the variant of a call has no file, the variant "default" answers, and otherwise the first one by
// name. If the function has no file at all, Call returns a [*MissingError]; it never makes the
// outside call instead.
//
// A text in a file may contain placeholders:
//
//	{{traceId}}      mock-<Unix time in milliseconds>-<8 hex digits>, one for each answer
//	{{timestamp}}    the time in UTC as RFC 3339 with milliseconds, one for each answer
//	{{uuid}}         a new UUID at each place
//	{{randomScore}}  a number from 0.6 to 1, with two decimals, new at each place
//	{{duration}}     an integer from 500 to 2500, new at each place
//	{{topic}}        the value "topic" of the Key; a name of the Key hides one from above
//
// A text that is nothing but a placeholder becomes the value with its own JSON type:
// "{{randomScore}}" becomes a number, and "{{items}}" whatever items is. Within a longer text, a
// value is written as text or JSON. Placeholders without a value stay as they are and are logged,
// and values aren't searched for placeholders.
//
// # Captured answers
//
// With Config.Capture, each answer of a real outside call is written to such a file, below that
// directory. Texts that look like secrets are replaced ([secret.Redact]). Read these files before
// you share them: everything else in an answer is kept, also what is private.
package mock
