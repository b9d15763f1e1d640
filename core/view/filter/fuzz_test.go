package filter

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rollscope/rollscope/core/jsonscan"
)

var seeds = []string{
	"", "check:model_call_failed agent:opencode reward=0", "reward>0.5 latency>600 and turns in (1,2)", "0 < reward <= 1", `not (masked or name~"x\u0000")`,
	"has($.a.b[0]) $['x']=1 row.a:true", "-1<reward and -2<turns", "agent!=name verdict not in (healthy)", "task:01 task:'1' task=1e300", "((((masked))))",
	"reward=123456789012345678901234567890 or größe=-0.0", "agent:a:b/c@d#e%f+g", "name !~ '\\ud83d\\ude00'", "not not not masked", "a&&b", "row.x = row.y != 5",
	"any(calls, status >= 500 and not has(item.x[0])) all(turns, tools=0 or count(item.answer, item)>1)", "count(tool_calls, name == 'bash') / (count(calls) + 1) > -turns * 2 - -1",
	`name matches "^(a|b)*\\d{2,3}$" or name not matches x`, "any(row.a, any(item, item in (1, x))) count(messages, role:user text~a)<=3", "turns-1>3 -(turns+1)<2 masked",
	"usage.total=1 or (masked and (turns=1 or turns=2)) or not (turns=1 turns=2)",
}

// rows to try every filter on: nothing, one of each kind, lists.
var tryRows = func() []testRow {
	var s jsonscan.Scanner
	v, err := s.Scan([]byte(`{"a":{"b":[1,"x",null]},"x":[1,2],"y":1.5}`))
	if err != nil {
		panic(err)
	}
	full := map[string]Value{}
	lists := map[string]Value{}
	for _, f := range fields {
		switch f.Kind {
		case BoolKind:
			full[f.Name] = Bool(true)
		case NumberKind:
			full[f.Name] = Int(1)
		case TextKind:
			full[f.Name] = Text("x")
		case AnyKind:
			full[f.Name] = Value{kind: object}
		}
		lists[f.Name] = List(full[f.Name], Value{}, Float(0.5), Text("a"), List(), Value{kind: object})
	}
	return []testRow{{}, {row: v, fields: full}, {row: v, fields: lists}}
}()

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := Parse(s, fields)
		if err != nil {
			checkError(t, s, err)
			return
		}
		checkRoundTrip(t, filter)
	})
}

func FuzzComplete(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, len(s))
	}
	f.Fuzz(func(t *testing.T, s string, cursor int) {
		c := Complete(s, cursor, fields)
		if c.From < 0 || c.From > c.To || c.To > len(s) {
			t.Fatalf("%q at %d: replaces %d to %d", s, cursor, c.From, c.To)
		}
		for _, it := range c.Items {
			// What is inserted makes nothing before it a mistake, except that values may not fit each other.
			var e *Error
			text := s[:c.From] + it.Insert
			fits := func(message string) bool {
				return strings.Contains(message, "needs a comparison") || strings.Contains(message, "is never") || strings.Contains(message, " is a") || strings.Contains(message, " is true or false") || strings.Contains(message, "no number") || strings.Contains(message, "only ")
			}
			if _, err := Parse(text, fields); errors.As(err, &e) && e.Offset < c.From && e.Length < len(text)-e.Offset && !fits(e.Message) {
				t.Fatalf("%q: offered %q: %v", s, it.Insert, err)
			}
		}
	})
}

func checkError(t *testing.T, s string, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e == errCut {
		t.Fatalf("%q: %v", s, err)
	}
	if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(s) || e.Message == "" || e.Column < 1 {
		t.Fatalf("%q: %+v", s, e)
	}
	if utf8.ValidString(s) && !utf8.ValidString(e.Fixed()) {
		t.Fatalf("%q: cut inside a character at %d+%d", s, e.Offset, e.Length)
	}
	e.Mark()
}

func checkRoundTrip(t *testing.T, f Filter) {
	t.Helper()
	s := f.String()
	again, err := Parse(s, fields)
	if err != nil {
		t.Fatalf("%q does not read back: %v", s, err)
	}
	if !again.Equal(f) || again.String() != s {
		t.Fatalf("%q reads back as %q", s, again)
	}
	chips := Filter{}
	for _, c := range f.Chips() {
		one, err := Parse(c.Text, fields)
		if err != nil {
			t.Fatalf("chip %q: %v", c.Text, err)
		}
		if label, err := Parse(c.Label, fields); err != nil || !label.Equal(one) {
			t.Fatalf("label %q is not %q: %v", c.Label, c.Text, err)
		}
		chips = chips.With(one)
	}
	if !chips.Equal(f) {
		t.Fatalf("%q is %q from its chips", s, chips)
	}
	for _, row := range tryRows {
		if f.Match(row) != again.Match(row) || f.Match(row) != chips.Match(row) {
			t.Fatalf("%q and %q disagree", s, again)
		}
	}
	f.Refs()
}

