package pgtest

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Pooler starts a connection pooler in transaction mode in front of the server of a DSN, as
// PgBouncer is one, and returns the DSN by which it is reached. Each transaction of a client gets
// one of size connections to the server; notices (LISTEN) reach nobody.
func Pooler(tb testing.TB, dsn string, size int) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &pooler{dsn: dsn, idle: make(chan *pgconn.HijackedConn, size)}
	for range size {
		conn, err := p.connect()
		if err != nil {
			tb.Fatal(err)
		}
		p.idle <- conn
	}
	p.work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.clients = append(p.clients, client)
			p.mu.Unlock()
			p.work.Go(func() {
				defer client.Close()
				_ = p.serve(client) // the client sees that it is closed
			})
		}
	})
	tb.Cleanup(func() {
		listener.Close()
		p.mu.Lock()
		for _, client := range p.clients {
			client.Close()
		}
		p.mu.Unlock()
		p.work.Wait()
		close(p.idle)
		for conn := range p.idle {
			conn.Conn.Close()
		}
	})
	return fmt.Sprintf("%s host=127.0.0.1 sslmode=disable port=%s", dsn,
		strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
}

type pooler struct {
	dsn  string
	idle chan *pgconn.HijackedConn // connections to the server
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	clients []net.Conn
}

func (p *pooler) connect() (*pgconn.HijackedConn, error) {
	conn, err := pgconn.Connect(context.Background(), p.dsn)
	if err != nil {
		return nil, err
	}
	return conn.Hijack()
}

// serve serves a client.
func (p *pooler) serve(client net.Conn) error {
	if err := p.greet(client); err != nil {
		return err
	}
	for {
		message, err := receive(client)
		if err != nil || message[0] == 'X' {
			return err
		}
		server := <-p.idle
		if err := transaction(client, server.Conn, message); err != nil {
			server.Conn.Close() // it may be in a transaction
			if server, err = p.connect(); err != nil {
				return err
			}
			p.idle <- server
			return err
		}
		p.idle <- server
	}
}

// greet is what happens before the first message of a client.
func (p *pooler) greet(client net.Conn) error {
	back := pgproto3.NewBackend(client, client)
	for {
		first, err := back.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		switch first.(type) {
		case *pgproto3.StartupMessage:
			back.Send(&pgproto3.AuthenticationOk{})
			back.Send(&pgproto3.ParameterStatus{Name: "standard_conforming_strings", Value: "on"})
			back.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
			back.Send(&pgproto3.BackendKeyData{SecretKey: make([]byte, 4)})
			back.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return back.Flush()
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := client.Write([]byte{'N'}); err != nil {
				return err
			}
		default:
			return io.EOF
		}
	}
}

// transaction passes messages on until the server's transaction has ended.
func transaction(client, server net.Conn, message []byte) error {
	for {
		if _, err := server.Write(message); err != nil {
			return err
		}
		if message[0] == 'Q' || message[0] == 'S' {
			for ready := false; !ready; {
				answer, err := receive(server)
				if err != nil {
					return err
				}
				if answer[0] == 'A' { // a notice for whoever had the connection
					continue
				}
				if _, err := client.Write(answer); err != nil {
					return err
				}
				if ready = answer[0] == 'Z'; ready && answer[5] == 'I' {
					return nil
				}
			}
		}
		var err error
		if message, err = receive(client); err != nil {
			return err
		}
	}
}

// receive reads a message: its type, its length and its content.
func receive(from io.Reader) ([]byte, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[1:])
	message := append(head, make([]byte, size-4)...)
	_, err := io.ReadFull(from, message[5:])
	return message, err
}
