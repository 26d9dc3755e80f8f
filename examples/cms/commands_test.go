package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/cms/internal/site"
)

const anyPort = "127.0.0.1:0"

func TestServeStartsThePageTheAPIAndThePreview(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cmd := b.process("never shown", "-open", "-addr", anyPort, "-api", anyPort, "-preview", anyPort)
	opened := filepath.Join(t.TempDir(), "opened")
	if runtime.GOOS == "linux" {
		require.NoError(t, exec.Command("mkfifo", opened).Run())
	}
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(opened), "xdg-open"),
		[]byte("#!/bin/sh\nprintf %s \"$1\" >"+opened), 0o755))
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(opened))
	h := b.start(cmd, "page")
	at := map[string]string{}
	for lines := bufio.NewScanner(io.MultiReader(strings.NewReader("page"), h.out)); len(at) < 3 && lines.Scan(); {
		name, address, _ := strings.Cut(lines.Text(), " ")
		at[name] = strings.TrimSpace(address)
	}
	get := func(address string) string {
		res, err := http.Get(address)
		require.NoError(t, err)
		defer res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode, address)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(text)
	}
	require.Contains(t, get(at["page"]), "<title>")
	require.Contains(t, get(at["preview"]), "Welcome to local-site")
	require.Contains(t, get(at["api"]+"v1/teams/t/sites/s/environments/e/pages"), `"slug":"home"`)
	http.DefaultClient.CloseIdleConnections()
	if runtime.GOOS == "linux" {
		address, err := os.ReadFile(opened)
		require.NoError(t, err)
		require.Equal(t, at["page"], string(address))
	}
	require.NoError(t, h.Process.Signal(syscall.SIGTERM))
	require.Equal(t, exitOK, h.ended(), h.err.String())
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	taken, err := net.Listen("tcp", anyPort)
	require.NoError(t, err)
	defer taken.Close()
	for _, flag := range []string{"-addr", "-api", "-preview"} {
		args := []string{"serve", "-addr", anyPort, "-api", anyPort, "-preview", anyPort}
		for i := range args {
			if args[i] == flag {
				args[i+1] = taken.Addr().String()
			}
		}
		require.Contains(t, b.must(exitFailed, args...).err, flag+": listen tcp "+taken.Addr().String())
	}
}

func TestSeedAndResetReplaceTheContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(exitOK, "-session", "s", "-p", about)
	var all map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.must(exitOK, "export").out), &all))
	require.Len(t, all["pages"], 2)
	require.Contains(t, b.must(exitOK, "seed").out, "Conversations were kept.")
	require.Equal(t, []string{"blog", "home", "services"}, b.pages())
	require.NotEmpty(t, b.must(exitOK, "history", "-session", "s").out)

	s, err := site.Open(b.db)
	require.NoError(t, err)
	require.Contains(t, b.must(exitFailed, "reset").err, "another process")
	require.NoError(t, s.Close())
	b.must(exitOK, "reset")
	_, err = os.Stat(b.db)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Contains(t, b.must(exitFailed, "reset").err, "nothing to reset")
}

func TestCommandsTakeOnlyTheirFlags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Contains(t, b.must(exitUsage, "serve", "-p", "list pages").err, "serve can't be combined")
	require.Contains(t, b.must(exitUsage, "seed", "now").err, `"now" isn't a flag`)
	require.Contains(t, b.must(exitUsage, "-addr", anyPort, "-p", "list pages").err, "are for serve and preview")
}
