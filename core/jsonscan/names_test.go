package jsonscan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var someNames = []string{"", "a", "id", "type", "1234567", "12345678", "123456789abcdef", "0123456789abcdef", "model_call_id", "model_calls",
	"parent_invocation_id", "acknowledged_safety_checks", strings.Repeat("long", 8), strings.Repeat("l", 31), strings.Repeat("l", 30), strings.Repeat("very long ", 20)}

// TestGather holds Gather against the walk over members, on objects made at random: in and out of order, with names that
// are not looked for, repeated ones, escapes, white space, and values of all kinds and sizes.
func TestGather(t *testing.T) {
	names := NewNames(someNames...)
	values := []string{`null`, `true`, `false`, `0`, `-1.5e3`, `12345678901`, `""`, `"x"`, `"12345678"`, `"a\"b"`, `"12345678\\"`, `"é"`, `[]`, `{}`, `[1,2]`,
		`{"a":{"id":"]}\""}}`, `"` + strings.Repeat("long text ", 20) + `"`, `"` + strings.Repeat(`\n`, 100) + `"`, `[` + strings.Repeat(`"x",`, 40) + `1]`, `{"k":"` + strings.Repeat("v", 90) + `"}`}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	space := func(dense bool) string {
		if dense {
			return ""
		}
		return pick([]string{"", "", " ", "\n\t ", "\r"})
	}
	var s Scanner
	for round := range 20_000 {
		dense, next := round%3 > 0, random.IntN(len(someNames))
		var b strings.Builder
		b.WriteString("{" + space(dense))
		for i := range random.IntN(12) {
			if i > 0 {
				b.WriteString(space(dense) + "," + space(dense))
			}
			key := someNames[next%len(someNames)]
			next++
			switch random.IntN(8) {
			case 0:
				key = pick(someNames)
			case 1:
				key = pick([]string{"x", "aa", "model_call_ix", "model_callsx", "typ", "ty\\\"pe", strings.Repeat("l", 29) + "m"})
			case 2:
				if key != "" {
					at := random.IntN(len(key))
					key = key[:at] + fmt.Sprintf(`\u%04x`, key[at]) + key[at+1:]
				}
			case 3:
				next = random.IntN(len(someNames))
			}
			b.WriteString(`"` + key + `"` + space(dense) + ":" + space(dense) + pick(values))
		}
		b.WriteString(space(dense) + "}")
		text := b.String()
		// An object may stand at the end of the text, or have much behind it.
		wrapped := pick([]string{"%s", `[%s,"` + strings.Repeat("behind", 10) + `"]`, `[%s]`})
		v, err := s.Scan(fmt.Appendf(nil, wrapped, text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if v.IsArray() {
			e := v.Elements()
			e.Next()
			v = e.Value
		}
		want, other := make([]Value, len(someNames)), Value{}
		m := v.Members()
	members:
		for m.Next() {
			for i, name := range someNames {
				if string(m.Key) == name {
					want[i] = m.Value
					continue members
				}
			}
			if !other.Exists() {
				other = m.Value
			}
		}
		got := make([]Value, len(someNames))
		if o := v.Gather(names, got); o != other {
			t.Fatalf("%s: other is %q, want %q", text, o.Raw(), other.Raw())
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: %s is %q (%x), want %q (%x)", text, someNames[i], got[i].Raw(), got[i].note, want[i].Raw(), want[i].note)
			}
			if inner, ok := got[i].Plain(); ok && string(inner) != got[i].Text() {
				t.Fatalf("%s: %s is not plain", text, someNames[i])
			}
		}
	}
}

func TestGatherOfNoObject(t *testing.T) {
	kept := Value{end: 1}
	for _, text := range []string{`[1]`, `"a"`, `1`, `null`} {
		var s Scanner
		v, err := s.Scan([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out := []Value{kept}
		if other := v.Gather(NewNames("a"), out); other.Exists() || out[0] != kept {
			t.Errorf("%s: something was found", text)
		}
	}
	if (Value{}).Gather(NewNames(), nil).Exists() {
		t.Error("absent: something was found")
	}
}

func TestNamesThatAreNotPlain(t *testing.T) {
	for _, name := range []string{`a"b`, `a\b`, "a\nb", "é"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q is taken", name)
				}
			}()
			NewNames(name)
		}()
	}
}

func TestSmall(t *testing.T) {
	for _, test := range []struct {
		text string
		ok   bool
		n    int64
	}{
		{"0", true, 0}, {"7", true, 7}, {"10", true, 10}, {"200", true, 200}, {"12345678", true, 12345678}, {"99999999", true, 99999999}, {"9876543", true, 9876543},
		{"123456789", false, 0}, {"-1", false, 0}, {"1.0", false, 0}, {"1e2", false, 0}, {`"1"`, false, 0}, {"null", false, 0}, {"true", false, 0}, {"[]", false, 0},
	} {
		var s Scanner
		v, err := s.Scan([]byte("[" + test.text + "      ,1]"))
		if err != nil {
			t.Fatal(err)
		}
		e := v.Elements()
		e.Next()
		if n, ok := e.Value.Small(); ok != test.ok || n != test.n {
			t.Errorf("%s: %d, %t", test.text, n, ok)
		}
		if e.Next(); !e.Value.Exists() {
			t.Fatal("no second element")
		}
		if _, ok := e.Value.Small(); ok {
			t.Error("a number at the end of the text is small")
		}
	}
	if _, ok := (Value{}).Small(); ok {
		t.Error("an absent value is small")
	}
}
