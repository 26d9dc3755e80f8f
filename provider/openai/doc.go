// Package openai calls OpenAI's models, and those of any server that speaks its protocols:
// OpenRouter, Azure, Groq, Mistral, DeepSeek, xAI, Perplexity, and local ones such as Ollama, LM
// Studio, llama.cpp and vLLM. [Config].Server names one that is known; docs/providers.md lists
// them, and what each of them lacks.
//
// [New] makes a [Model], which is a [provider.Provider]. At OpenAI's own address it speaks the
// Responses API, elsewhere Chat Completions, unless [Config].API says otherwise.
//
//	model, err := openai.New(openai.Config{Model: "gpt-5-mini"}) // the key is in OPENAI_API_KEY
//	if err != nil {
//		return err // says what to set
//	}
//	quick, err := openai.New(openai.Config{Server: "groq", Model: "openai/gpt-oss-120b"}) // GROQ_API_KEY
//	local, err := openai.New(openai.Config{Model: "qwen3", BaseURL: "http://localhost:9000/v1"})
//	…
//	res, err := provider.Generate(ctx, model, &provider.Request{
//		Messages: []provider.Message{provider.User("Hello.")},
//	})
//	fmt.Println(res.Text())
//
// # What is decoded
//
// Answers are decoded event by event, in all forms in which compatible servers are known to differ.
// The package always requests a stream, and also accepts one JSON object. An answer is complete
// only if the server says so: any other end is an error that is [provider.ErrIncomplete], and the
// received part is kept. Reasoning is separate from text, whatever field it is in, and yielded once
// if it is in several. Usage is the last that was sent, never a sum; if figures contradict each
// other, they stay as the server sent them. Of several choices the first counts.
//
// [provider.Response].Details has logprobs, service_tier, moderation, system_fingerprint, and what
// Azure (prompt_filter_results, content_filter_results, content_filters) and OpenRouter (provider)
// say beside an answer; of the Responses API also conversation. Log probabilities are one value,
// however many pieces they came in.
//
// A call that the server ran itself becomes a provider call named by the type of its item
// (web_search_call, mcp_call, …) with its result, and must not be run. A call of a tool that OpenAI
// defines and the client runs becomes a call of that tool, or, if the request has none of this
// type, of one named shell, local_shell, apply_patch, computer or tool_search. So does a request to
// approve a call of an MCP server, with the tool whose Options declare the server, or
// mcp_approval_request. A tool is declared so by Options with its type, see [provider.Tool]. Its
// result may be a JSON object with the fields of the item that is sent, such as {"approve": true};
// any other is sent as that item's text, and approves nothing. The result of computer should have a
// picture. A call of a tool with free text as input, which [provider.Request].Options can define,
// has that text as a JSON string for its input.
//
// # What is sent
//
// Names of tools are encoded with the characters that OpenAI accepts, and decoded in answers. A
// call without a result gets one that says so; a result without its call becomes text of the user.
// Opaque data is sent back unchanged, only to the server of the same name and API: encrypted
// reasoning, items with their ids and phases, reasoning details, and reasoning in the field in
// which it came. With the Responses API nothing is stored at the server (store is false), except in
// background mode.
//
// [provider.Request].Cache is sent to OpenAI as a prompt_cache_key, a hash of Labels.Session; other
// servers reject that field. For Anthropic's models at OpenRouter it sets cache marks, at most four
// with those of [provider.Part].Cache: on the newest message, the system text, the last tool, and
// the newest message of the call before. Options with a cache_control of their own disable this.
//
// An output format is sent in strict mode if its schema satisfies the rules of that mode: every
// object is closed and requires all of its properties, and every other keyword can be left out.
// Limits that the mode doesn't have, such as maxLength, are moved into the descriptions, and
// defaults are left out. Keywords beside a $ref are left out as well, because many servers reject
// them.
//
// What a known server lacks in Chat Completions is asked for in another way: a schema that it takes
// nowhere else goes into the system text, a tool that can't be named is offered alone and some call
// required, and where no call can be refused, ChooseNone leaves the tools out. A call that can't be
// forced is an error.
//
// Options["openai"], and those under the provider's own name, are merged into the body of the
// request, so that anything can be set that has no field: service_tier, verbosity, tools that the
// server runs. The Responses API has no stop sequences, seed, top_k or penalties, so that these are
// left out there; OpenAI has no top_k.
//
// Options of a [provider.Tool] are under the same keys, and members of its definition beside its
// name: of the tool itself in the Responses API (strict, defer_loading, allowed_callers,
// output_schema, …), of its function in Chat Completions, so that {"strict": true} is right for
// both. Only cache_control, which OpenRouter has, is beside the function. The schema of a tool with
// strict is narrowed as that of an output format, if it satisfies the rules; otherwise it is sent
// as it is, and the server says what is wrong with it.
//
// # Background mode
//
// With Options["openai"] = {"background": true}, the Responses API makes an answer while nobody is
// connected, for models that take many minutes. The call asks for it, looks for it each 1 to 10
// seconds, and yields it as a whole. Each of these requests may take a minute. A look that fails is
// made again, later if the server says so; after ten in a row the call fails. OpenAI stores such a
// request and its answer.
//
// If the call is made again, with the same request of the same session (Labels.Session), it waits
// for the answer that was asked for before: in one process after an error or a time limit, or when
// it made room for a person's call, and with a [Pending] of the host also after a crash and in
// another process, so that a durable run pays for an answer once. Equal requests at the same time
// get an answer each. An id is forgotten when its answer was read to the end: a crash between that
// and the storing of the answer costs at most one more, and so does one before the id is kept. A
// Waiting chunk says that the call waits: no limit of silence ends it, but its context does.
//
// When the context is canceled, also by Session.Cancel of an agent, or the consumer leaves, the
// answer is canceled at the server, but not with a Pending of the host: somebody may come back for
// it, and what nobody reads is paid for, too. An answer that nobody can come back for, without a
// session or beside an equal one, is canceled however its call ends. Session.Stop of an agent waits
// for the answer, as for any.
//
// # Embeddings
//
// [Model.Embedder] makes an [Embedder], which is an index.Embedder of the package memory/index, at
// the same server:
//
//	// g is a guard.Guard, and optional
//	embedder, err := model.Embedder(openai.EmbedderConfig{Model: "text-embedding-3-small", Through: g.Do})
//
// It sends texts in batches and checks the vectors. [Embedder.EmbedUsage] also returns the usage;
// [Model.InfoOf] has the price.
//
// # Errors
//
// The error of a server is a *[provider.Error] with its type, code and message, the request's id,
// the advice to wait, and a class: 429 is rate limited, but an exhausted quota user-fixable; 401,
// 402, 403 and other rejections of the key user-fixable, with the remedy; 500 and above degraded;
// other statuses permanent. An error inside an answer of status 200 has the class of its code. Once
// the context is done, the error is its cause. The package doesn't retry. Keys appear in no error
// and in no printed value.
package openai
