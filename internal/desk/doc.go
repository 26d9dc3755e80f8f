// Package desk tests a service with two replicas, as docs/deployment.md describes one: processes
// with one PostgreSQL, of which any gets any request. Its people read, stop, cancel and connect
// again through a random one. It has only tests:
//
//	go test ./internal/desk -v -chats 2000
package desk
