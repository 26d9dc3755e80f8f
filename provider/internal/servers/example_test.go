package servers_test

import (
	"fmt"

	"github.com/pawlkit/pawl/provider/internal/servers"
)

func Example() {
	s := servers.Named("groq")
	fmt.Println(s.Title, s.URL, s.Key, s.Model)
	fmt.Println(servers.At("API.groq.com").Name, servers.At("mine.openai.azure.com").Name, servers.At("example.com"))
	// Output:
	// Groq https://api.groq.com/openai/v1 GROQ_API_KEY GROQ_MODEL
	// groq azure <nil>
}
