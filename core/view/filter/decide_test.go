package filter

import (
	"bytes"
	"slices"
	"testing"

	"github.com/rollscope/rollscope/core/integer"
)

func TestTests(t *testing.T) {
	tests := []struct {
		text  string
		tests []string
		paths []string
		mixed []bool
	}{
		{"masked reward=0", nil, nil, nil},
		{"row.a>1 masked", []string{"row.a>1"}, []string{"row.a"}, []bool{false}},
		{"not (row.a:x or row.b[0] ~ y) has(row.c)", []string{"row.a=x", "row.b[0]~y", "has(row.c)"}, []string{"row.a", "row.b[0]", "row.c"}, []bool{false, false, false}},
		{"row.a in (1,2) row.a=row.b row.a<reward", []string{"row.a in (1, 2)", "row.a=row.b"}, []string{"row.a", "row.b"}, []bool{true, false}},
		{"$.a=1 row.a=1", []string{"row.a=1"}, []string{"row.a"}, []bool{false}},
	}
	for _, tt := range tests {
		f, err := Parse(tt.text, fields)
		if err != nil {
			t.Fatal(tt.text, err)
		}
		var got, paths []string
		for _, test := range f.Tests() {
			got = append(got, test.String())
			if _, err := Parse(test.String(), fields); err != nil {
				t.Errorf("%s: test %s: %v", tt.text, test, err)
			}
		}
		refs, mixed := f.Paths()
		for _, r := range refs {
			paths = append(paths, r.Name)
		}
		if len(got) != len(tt.tests) || !slices.Equal(paths, tt.paths) || !slices.Equal(mixed, tt.mixed) {
			t.Errorf("%s: tests %q, paths %q %v", tt.text, got, paths, mixed)
		}
		for i, test := range f.Tests() {
			again, _ := Parse(tt.tests[i], fields)
			if again.String() != test.String() {
				t.Errorf("%s: test %s, want %s", tt.text, test, tt.tests[i])
			}
			if reads := slices.ContainsFunc(refs, test.Reads); !reads {
				t.Errorf("%s reads no path", test)
			}
		}
	}
}

// decided is a row of which nothing but fields and decided tests is known.
type decided struct {
	testRow
	t     *testing.T
	met   map[Test]bool
	whole []Ref
}

func (d decided) Answer(t Test) (met, known bool) { met, known = d.met[t]; return met, known }

func (d decided) Inside(ref *Ref) Value {
	if !slices.ContainsFunc(d.whole, func(r Ref) bool { return r.Name == ref.Name }) {
		d.t.Errorf("a path is looked up that only decided tests read")
	}
	return d.testRow.Inside(ref)
}

// stored is a row whose values have been away.
type stored struct{ testRow }

func (s stored) Inside(ref *Ref) Value {
	v, rest, err := ParseValue(s.testRow.Inside(ref).Append(nil))
	if err != nil || len(rest) > 0 {
		panic("a value is not read back")
	}
	return v
}

// TestDecided wants the same rows from a filter whether its tests are decided before, its values stored before, or
// neither.
func TestDecided(t *testing.T) {
	for _, text := range append(seeds, "row.a.b:x or not (row.x=1 row.y<2)", "row.x=turns and row.x:2", "not row.a.b[1] contains x", "row.y not in (1, 2)") {
		f, err := Parse(text, fields)
		if err != nil {
			continue
		}
		paths, mixed := f.Paths()
		var whole []Ref
		for i, p := range paths {
			if mixed[i] {
				whole = append(whole, p)
			}
		}
		for _, row := range tryRows {
			want := f.Match(row)
			known := decided{row, t, map[Test]bool{}, whole}
			for _, test := range f.Tests() {
				known.met[test] = test.Match(row)
			}
			if f.Match(known) != want {
				t.Errorf("%s: decided before it is %t", text, !want)
			}
			if f.Match(stored{row}) != want {
				t.Errorf("%s: with stored values it is %t", text, !want)
			}
		}
	}
}

func TestStored(t *testing.T) {
	huge, _ := integer.Parse("-123456789012345678901234567890")
	values := []Value{
		{}, Bool(true), Bool(false), Int(0), Int(-5), Whole(huge), Float(1.5), Float(-0.0), Text(""), Text("é\x00"), List(), {kind: object},
		List(Int(1), Text("x"), Value{}, Value{kind: object}),
	}
	var all []byte
	for _, v := range values {
		all = v.Append(all)
	}
	rest := all
	for _, v := range values {
		var got Value
		var err error
		if got, rest, err = ParseValue(rest); err != nil || got.String() != v.String() || got.kind != v.kind {
			t.Errorf("%s is read back as %s, %v", v, got, err)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes are left", len(rest))
	}
}

func FuzzStored(f *testing.F) {
	f.Add(List(Int(1), Text("x"), Float(2), Bool(true)).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, rest, err := ParseValue(b)
		if err != nil {
			return
		}
		again, none, err := ParseValue(v.Append(nil))
		if err != nil || len(none) > 0 || !bytes.Equal(again.Append(nil), v.Append(nil)) || len(rest) > len(b) {
			t.Errorf("%x is read as %s and that as %s, %v", b, v, again, err)
		}
	})
}
