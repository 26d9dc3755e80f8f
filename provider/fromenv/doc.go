// Package fromenv makes the model provider that the environment names, so that a program needs no
// flags and no code for its choice:
//
//	model, about, err := fromenv.Provider()
//	if err != nil {
//		return err // says which variable to set
//	}
//	fmt.Fprintln(os.Stderr, about) // anthropic claude-sonnet-5-5, then openai gpt-6.1-sol
//	a, err := agent.New(agent.Config{Provider: model, …})
//
// # Variables
//
// A provider is chosen if its key is set, or an address that needs none. Its model has a variable
// of its own, without a default: which model a program pays for is said somewhere. A provider that
// is chosen and has no model is an error that names the variable. In this order:
//
//	provider    chosen by                                    model
//	anthropic   ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN    ANTHROPIC_MODEL
//	openai      OPENAI_API_KEY or OPENAI_BASE_URL            OPENAI_MODEL
//	gemini      GEMINI_API_KEY or GOOGLE_API_KEY             GEMINI_MODEL
//	openrouter  OPENROUTER_API_KEY                           OPENROUTER_MODEL
//	ollama      OLLAMA_HOST or OLLAMA_MODEL                  OLLAMA_MODEL
//
// If none of them is chosen, a further server with the API of OpenAI may be, by its model's
// variable: AZURE_OPENAI_MODEL, CEREBRAS_MODEL, DEEPSEEK_MODEL, FIREWORKS_MODEL,
// GITHUB_MODELS_MODEL, GROQ_MODEL, HF_MODEL, LLAMACPP_MODEL, LMSTUDIO_MODEL, MISTRAL_MODEL,
// MOONSHOT_MODEL, PERPLEXITY_MODEL, TOGETHER_MODEL, VLLM_MODEL, XAI_MODEL or ZAI_MODEL. Its key
// alone doesn't choose it. docs/providers.md has the variables of keys and addresses.
//
// Several of the five form a failover chain in this order ([guard.Chain]): each has a guard of its
// own with a breaker and a gate without a limit of calls, so that one that is rate limited, or
// keeps failing, isn't asked while another one is free. A single provider is returned without a
// guard, because an agent has one.
//
// PAWL_FIRST_CHUNK is how long a provider may take until its answer begins, such as 60s (default: 2
// minutes, and 10 while it sends pings). PAWL_LEAVE_AFTER is how long a person's call waits for the
// first byte before the next provider of a chain is asked (default: 8 s, or 20 s for long or
// reasoning requests; a server in one's own network isn't left).
//
// Addresses are those of the adapters: ANTHROPIC_BASE_URL, OPENAI_BASE_URL,
// GOOGLE_GEMINI_BASE_URL, and for proxies also OPENROUTER_BASE_URL and those of the further
// servers. A key is sent to the address that the environment names beside it. OLLAMA_HOST is
// written as for Ollama: a host, a host and a port, or an address; without it, it is
// localhost:11434. OLLAMA_API_KEY is for servers that want one. A further server at another address
// than its own, such as a gateway, may need no key. OPENROUTER_HEADERS has further headers, such as
// "HTTP-Referer: https://example.com, X-Title: My site".
//
// PAWL_MODEL chooses one provider by its name (PAWL_MODEL=openai), or one and its model
// (PAWL_MODEL=groq/llama-3.3-70b-versatile), or several for a chain in this order
// (PAWL_MODEL=openai,mistral,ollama/qwen3). PAWL_MODEL=standin chooses none, whatever keys are set:
// see [ErrNone]. A variable that is empty, or only white space, isn't set.
//
// PAWL_PRICES names a file with the prices of models, in JSON as [provider.ParsePrices] reads it:
// US dollars for a million tokens, by the names of models.
//
//	{
//	  "gpt-5-mini": {"input": 0.25, "output": 2, "cache_read": 0.025},
//	  "house-model": {"input": 0, "output": 0}
//	}
//
// They replace the prices that are built in. A model at another address than its maker's, such as a
// gateway's in OPENAI_BASE_URL, has no other price; where money is limited, a model without one
// isn't called. Servers that one runs oneself (Ollama, LM Studio, llama.cpp, vLLM) are free of
// charge in one's own network.
//
// # Images
//
// [Images] makes the provider for requests with [provider.Request].Images: the one of OpenAI with
// the model in OPENAI_IMAGE_MODEL, then that of Gemini with the model in GEMINI_IMAGE_MODEL.
// Sources of web searches come from web.FromEnv in tools/web.
package fromenv
