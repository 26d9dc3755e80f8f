// Package web has tools that read pages of the web and search it.
//
// [Fetch] makes the tool web.fetch, which reads a page of the hosts that the configuration lists,
// and [Search] the tool web.search, which asks several search services at once:
//
//	tavily, err := web.NewTavily(web.TavilyConfig{Key: key})
//	if err != nil {
//		return err
//	}
//	agent.New(agent.Config{Tools: []tools.Tool{
//		web.Fetch(web.FetchConfig{Hosts: []string{"example.com", "*.example.com"}}),
//		web.Search(web.AtLeast(0.6, tavily)),
//	}, …})
//
// [FromEnv] makes the sources that the environment names. [Fetcher] and [Find] are the functions
// behind the tools, for hosts.
//
// # What a fetch reaches
//
// Only GET requests are sent, over http and https, without cookies, credentials, Referer and
// proxies. The host and the port of a URL and of each redirect (at most 3) must be listed. Listing
// a host isn't enough to reach an address that isn't public: right before the connection, the
// dialer checks the address itself, whatever name, redirect, notation or answer of DNS led to it,
// and refuses addresses that IANA reserves for special purposes, such as private networks,
// loopback, link-local addresses and those of cloud metadata, before anything is sent. Only the
// addresses in FetchConfig.Private are excepted. With NAT64, IPv4 servers can't be reached over
// IPv6.
//
// A public address of the host's own network isn't recognized as such. If a service behind one
// trusts the network, a firewall must protect it.
//
// # What a fetch returns
//
// A fetch stops after 10 s, and reads 1 MiB at most, after decompression. It accepts types of text
// and JSON, XML and the like, and recognizes charsets. HTML becomes Markdown, without scripts, what
// HTML itself hides, and the fields of forms; its links become absolute. What style sheets hide, or
// show in white on white, is kept: a model may read what a person wouldn't see. Invisible
// characters are removed. Lists and quotes that are nested more than 8 deep and tables of more than
// 50,000 cells become plain blocks, and HTML with more than 512 open elements is an error, so that
// a small page can't become a huge text.
//
// Text from the web may try to instruct the model. The tools mark it as data with
// [tools.Untrusted], and errors contain nothing that a server wrote, but a model may still be
// misled: what its other tools may do is up to policies and approvals.
package web
