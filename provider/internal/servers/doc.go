// Package servers is the table of the servers with the API of OpenAI that this module knows by
// name: what people call them, where they are, which variables of the environment name their key,
// model and address, and how their Chat Completions differ from OpenAI's.
//
//	s := servers.Named("groq")            // as in openai.Config.Server and PAWL_MODEL
//	s = servers.At("api.groq.com")        // as in an address
//	fmt.Println(s.Title, s.URL, s.Model)  // Groq https://api.groq.com/openai/v1 GROQ_MODEL
//
// The packages provider, openai and fromenv read it, and a test compares docs/providers.md with it.
// Nothing changes it.
package servers
