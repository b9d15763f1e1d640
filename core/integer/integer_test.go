package integer

import (
	"math"
	"testing"
)

func TestInt(t *testing.T) {
	tests := []struct {
		a, b, sum string
		writable  bool
		cmp       int
	}{
		{"0", "0", "0", true, 0},
		{"1", "-1", "0", true, 1},
		{"9223372036854775807", "1", "9223372036854775808", true, 1},
		{"-9223372036854775808", "-1", "-9223372036854775809", false, -1},
		{"18446744073709551615", "0", "18446744073709551615", true, 1},
		{"18446744073709551615", "1", "18446744073709551616", false, 1},
		{"18446744073709551616", "-18446744073709551616", "0", true, 1},
		{"-9223372036854775808", "9223372036854775807", "-1", true, -1},
	}
	for _, tt := range tests {
		a, ok1 := Parse(tt.a)
		b, ok2 := Parse(tt.b)
		if !ok1 || !ok2 {
			t.Fatalf("%s, %s: not parsed", tt.a, tt.b)
		}
		sum := a.Add(b)
		if sum.String() != tt.sum || sum.Writable() != tt.writable {
			t.Errorf("%s + %s = %s (writable %t)", a, b, sum, sum.Writable())
		}
		if got := a.Cmp(b); got != tt.cmp {
			t.Errorf("%s against %s: %d", a, b, got)
		}
		if back := b.Add(a); back.Cmp(sum) != 0 {
			t.Errorf("%s + %s is not %s", b, a, sum)
		}
	}
	for _, bad := range []string{"", "+", "1.0", " 1", "1_0", "0x1"} {
		if n, ok := Parse(bad); ok {
			t.Errorf("%q parsed as %s", bad, n)
		}
	}
	if n := FromUint(true, 1<<63); n.String() != "-9223372036854775808" {
		t.Error(n)
	}
	if n := FromUint(false, math.MaxUint64); n.String() != "18446744073709551615" || n.Sign() != 1 {
		t.Error(n)
	}
}
