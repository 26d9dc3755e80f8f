package agent

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNoBytesAreHandedOutTwice(t *testing.T) {
	var d dice
	var mu sync.Mutex
	seen := make(map[[idBytes]byte]bool)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				var b [3 * idBytes]byte
				d.read(b[:(1+i%3)*idBytes])
				mu.Lock()
				for j := range 1 + i%3 {
					seen[[idBytes]byte(b[j*idBytes:])] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	ids := 0
	for i := range 500 {
		ids += 1 + i%3
	}
	require.Len(t, seen, 4*ids)
}

func TestEachDiceFallsItsOwnWay(t *testing.T) {
	var a, b dice
	var fromA, fromB [idBytes]byte
	a.read(fromA[:])
	b.read(fromB[:])
	require.NotEqual(t, fromA, fromB)
}
