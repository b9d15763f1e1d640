package source

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"
)

func TestSampled(t *testing.T) {
	for _, size := range []int64{-1, 0, 1, 65536, 655359, 655360, 655361, 1 << 20, 5<<30 + 7, math.MaxInt64} {
		blocks := Sampled(size)
		switch {
		case size <= 0:
			if len(blocks) > 0 {
				t.Errorf("%d: %v", size, blocks)
			}
			continue
		case size <= 655360:
			if len(blocks) != 1 || blocks[0] != (Block{0, size}) {
				t.Errorf("%d: %v", size, blocks)
			}
			continue
		}
		if len(blocks) != 10 || blocks[0].Offset != 0 || blocks[9].Offset+blocks[9].Length != size {
			t.Fatalf("%d: %v", size, blocks)
		}
		gap := blocks[1].Offset
		for i, b := range blocks {
			if b.Length != 65536 {
				t.Errorf("%d: block %d has %d bytes", size, i, b.Length)
			}
			if i > 0 {
				if d := b.Offset - blocks[i-1].Offset; d < gap || d > gap+1 {
					t.Errorf("%d: block %d is %d behind the one before, the first gap is %d", size, i, d, gap)
				}
			}
		}
	}
}

func TestSampledHash(t *testing.T) {
	sum := sha256.Sum256([]byte("rollouts"))
	if got, want := SampledHash([]byte("rollouts")), hex.EncodeToString(sum[:16]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