// TestWritten builds conditions and prints them: whatever can be built reads back.
func TestWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	texts := []string{"", "a", "and", "null", "1", "-1", "1e5", "a b", `"`, `\`, "'", "a:b", "日本", "\u202e", "\x00", "😀", "true", "reward", "x.y", "a(", "a,", "-", "row.a", "not in"}
	number := func() Value {
		return Number(pick("0", "-0.0", "1", "-7", "0.1", "1e22", "1e300", "-1e-300", "9007199254740993", "123456789012345678901234567890", "18446744073709551616.0")).plain()
	}
	ref := func(name string) *Ref {
		if strings.HasPrefix(name, "row") {
			r, err := ParsePath(name)
			if err != nil {
				t.Fatal(err)
			}
			return &r
		}
		return &Ref{Name: name}
	}
	path := func() string { return pick("row.a", "row[0]", `row["odd key"].b[12]`, `row["\""]`, "row.not") }
	var side func(depth int) operand
	side = func(depth int) operand {
		switch kind := rng.IntN(5); {
		case kind == 0:
			return operand{value: number()}
		case kind < 3 || depth == 0:
			return operand{ref: ref(pick("reward", "turns", "row.a"))}
		}
		s := &sum{op: "+-*/n"[rng.IntN(5)], left: side(depth - 1)}
		if s.op != negation {
			s.right = side(depth - 1)
		} else if s.left.ref == nil && s.left.sum == nil {
			return s.left // a number with its sign
		}
		return operand{sum: s}
	}
	var build func(depth int) node
	build = func(depth int) node {
		kind := rng.IntN(9)
		if depth == 0 {
			kind = rng.IntN(6)
		}
		switch kind {
		case 0:
			return &hasNode{ref(pick("reward", path()))}
		case 1:
			return &containsNode{ref(pick("name", "task", path())), pick(texts...), rng.IntN(2) == 0}
		case 2:
			n := &inNode{ref: ref(pick("task", path())), negated: rng.IntN(2) == 0}
			for range 1 + rng.IntN(3) {
				n.values = append(n.values, []Value{number(), Text(pick(texts...)), Bool(rng.IntN(2) == 0)}[rng.IntN(3)])
			}
			n.set = setOf(n.values)
			return n
		case 3:
			if depth > 0 {
				return &compareNode{operands: []operand{{ref: ref("turns")}, side(depth), side(depth)}, ops: []op{op(rng.IntN(6)), op(rng.IntN(6))}}
			}
			n := &compareNode{operands: []operand{{value: number()}, {ref: ref(pick("reward", "task", path()))}, {value: number()}}}
			n.ops = []op{op(rng.IntN(6)), op(rng.IntN(6))}
			cut := rng.IntN(3)
			if cut < 2 {
				n.operands, n.ops = n.operands[cut:cut+2], n.ops[:1]
			}
			return n
		case 4:
			return &compareNode{operands: []operand{{ref: ref(pick("name", "task", path()))}, {value: Text(pick(texts...))}}, ops: []op{op(rng.IntN(6))}}
		case 5:
			if rng.IntN(2) == 0 {
				text := pick("", "a", "^x$", `"`, `\d`, "日")
				return &matchNode{ref: ref(pick("name", "task", path())), text: text, negated: rng.IntN(2) == 0, re: regexp.MustCompile(text)}
			}
			return &compareNode{operands: []operand{{ref: ref(pick("masked", path()))}, {value: Bool(rng.IntN(2) == 0)}}, ops: []op{op(rng.IntN(2))}}
		case 6:
			return &notNode{build(depth - 1)}
		}
		var all, any []node
		for range 2 + rng.IntN(2) {
			n := build(depth - 1)
			if inner, ok := n.(*allNode); ok {
				all = append(all, inner.nodes...)
			} else {
				all = append(all, n)
			}
			if inner, ok := n.(*anyNode); ok {
				any = append(any, inner.nodes...)
			} else {
				any = append(any, n)
			}
		}
		if kind == 7 {
			return &allNode{all}
		}
		return &anyNode{any}
	}
	for range 20_000 {
		n := build(4)
		terms := []node{n}
		if all, ok := n.(*allNode); ok {
			terms = all.nodes
		}
		checkRoundTrip(t, of(terms))
	}
}

func TestManyValues(t *testing.T) {
	var b strings.Builder
	b.WriteString("turns in (0")
	for i := range 20_000 {
		fmt.Fprintf(&b, ",%d", i*2)
	}
	b.WriteString(")")
	f := parse(t, b.String())
	for n, want := range map[int64]bool{0: true, 1: false, 39_998: true, 40_000: false} {
		if f.Match(testRow{fields: map[string]Value{"turns": Int(n)}}) != want {
			t.Errorf("%d: %t", n, !want)
		}
	}
}
